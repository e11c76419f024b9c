#include "nic_drivers/verbs/reliable_port.h"

#include <algorithm>
#include <array>

namespace weir {
namespace {

constexpr size_t kAtATime = 32;
constexpr uint64_t kReceive = ~uint64_t{0};  // the number of every receive

// The number of a write: use of the link, link, path.
constexpr uint64_t NumberOf(uint32_t use, LinkId link, PathId path) {
  return uint64_t{use} << 32 | uint64_t{link} << 8 | path;
}

}  // namespace

Cause LinkCause(int status) {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return Cause::kStoppedAnswering;
    case IBV_WC_REM_ACCESS_ERR:
      return Cause::kBadAddress;
    default:
      return Cause::kQueuePair;
  }
}

ReliablePort::ReliablePort(const Config& config, const MonotonicClock& clock)
    : config_(config),
      clock_(clock),
      links_(config.caps.links_max),
      polled_(clock_.Now()),
      emptied_(polled_) {
  events_.reserve(2 * kAtATime + 4 * links_.size());
}

absl::Status ReliablePort::Begin() {
  PostReceives(config_.receives);
  if (receives_short_ == 0) return absl::OkStatus();
  return VerbsError(config_.completions->context, "receives are not taken");
}

// Without memory: what a chunk writes is placed by its address.
void ReliablePort::PostReceives(uint32_t count) {
  receives_short_ += count;
  std::array<ibv_recv_wr, kAtATime> requests;
  while (receives_short_ > 0) {
    const uint32_t n = std::min<uint32_t>(receives_short_, kAtATime);
    for (uint32_t i = 0; i < n; ++i) {
      requests[i] = {.wr_id = kReceive,
                     .next = i + 1 < n ? &requests[i + 1] : nullptr,
                     .sg_list = nullptr,
                     .num_sge = 0};
    }
    ibv_recv_wr* refused = nullptr;
    const bool all = ibv_post_srq_recv(config_.arrivals, requests.data(), &refused) == 0;
    uint32_t left = 0;
    for (; !all && refused != nullptr; refused = refused->next) ++left;
    receives_short_ -= n - left;
    if (!all) return;
  }
}

// --- Links ---

absl::StatusOr<LinkId> ReliablePort::Open(const LinkRequest& request) {
  const absl::StatusOr<LinkId> number = config_.links->Open(request);
  if (number.ok()) {
    links_[*number] = {.state = Link::State::kOpening, .use = config_.links->UseOf(*number)};
  }
  return number;
}

void ReliablePort::Close(LinkId number) {
  Link& link = links_[number];
  bool stop = link.state != Link::State::kOpen || link.failed;
  for (const Path& path : link.paths) stop = stop || path.sent > path.done;
  config_.links->Close(number, stop);
  for (Path& path : link.paths) {
    routes_.erase(path.pair->qp_num);
    for (; path.done < path.sent; ++path.done) {
      const Sent& sent = path.ring[path.done % path.ring.size()];
      if (sent.region != RegisteredMemory::kNone) config_.memory->Give(0, sent.region);
    }
  }
  link = {};
}

void ReliablePort::Learn(const ReliableLinks::News& news) {
  Link& link = links_[news.link];
  link = {.state = Link::State::kMade, .use = news.use, .regions = news.regions};
  for (ibv_qp* pair : news.pairs) {
    routes_[pair->qp_num] = {.link = news.link, .path = static_cast<PathId>(link.paths.size())};
    link.paths.push_back({.pair = pair, .ring = std::vector<Sent>(config_.sends)});
  }
}

