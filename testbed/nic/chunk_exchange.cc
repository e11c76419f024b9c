#include "testbed/nic/chunk_exchange.h"

#include <algorithm>
#include <thread>

#include "absl/strings/str_format.h"
#include "testbed/nic/huge_memory.h"
#include "testbed/nic/pattern.h"

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;

// A completion that was polled so much later gives no RTT. Long: comparing bytes takes its time,
// too.
constexpr Duration kLateMax = Millis(50);
constexpr uint32_t kLossBytes = 1 << 20;
// Patience of five seconds, and time to open.
constexpr auto kLossMax = std::chrono::seconds(10);

class Host {
 public:
  Host(ChunkDevice& device, const ChunkExchangeOptions& options, bool asks)
      : device_(device), options_(options), asks_(asks) {
    const uint32_t chunk = options.chunk_bytes;
    sizes_ = {0, 1, 100, chunk - 1, chunk, chunk + 1, 3 * chunk + 7, options.large};
    for (const uint32_t size : sizes_) bytes_ += size;
    out_ = HugeMemory(bytes_);
    in_ = HugeMemory(bytes_ * options.bindings.size());
    size_t at = 0;
    for (uint32_t i = 0; i < sizes_.size(); ++i) {
      for (uint32_t k = 0; k < sizes_[i]; ++k) out_.data()[at++] = PatternByte(i, asks_, k);
    }
    auto endpoint = ChunkEndpoint::Create(device.port(), {.seed = asks ? 1u : 1001u,
                                                          .binding = &options.bindings.front(),
                                                          .connections_max = 8,
                                                          .chunk_bytes = chunk,
                                                          .line_rate = options.line_rate,
                                                          .base_rtt = options.base_rtt,
                                                          .late_max = kLateMax,
                                                          .open_timeout = Seconds(10),
                                                          .patience = Seconds(10)});
    absl::Status status = endpoint.status();
    if (status.ok()) endpoint_ = *std::move(endpoint);
    status.Update(device.RegisterMemory(out_.data(), bytes_));
    status.Update(device.RegisterRegion(in_.data(), in_.size()).status());
    if (!status.ok()) Fail(std::string(status.message()));
  }

  void Connect(const NetAddress& peer, const Binding& binding) {
    const auto id = endpoint_->Connect(device_.port().Now(), peer, binding);
    if (!id.ok()) Fail(std::string(id.status().message()));
  }
  // False: nothing happened.
  bool Turn() {
    bool busy = endpoint_->Turn(device_.port().Now()) > 0;
    Completion c;
    while (endpoint_->PollCompletion(c)) {
      Handle(c);
      busy = true;
    }
    return busy;
  }

  size_t opened() const { return lanes_.size(); }
  size_t closed() const { return closed_; }
  const std::string& problem() const { return problem_; }
  uint64_t bytes() const { return bytes_ * options_.bindings.size(); }
  const ChunkCounters& counters() const { return endpoint_->counters(); }
  Duration rtt_min() const { return rtt_min_; }
  std::vector<uint32_t> paths() const {
    std::vector<uint32_t> paths;
    for (const Lane& lane : lanes_) paths.push_back(lane.paths);
    return paths;
  }
  std::string Progress() const {
    size_t sent = 0, received = 0;
    for (const Lane& lane : lanes_) {
      sent += lane.sent;
      received += lane.received;
    }
    std::string out = absl::StrFormat("%d connections, %d messages sent, %d received, %d chunks",
                                      lanes_.size(), sent, received, counters().chunks_sent);
    for (const std::string& feature : device_.features()) {
      if (feature.rfind("latest", 0) == 0) out += "; " + feature;
    }
    return out;
  }

 private:
  struct Lane {
    WireId id{};
    uint32_t paths = 0;
    size_t sent = 0, received = 0;
    bool closing = false;
  };

  void Fail(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }
  Lane* Find(WireId id) {
    const auto found =
        std::find_if(lanes_.begin(), lanes_.end(), [id](const Lane& l) { return l.id == id; });
    return found == lanes_.end() ? nullptr : &*found;
  }
  void Handle(const Completion& c) {
    if (c.event == Event::kOpened || c.event == Event::kAccepted) return Begin(c);
    Lane* lane = Find(c.connection);
    if (c.event == Event::kFailed || lane == nullptr) {
      return Fail(absl::StrFormat("a connection failed: %s", Name(c.cause)));
    }
    if (c.event == Event::kClosed) {
      ++closed_;
      if (lane->received < sizes_.size()) Fail("a connection was closed too early");
      return;
    }
    if (c.event == Event::kSent) ++lane->sent;
    if (c.event == Event::kReceived) {
      Check(*lane, c);
      ++lane->received;
    }
    if (!asks_ || lane->closing || lane->received < sizes_.size() || lane->sent < sizes_.size()) {
      return;
    }
    if (lane == &lanes_.front()) {
      const RttEstimator& rtt = endpoint_->Find(lane->id)->rtt();
      rtt_min_ = rtt.measured() ? rtt.min() : Duration(0);
    }
    lane->closing = true;
    (void)endpoint_->Close(c.at, lane->id);
  }
  // All messages at once, behind each other in the peer's region.
  void Begin(const Completion& c) {
    uint64_t at = bytes_ * lanes_.size();
    lanes_.push_back({.id = c.connection, .paths = endpoint_->Find(c.connection)->paths()});
    const std::byte* data = out_.data();
    for (uint32_t i = 0; i < sizes_.size(); ++i) {
      const absl::Status status = endpoint_->PostWrite(c.at, c.connection,
                                                       {.data = data,
                                                        .length = sizes_[i],
                                                        .region = 0,
                                                        .address = at,
                                                        .notify = true,
                                                        .cookie = i});
      if (!status.ok()) return Fail(std::string(status.message()));
      at += sizes_[i];
      data += sizes_[i];
    }
  }
  void Check(const Lane& lane, const Completion& c) {
    const auto i = static_cast<uint32_t>(c.cookie);
    if (i >= sizes_.size() || c.bytes != sizes_[i]) {
      return Fail(absl::StrFormat("message %d has %d bytes, which were not sent", i, c.bytes));
    }
    uint64_t at = bytes_ * static_cast<uint64_t>(&lane - lanes_.data());
    for (uint32_t k = 0; k < i; ++k) at += sizes_[k];
    for (uint32_t k = 0; k < sizes_[i]; ++k) {
      if (in_.data()[at + k] == PatternByte(i, !asks_, k)) continue;
      return Fail(absl::StrFormat(
          "byte %d of message %d, of %d bytes, is not the one that was sent", k, i, sizes_[i]));
    }
  }

