// DpdkPort: frames out.
#include <rte_ethdev.h>

#include <algorithm>
#include <cstring>

#include "nic_drivers/dpdk/buffers.h"
#include "nic_drivers/counting.h"
#include "nic_drivers/dpdk/port.h"

namespace weir {
namespace {

constexpr uint32_t kTagBytes = 4;
constexpr uint32_t kMacBytes = 12;
constexpr size_t kFrameMin = 60;  // without FCS

}  // namespace

DpdkPort::DpdkPort(const Config& config, const TscClock& clock)
    : config_(config), clock_(clock), sorter_(config.self, config.vlan), polled_(clock_.Now()) {}

DpdkPort::~DpdkPort() {
  for (uint32_t i = 0; i < pending_count_; ++i) FreeBuffer(pending_[i]);
}

size_t DpdkPort::TxFrames(std::span<Frame> out) {
  if (pending_count_ > 0) Flush();
  rte_mbuf* mbufs[kBurst];
  size_t want = std::min({out.size(), kBurst, size_t{kPending} - pending_count_ - lent_});
  // The pool gives all or nothing.
  while (want > 0 && !AllocBuffers(config_.tx_pool, mbufs, static_cast<uint32_t>(want))) {
    want /= 2;
  }
  lent_ += static_cast<uint32_t>(want);
  for (size_t i = 0; i < want; ++i) {
    out[i] = {.data = rte_pktmbuf_mtod(mbufs[i], std::byte*), .owner = mbufs[i]};
  }
  return want;
}

void DpdkPort::TxBurst(std::span<const Frame> frames) {
  lent_ = 0;
  TakeAttached(frames);
  for (const Frame& frame : frames) {
    auto* mbuf = static_cast<rte_mbuf*>(frame.owner);
    mbuf->data_len = static_cast<uint16_t>(frame.size);
    mbuf->pkt_len = frame.size;
    const bool sent = frame.size > 0;
    if (!sent || !AddPayload(*mbuf, frame) || !AddTag(*mbuf)) {
      if (sent) Add(counters_.tx_dropped, 1);
      FreeBuffer(mbuf);
      continue;
    }
    pending_[pending_count_++] = mbuf;
  }
  if (attached_count_ > 0) FreeBuffers(attached_.data(), attached_count_);
  if (pending_count_ > 0) Flush();
}

// Buffers for all payloads of a burst at once, or none: then they are copied.
void DpdkPort::TakeAttached(std::span<const Frame> frames) {
  attached_count_ = 0;
  if (!config_.multi_segment) return;
  for (const Frame& frame : frames) attached_count_ += frame.payload_size > 0 ? 1 : 0;
  if (attached_count_ == 0) return;
  if (!AllocBuffers(config_.attached, attached_.data(), attached_count_)) attached_count_ = 0;
}

bool DpdkPort::AddPayload(rte_mbuf& mbuf, const Frame& frame) {
  if (frame.payload_size == 0) return true;
  if (attached_count_ == 0) return CopyPayload(mbuf, frame);
  rte_mbuf* apart = attached_[attached_count_ - 1];
  if (!config_.regions->Attach(config_.queue, frame.payload, frame.payload_size, *apart)) {
    return CopyPayload(mbuf, frame);
  }
  --attached_count_;
  mbuf.next = apart;
  mbuf.nb_segs = 2;
  mbuf.pkt_len += frame.payload_size;
  return true;
}

bool DpdkPort::CopyPayload(rte_mbuf& mbuf, const Frame& frame) {
  if (rte_pktmbuf_tailroom(&mbuf) < frame.payload_size) return false;
  char* to = rte_pktmbuf_append(&mbuf, static_cast<uint16_t>(frame.payload_size));
  if (frame.payload == nullptr) {
    std::memset(to, 0, frame.payload_size);
    return true;
  }
  std::memcpy(to, frame.payload, frame.payload_size);
  Add(counters_.tx_copied, 1);
  return true;
}

bool DpdkPort::AddTag(rte_mbuf& mbuf) {
  if (config_.vlan < 0) return true;
  const auto tag = static_cast<uint16_t>(config_.vlan);
  if (config_.vlan_insert) {
    mbuf.vlan_tci = tag;
    mbuf.ol_flags |= RTE_MBUF_F_TX_VLAN;
    // Some drivers write the tag here: virtio.
    rte_mbuf* frame = &mbuf;
    return rte_eth_tx_prepare(config_.ethdev, config_.queue, &frame, 1) == 1;
  }
  char* to = rte_pktmbuf_prepend(&mbuf, kTagBytes);
  if (to == nullptr) return false;
  std::memmove(to, to + kTagBytes, kMacBytes);
  const uint8_t bytes[kTagBytes] = {0x81, 0x00, static_cast<uint8_t>(tag >> 8),
                                    static_cast<uint8_t>(tag)};
  std::memcpy(to + kMacBytes, bytes, kTagBytes);
  return true;
}

// Devices whose driver cannot be asked for what they have sent give it back as they send more.
// These frames are for nobody: to our own address, of a type for experiments (IEEE 802, 0x88B5).
void DpdkPort::PushOut() {
  std::array<std::byte, kFrameMin> frame{};
  std::memcpy(frame.data(), config_.self.mac.data(), config_.self.mac.size());
  std::memcpy(frame.data() + config_.self.mac.size(), config_.self.mac.data(),
              config_.self.mac.size());
  frame[kMacBytes] = std::byte{0x88};
  frame[kMacBytes + 1] = std::byte{0xB5};
  for (size_t i = 0; i < kBurst; ++i) SendSmall(frame);
}

// What the device does not take waits for the next call.
void DpdkPort::Flush() {
  if (Gone()) {
    for (uint32_t i = 0; i < pending_count_; ++i) FreeBuffer(pending_[i]);
    Add(counters_.tx_dropped, pending_count_);
    pending_count_ = 0;
    return;
  }
  uint64_t bytes = 0;
  uint64_t sizes[kPending];
  for (uint32_t i = 0; i < pending_count_; ++i) sizes[i] = pending_[i]->pkt_len;
  HandOver(pending_.data(), pending_count_);
  const uint16_t taken = rte_eth_tx_burst(config_.ethdev, config_.queue, pending_.data(),
                                          static_cast<uint16_t>(pending_count_));
  if (taken == 0) return;
  for (uint16_t i = 0; i < taken; ++i) bytes += sizes[i];
  Add(counters_.tx_packets, taken);
  Add(counters_.tx_bytes, bytes);
  pending_count_ -= taken;
  std::copy_n(pending_.begin() + taken, pending_count_, pending_.begin());
}

}  // namespace weir