void ReliablePort::HandleNews() {
  using Kind = ReliableLinks::News::Kind;
  for (const ReliableLinks::News& news : config_.links->TakeNews()) {
    Link& link = links_[news.link];
    const bool known = link.state != Link::State::kFree && link.use == news.use;
    const auto paths = static_cast<uint32_t>(news.pairs.size());
    switch (news.kind) {
      case Kind::kMade:
        Learn(news);
        break;
      case Kind::kOpened:
        if (!known || link.state != Link::State::kOpening) break;
        Learn(news);
        link.state = Link::State::kOpen;
        events_.push_back(
            {.kind = ChunkEvent::Kind::kOpened, .link = news.link, .paths = paths, .at = polled_});
        break;
      case Kind::kConfirmed:
        if (!known || link.state != Link::State::kMade) break;
        link.state = Link::State::kOpen;
        events_.push_back({.kind = ChunkEvent::Kind::kAccepted,
                           .link = news.link,
                           .paths = static_cast<uint32_t>(link.paths.size()),
                           .at = polled_});
        break;
      case Kind::kExpired:
        if (known && link.state == Link::State::kMade) Close(news.link);
        break;
      case Kind::kRefused:
        if (!known) break;
        if (link.state == Link::State::kMade) {
          Close(news.link);
        } else {
          const bool open = link.state == Link::State::kOpen;
          Fail(news.link, open ? Cause::kAbortedByPeer : Cause::kNotListening);
        }
        break;
    }
  }
}

void ReliablePort::Fail(LinkId number, Cause cause) {
  Link& link = links_[number];
  if (link.failed) return;
  link.failed = true;
  events_.push_back(
      {.kind = ChunkEvent::Kind::kFailed, .cause = cause, .link = number, .at = polled_});
}

// --- Chunks ---

bool ReliablePort::Reads(const std::byte* data, uint64_t size) const {
  uint32_t key = 0;
  const uint32_t region = config_.memory->Take(0, data, static_cast<uint32_t>(size), key);
  if (region == RegisteredMemory::kNone) return false;
  config_.memory->Give(0, region);
  return true;
}

uint64_t ReliablePort::RegionSize(LinkId link, uint32_t region) const {
  const auto& regions = links_[link].regions;
  return region < regions.size() ? regions[region].size : 0;
}

bool ReliablePort::FillParts(const Chunk& chunk, std::span<ibv_sge> parts, int& used, Sent& sent) {
  if (chunk.size == 0) return true;
  if (chunk.data != nullptr) {
    uint32_t key = 0;
    sent.region = config_.memory->Take(0, chunk.data, chunk.size, key);
    if (sent.region == RegisteredMemory::kNone) return false;
    parts[0] = {.addr = reinterpret_cast<uint64_t>(chunk.data), .length = chunk.size, .lkey = key};
    used = 1;
    return true;
  }
  for (uint32_t left = chunk.size; left > 0; ++used) {
    const auto length = static_cast<uint32_t>(std::min<uint64_t>(left, config_.zeros->length));
    parts[static_cast<size_t>(used)] = {.addr = reinterpret_cast<uint64_t>(config_.zeros->addr),
                                        .length = length,
                                        .lkey = config_.zeros->lkey};
    left -= length;
  }
  return true;
}

bool ReliablePort::Post(LinkId number, PathId path_number, const Chunk& chunk) {
  Link& link = links_[number];
  Path& path = link.paths[path_number];
  // A link that failed takes no more; its failure is on its way to whoever asks.
  if (link.failed || path.sent - path.done == path.ring.size()) return false;
  Sent sent{.cookie = chunk.cookie};
  std::array<ibv_sge, kZeroParts> parts;
  int used = 0;
  if (!FillParts(chunk, parts, used, sent)) return false;
  ibv_send_wr request{};
  request.wr_id = NumberOf(link.use, number, path_number);
  request.sg_list = parts.data();
  request.num_sge = used;
  request.opcode = chunk.tell ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  request.imm_data = __builtin_bswap32(chunk.word);  // in network order
  request.send_flags = IBV_SEND_SIGNALED;
  if (chunk.size > 0 && chunk.size <= config_.links->inline_bytes()) {
    request.send_flags |= IBV_SEND_INLINE;
  }
  if (chunk.region < link.regions.size()) {
    request.wr.rdma.remote_addr = link.regions[chunk.region].base + chunk.address;
    request.wr.rdma.rkey = link.regions[chunk.region].key;
  }
  ibv_send_wr* refused = nullptr;
  if (ibv_post_send(path.pair, &request, &refused) != 0) {
    if (sent.region != RegisteredMemory::kNone) config_.memory->Give(0, sent.region);
    return false;
  }
  path.ring[path.sent++ % path.ring.size()] = sent;
  ++chunks_;
  return true;
}

