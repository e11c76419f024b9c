#include "nic_drivers/verbs/port.h"

#include <algorithm>

#include "nic_drivers/counting.h"

namespace weir {

VerbsPort::VerbsPort(Config config, const MonotonicClock& clock)
    : config_(std::move(config)),
      clock_(clock),
      sorter_(config_.self, -1),
      paths_(config_.pairs.paths()),
      polled_(clock_.Now()) {
  for (Path& path : paths_) path.ring.resize(config_.tx.count());
}

std::vector<uint32_t> VerbsPort::pairs() const {
  std::vector<uint32_t> out;
  for (uint32_t path = 0; path < config_.pairs.paths(); ++path) {
    out.push_back(config_.pairs.pair(path)->qp_num);
  }
  return out;
}

absl::Status VerbsPort::Begin(PeerExchange* exchange) {
  exchange_ = exchange;
  std::array<uint32_t, kBurst> buffers;
  for (uint32_t left = config_.rx.count(); left > 0;) {
    const uint32_t n = std::min<uint32_t>(left, kBurst);
    for (uint32_t i = 0; i < n; ++i) buffers[i] = config_.rx.Take();
    Post(std::span(buffers).first(n));
    left -= n;
  }
  if (config_.rx.free() == 0) return absl::OkStatus();
  return VerbsError(config_.pairs.pair(0)->context, "receive buffers are not taken");
}

// Gives buffers to the device; those that it does not take stay in the pool.
void VerbsPort::Post(std::span<const uint32_t> buffers) {
  std::array<ibv_recv_wr, kBurst> requests;
  std::array<ibv_sge, kBurst> parts;
  for (size_t i = 0; i < buffers.size(); ++i) {
    parts[i] = {.addr = reinterpret_cast<uint64_t>(config_.rx.at(buffers[i])),
                .length = kGrhBytes + kEthernetBytes + config_.caps.mtu,
                .lkey = config_.rx_memory->lkey};
    requests[i] = {.wr_id = buffers[i],
                   .next = i + 1 < buffers.size() ? &requests[i + 1] : nullptr,
                   .sg_list = &parts[i],
                   .num_sge = 1};
  }
  ibv_recv_wr* refused = nullptr;
  if (buffers.empty()) return;
  if (ibv_post_srq_recv(config_.pairs.buffers(), requests.data(), &refused) == 0) return;
  for (; refused != nullptr; refused = refused->next) {
    config_.rx.Give(static_cast<uint32_t>(refused->wr_id));
  }
}

// --- in ---

size_t VerbsPort::RxBurst(std::span<Frame> out) {
  if (Gone()) return 0;
  Reap();
  std::array<ibv_wc, kBurst> done;
  const int want = static_cast<int>(std::min(out.size(), kBurst));
  const int got = std::max(0, ibv_poll_cq(config_.pairs.received(), want, done.data()));
  const Time now = clock_.Now();
  gap_ = now - polled_;
  polled_ = now;
  std::array<uint32_t, kBurst> back;
  size_t filled = 0, returned = 0;
  for (int i = 0; i < got; ++i) {
    if (Take(done[static_cast<size_t>(i)], out[filled])) {
      ++filled;
    } else {
      back[returned++] = static_cast<uint32_t>(done[static_cast<size_t>(i)].wr_id);
    }
  }
  Post(std::span(back).first(returned));
  return filled;
}

bool VerbsPort::Take(const ibv_wc& completion, Frame& out) {
  if (completion.status != IBV_WC_SUCCESS || completion.byte_len < kGrhBytes) {
    Add(counters_.rx_errors, 1);
    return false;
  }
  const auto buffer = static_cast<uint32_t>(completion.wr_id);
  std::byte* frame = config_.rx.at(buffer) + kGrhBytes;
  const uint32_t size = completion.byte_len - kGrhBytes;
  const Sorted sorted = sorter_.Sort({frame, size}, -1);
  if (sorted.kind != Arrival::kWeir) {
    Add(counters_.rx_foreign, 1);
    return false;
  }
  Add(counters_.rx_packets, 1);
  Add(counters_.rx_bytes, size);
  out = {.data = frame,
         .size = std::min(size, sorted.length),
         .rx_time = polled_,
         .rx_gap = gap_,
         .owner = config_.rx.at(buffer)};
  return true;
}

void VerbsPort::Release(std::span<const Frame> frames) {
  std::array<uint32_t, kBurst> buffers;
  for (size_t i = 0; i < frames.size(); ++i) {
    buffers[i] = config_.rx.IndexOf(static_cast<const std::byte*>(frames[i].owner));
  }
  Post(std::span(buffers).first(frames.size()));
}

}  // namespace weir
