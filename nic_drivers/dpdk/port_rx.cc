// DpdkPort: frames in.
#include <rte_ethdev.h>
#include <rte_mbuf_dyn.h>

#include <algorithm>

#include "nic_drivers/dpdk/buffers.h"
#include "nic_drivers/counting.h"
#include "nic_drivers/dpdk/eth_clock.h"
#include "nic_drivers/dpdk/port.h"

namespace weir {
namespace {

int StrippedTag(const rte_mbuf& mbuf) {
  return (mbuf.ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0 ? mbuf.vlan_tci : -1;
}

bool BadChecksum(const rte_mbuf& mbuf) {
  return (mbuf.ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD;
}

std::span<const std::byte> Head(rte_mbuf& mbuf) {
  return {rte_pktmbuf_mtod(&mbuf, const std::byte*), mbuf.data_len};
}

}  // namespace

size_t DpdkPort::RxBurst(std::span<Frame> out) {
  if (Gone()) return 0;
  if (give_back_.load(std::memory_order_relaxed)) {
    give_back_.store(false, std::memory_order_relaxed);
    if (config_.pushes_out || rte_eth_tx_done_cleanup(config_.ethdev, config_.queue, 0) < 0) {
      PushOut();
    }
  }
  if (mail_.questions.read_available() > 0) Ask();
  if (pending_count_ > 0) Flush();
  rte_mbuf* mbufs[kBurst];
  const auto want = static_cast<uint16_t>(std::min(out.size(), kBurst));
  size_t filled = 0;
  uint16_t passed = 0;
  if (!config_.steering.empty()) {
    rte_ring* ring = config_.steering[config_.queue];
    passed = static_cast<uint16_t>(
        rte_ring_dequeue_burst(ring, reinterpret_cast<void**>(mbufs), want, nullptr));
  }
  const uint16_t got =
      static_cast<uint16_t>(passed + rte_eth_rx_burst(config_.ethdev, config_.queue, mbufs + passed,
                                                      static_cast<uint16_t>(want - passed)));
  TakeOver(mbufs, got);
  const Time now = clock_.Now();
  gap_ = now - polled_;
  polled_ = now;
  if (config_.stamp_offset >= 0 && now >= device_clock_.next_reading()) ReadDeviceClock();
  if (got == 0) return 0;
  for (uint16_t i = 0; i < got; ++i) {
    if (i + 1 < got) rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + 1], void*));
    if (Receive(mbufs[i], out[filled])) ++filled;
  }
  if (pending_count_ > 0) Flush();  // answers to neighbours
  return filled;
}

bool DpdkPort::Receive(rte_mbuf* mbuf, Frame& out) {
  const Sorted sorted = sorter_.Sort(Head(*mbuf), StrippedTag(*mbuf));
  if (sorted.kind != Arrival::kWeir) {
    const bool known =
        sorted.kind == Arrival::kNeighbour && HandleNeighbour(Head(*mbuf), sorted.ip_at);
    if (!known) Add(counters_.rx_foreign, 1);
    FreeBuffer(mbuf);
    return false;
  }
  if (BadChecksum(*mbuf)) {
    Add(counters_.rx_errors, 1);
    FreeBuffer(mbuf);
    return false;
  }
  if (!config_.steering.empty()) {
    const auto queue = static_cast<uint32_t>(sorted.worker % config_.steering.size());
    if (queue != config_.queue) {
      PassOn(mbuf, queue);
      return false;
    }
  }
  Add(counters_.rx_packets, 1);
  Add(counters_.rx_bytes, mbuf->pkt_len);
  if (mbuf->pkt_len > sorted.length) Trim(*mbuf, sorted.length);
  return Lend(mbuf, sorted.header, out);
}