// --- What happened ---

size_t ReliablePort::Poll(std::span<ChunkEvent> out) {
  size_t filled = 0;
  for (bool more = true;; more = Collect()) {
    const size_t n = std::min(out.size() - filled, events_.size() - next_event_);
    std::copy_n(events_.begin() + static_cast<std::ptrdiff_t>(next_event_), n,
                out.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += n;
    next_event_ += n;
    if (filled == out.size() || !more) return filled;
    events_.clear();
    next_event_ = 0;
  }
}

// True: the device may have more.
bool ReliablePort::Collect() {
  polled_ = clock_.Now();
  gap_ = polled_ - emptied_;
  if (config_.gone->load(std::memory_order_relaxed)) {
    for (LinkId i = 0; i < links_.size(); ++i) {
      if (links_[i].state == Link::State::kOpen) Fail(i, Cause::kQueuePair);
    }
    return false;
  }
  if (config_.links->has_news()) HandleNews();
  std::array<ibv_wc, kAtATime> done;
  const int got = ibv_poll_cq(config_.completions, static_cast<int>(done.size()), done.data());
  uint32_t receives = 0;
  for (int i = 0; i < got; ++i) {
    const ibv_wc& completion = done[static_cast<size_t>(i)];
    if (completion.wr_id == kReceive) ++receives;
    Take(completion);
  }
  if (receives > 0 || receives_short_ > 0) PostReceives(receives);
  const bool more = got == static_cast<int>(done.size());
  if (!more) emptied_ = polled_;
  return more;
}

void ReliablePort::Take(const ibv_wc& completion) {
  if (completion.wr_id == kReceive) return TakeArrival(completion);
  const auto number = static_cast<LinkId>(completion.wr_id >> 8 & 0xFFFF);
  const auto path_number = static_cast<PathId>(completion.wr_id & 0xFF);
  if (number >= links_.size()) return;
  Link& link = links_[number];
  if (link.use != completion.wr_id >> 32 || path_number >= link.paths.size()) return;  // closed
  if (completion.status != IBV_WC_SUCCESS) {
    if (completion.status != IBV_WC_WR_FLUSH_ERR) failure_ = completion.status;
    return Fail(number, LinkCause(completion.status));
  }
  Path& path = link.paths[path_number];
  if (path.done == path.sent) return;
  const Sent sent = path.ring[path.done++ % path.ring.size()];
  if (sent.region != RegisteredMemory::kNone) config_.memory->Give(0, sent.region);
  events_.push_back({.kind = ChunkEvent::Kind::kDone,
                     .path = path_number,
                     .link = number,
                     .cookie = sent.cookie,
                     .at = polled_,
                     .gap = gap_});
}

void ReliablePort::TakeArrival(const ibv_wc& completion) {
  // A receive ends with an error when its queue pair does: that is heard of elsewhere.
  if (completion.status != IBV_WC_SUCCESS) return;
  auto route = routes_.find(completion.qp_num);
  // Its link may have been made since the news were read.
  if (route == routes_.end() && config_.links->has_news()) {
    HandleNews();
    route = routes_.find(completion.qp_num);
  }
  if (route == routes_.end()) return;  // closed
  const LinkId number = route->second.link;
  Link& link = links_[number];
  if (link.state == Link::State::kMade) {
    link.state = Link::State::kOpen;
    config_.links->Confirm(number);
    events_.push_back({.kind = ChunkEvent::Kind::kAccepted,
                       .link = number,
                       .paths = static_cast<uint32_t>(link.paths.size()),
                       .at = polled_});
  }
  events_.push_back({.kind = ChunkEvent::Kind::kArrived,
                     .path = route->second.path,
                     .link = number,
                     .word = __builtin_bswap32(completion.imm_data),
                     .size = completion.byte_len,
                     .at = polled_,
                     .gap = gap_});
}

}  // namespace weir
