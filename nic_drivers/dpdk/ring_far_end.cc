#include "nic_drivers/dpdk/ring_far_end.h"

#include <rte_errno.h>

#include <algorithm>

#include "absl/strings/str_format.h"
#include "nic_drivers/dpdk/buffers.h"
#include "nic_drivers/dpdk/pools.h"

namespace weir {
namespace {

constexpr uint32_t kCopies = 1024;
constexpr uint32_t kTagBytes = 4;
constexpr size_t kChunk = 64;  // frames moved at a time

// What the frame says of its sizes becomes true of its buffers; they only shrink.
void Cut(rte_mbuf& mbuf, const Frame& frame) {
  if (mbuf.next != nullptr && frame.payload_size == 0) {
    FreeBuffer(mbuf.next);
    mbuf.next = nullptr;
    mbuf.nb_segs = 1;
  }
  if (mbuf.next != nullptr) mbuf.next->data_len = static_cast<uint16_t>(frame.payload_size);
  mbuf.data_len = static_cast<uint16_t>(frame.size);
  mbuf.pkt_len = frame.size + frame.payload_size;
}

Frame FrameOf(rte_mbuf& mbuf, Time now) {
  Frame frame = {.data = rte_pktmbuf_mtod(&mbuf, std::byte*),
                 .size = mbuf.data_len,
                 .rx_time = now,
                 .owner = &mbuf};
  if (mbuf.next != nullptr) {
    frame.payload = rte_pktmbuf_mtod(mbuf.next, const std::byte*);
    frame.payload_size = mbuf.next->data_len;
  }
  return frame;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Rings>> Rings::Make(uint32_t queues, uint32_t size) {
  static uint32_t number = 0;
  auto rings = std::make_shared<Rings>();
  for (uint32_t q = 0; q < queues; ++q) {
    const std::string name = absl::StrFormat("weir_wire_%u", number++);
    rte_ring* ring = rte_ring_create(name.c_str(), size, SOCKET_ID_ANY,
                                     RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
    if (ring == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("no ring of %u frames: %s", size, rte_strerror(rte_errno)));
    }
    rings->rings_.push_back(ring);
  }
  return rings;
}

Rings::~Rings() {
  for (rte_ring* ring : rings_) {
    void* mbuf = nullptr;
    while (rte_ring_dequeue(ring, &mbuf) == 0) FreeBuffer(static_cast<rte_mbuf*>(mbuf));
    rte_ring_free(ring);
  }
}

FarEnd::~FarEnd() { RetirePool(copies_); }

size_t FarEnd::Receive(std::span<Frame> out) {
  const std::vector<rte_ring*>& rings = config_.from_host->all();
  const Time now = clock_.Now();
  size_t filled = 0;
  for (size_t i = 0; i < rings.size() && filled < out.size(); ++i) {
    rte_ring* ring = rings[next_queue_];
    next_queue_ = next_queue_ + 1 < rings.size() ? next_queue_ + 1 : 0;
    rte_mbuf* mbufs[kChunk];
    while (filled < out.size()) {
      const auto want = static_cast<unsigned>(std::min(kChunk, out.size() - filled));
      const unsigned got =
          rte_ring_dequeue_burst(ring, reinterpret_cast<void**>(mbufs), want, nullptr);
      TakeOver(mbufs, got);
      for (unsigned k = 0; k < got; ++k) {
        out[filled++] = FrameOf(*mbufs[k], now);
      }
      if (got < want) break;
    }
  }
  return filled;
}

uint32_t FarEnd::QueueOf(const Frame& frame) const {
  const auto queues = static_cast<uint32_t>(config_.to_host->all().size());
  if (queues == 1) return 0;
  const Sorted sorted = sorter_.Sort({frame.data, frame.size}, -1);
  return sorted.kind == Arrival::kWeir ? sorted.worker % queues : 0;
}

size_t FarEnd::Send(std::span<const Frame> frames) {
  size_t sent = 0;
  while (sent < frames.size()) {
    // A run for one queue at a time.
    const uint32_t queue = QueueOf(frames[sent]);
    size_t end = sent + 1;
    while (end < frames.size() && QueueOf(frames[end]) == queue) ++end;
    const size_t taken = SendTo(queue, frames.subspan(sent, end - sent));
    sent += taken;
    if (sent < end) break;
  }
  return sent;
}

size_t FarEnd::SendTo(uint32_t queue, std::span<const Frame> frames) {
  rte_ring* ring = config_.to_host->all()[queue];
  size_t sent = 0;
  while (sent < frames.size()) {
    rte_mbuf* mbufs[kChunk];
    const size_t n = std::min(kChunk, frames.size() - sent);
    for (size_t i = 0; i < n; ++i) {
      mbufs[i] = static_cast<rte_mbuf*>(frames[sent + i].owner);
      Cut(*mbufs[i], frames[sent + i]);
    }
    HandOver(mbufs, static_cast<uint32_t>(n));
    const unsigned taken = rte_ring_enqueue_burst(ring, reinterpret_cast<void**>(mbufs),
                                                  static_cast<unsigned>(n), nullptr);
    sent += taken;
    if (taken < n) break;
  }
  return sent;
}

void FarEnd::Drop(std::span<const Frame> frames) {
  for (const Frame& frame : frames) FreeBuffer(static_cast<rte_mbuf*>(frame.owner));
}

bool FarEnd::Copy(const Frame& frame, Frame& out) {
  if (copies_ == nullptr) {
    const auto room =
        static_cast<uint16_t>(RTE_PKTMBUF_HEADROOM + kEthernetBytes + kTagBytes + config_.mtu);
    absl::StatusOr<rte_mempool*> pool = MakePool(kCopies, room, SOCKET_ID_ANY);
    if (!pool.ok()) return false;
    copies_ = *pool;
  }
  rte_mbuf* mbuf = AllocBuffer(copies_);
  if (mbuf == nullptr) return false;
  const uint32_t size = frame.size + frame.payload_size;
  if (rte_pktmbuf_tailroom(mbuf) < size) {
    FreeBuffer(mbuf);
    return false;
  }
  auto* to = reinterpret_cast<std::byte*>(rte_pktmbuf_append(mbuf, static_cast<uint16_t>(size)));
  to = std::copy_n(frame.data, frame.size, to);
  std::copy_n(frame.payload, frame.payload_size, to);
  out = FrameOf(*mbuf, frame.rx_time);
  return true;
}

}  // namespace weir