  ChunkDevice& device_;
  const ChunkExchangeOptions& options_;
  const bool asks_;
  std::vector<uint32_t> sizes_;
  uint64_t bytes_ = 0;  // of all messages of a connection
  HugeMemory out_, in_;
  std::unique_ptr<ChunkEndpoint> endpoint_;
  std::vector<Lane> lanes_;
  size_t closed_ = 0;
  Duration rtt_min_{};
  std::string problem_;
};

}  // namespace

ChunkExchangeResult RunChunkExchange(ChunkDevice& a, ChunkDevice& b,
                                     const ChunkExchangeOptions& options) {
  ChunkExchangeResult result;
  Host asks(a, options, true), answers(b, options, false);
  const Clock::time_point begin = Clock::now();
  const size_t all = options.bindings.size();
  size_t connected = 0;
  while (result.problem.empty()) {
    if (!asks.problem().empty()) result.problem = "A: " + asks.problem();
    if (!answers.problem().empty()) result.problem = "B: " + answers.problem();
    if (!result.problem.empty() || (asks.closed() == all && answers.closed() == all)) break;
    if (Clock::now() - begin > options.time_max) {
      result.problem = "not done in time; A: " + asks.Progress() + "; B: " + answers.Progress();
      break;
    }
    // One after the other, so that both sides number the connections alike.
    if (connected < all && asks.opened() == connected && answers.opened() == connected) {
      asks.Connect(b.address(), options.bindings[connected++]);
    }
    const bool busy = asks.Turn();
    if (!answers.Turn() && !busy) std::this_thread::yield();
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (!result.problem.empty() && asks.opened() == 0) return result;
  result.bytes = asks.bytes() + answers.bytes();
  result.chunks = asks.counters().chunks_sent + answers.counters().chunks_sent;
  result.late = asks.counters().rtt_rejected + answers.counters().rtt_rejected;
  result.paths = asks.paths();
  result.rtt_min = asks.rtt_min();
  return result;
}

ChunkLossResult LoseChunkLink(ChunkDevice& a, ChunkDevice& b, const Binding& binding,
                              const std::function<absl::Status()>& lose) {
  ChunkLossResult result;
  HugeMemory memory(kLossBytes);
  const ChunkEndpointConfig config{
      .binding = &binding, .connections_max = 1, .base_rtt = Millis(2), .patience = Seconds(5)};
  absl::Status status = a.RegisterMemory(memory.data(), memory.size());
  status.Update(b.RegisterRegion(memory.data(), memory.size()).status());
  auto writer = ChunkEndpoint::Create(a.port(), config);
  auto other = ChunkEndpoint::Create(b.port(), config);
  status.Update(writer.status());
  status.Update(other.status());
  if (status.ok()) status = (*writer)->Connect(a.port().Now(), b.address(), binding).status();
  if (!status.ok()) {
    result.problem = std::string(status.message());
    return result;
  }
  Clock::time_point lost{};
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < kLossMax) {
    (*writer)->Turn(a.port().Now());
    (*other)->Turn(b.port().Now());
    Completion c;
    while ((*other)->PollCompletion(c)) {
    }
    while ((*writer)->PollCompletion(c)) {
      if (c.event == Event::kFailed) {
        result.cause = c.cause;
        result.seconds = std::chrono::duration<double>(Clock::now() - lost).count();
        return result;
      }
      if (c.event != Event::kOpened) continue;
      status = lose();
      status.Update(
          (*writer)->PostWrite(c.at, c.connection, {.data = memory.data(), .length = kLossBytes}));
      if (!status.ok()) {
        result.problem = std::string(status.message());
        return result;
      }
      lost = Clock::now();
    }
    std::this_thread::yield();
  }
  result.problem = lost == Clock::time_point{} ? "no connection was opened"
                                               : "the connection did not end without its link";
  return result;
}

}  // namespace weir