bool DpdkPort::Lend(rte_mbuf* mbuf, uint32_t header, Frame& out) {
  const bool apart = mbuf->nb_segs == 2 && mbuf->data_len == header;
  if (mbuf->nb_segs > 1 && !apart) {
    mbuf = Linear(mbuf);
    if (mbuf == nullptr) return false;
  }
  out = {.data = rte_pktmbuf_mtod(mbuf, std::byte*),
         .size = mbuf->data_len,
         .rx_time = polled_,
         .rx_gap = gap_,
         .owner = mbuf};
  if (config_.stamp_offset >= 0) Stamp(*mbuf, out);
  if (apart) {
    out.payload = rte_pktmbuf_mtod(mbuf->next, const std::byte*);
    out.payload_size = mbuf->next->data_len;
  }
  return true;
}

void DpdkPort::ReadDeviceClock() {
  uint64_t ticks = 0;
  const Time before = clock_.Now();
  if (ReadEthClock(config_.ethdev, ticks)) device_clock_.Read(before, ticks, clock_.Now());
}

void DpdkPort::Stamp(const rte_mbuf& mbuf, Frame& out) const {
  if ((mbuf.ol_flags & config_.stamp_flag) == 0 || !device_clock_.ready()) return;
  const auto ticks = *RTE_MBUF_DYNFIELD(&mbuf, config_.stamp_offset, const rte_mbuf_timestamp_t*);
  // It cannot have come long before the poll before this one.
  const Time arrived = device_clock_.Arrival(ticks, polled_ - gap_, polled_);
  if (arrived == Time::Never()) return;
  out.rx_time = arrived;
  out.rx_gap = Duration(0);
}

// Ethernet pads short frames; `length` is below pkt_len.
void DpdkPort::Trim(rte_mbuf& mbuf, uint32_t length) {
  if (mbuf.nb_segs == 1) {
    mbuf.data_len = static_cast<uint16_t>(length);
    mbuf.pkt_len = length;
    return;
  }
  // Whole segments first: what is left to cut is then in the last one.
  uint32_t kept = 0;
  rte_mbuf* last = &mbuf;
  uint16_t segments = 1;
  while (kept + last->data_len < length) {
    kept += last->data_len;
    last = last->next;
    ++segments;
  }
  FreeBuffer(last->next);
  last->next = nullptr;
  last->data_len = static_cast<uint16_t>(length - kept);
  mbuf.nb_segs = segments;
  mbuf.pkt_len = length;
}

void DpdkPort::PassOn(rte_mbuf* mbuf, uint32_t queue) {
  HandOver(&mbuf, 1);
  if (rte_ring_enqueue(config_.steering[queue], mbuf) == 0) {
    Add(counters_.rx_steered, 1);
    return;
  }
  Add(counters_.rx_missed, 1);
  FreeBuffer(mbuf);
}

// One buffer with the whole frame, or nullptr; `mbuf` is gone in either case.
rte_mbuf* DpdkPort::Linear(rte_mbuf* mbuf) {
  rte_mbuf* whole = AllocBuffer(config_.rx_pool);
  if (whole != nullptr && rte_pktmbuf_tailroom(whole) >= mbuf->pkt_len) {
    char* to = rte_pktmbuf_append(whole, static_cast<uint16_t>(mbuf->pkt_len));
    for (const rte_mbuf* m = mbuf; m != nullptr; m = m->next) {
      to = std::copy_n(rte_pktmbuf_mtod(m, const char*), m->data_len, to);
    }
  } else {
    Add(counters_.rx_errors, 1);
    FreeBuffer(whole);
    whole = nullptr;
  }
  FreeBuffer(mbuf);
  return whole;
}

void DpdkPort::Release(std::span<const Frame> frames) {
  rte_mbuf* mbufs[kBurst];
  for (size_t i = 0; i < frames.size(); ++i) mbufs[i] = static_cast<rte_mbuf*>(frames[i].owner);
  FreeBuffers(mbufs, static_cast<uint32_t>(frames.size()));
}

}  // namespace weir
