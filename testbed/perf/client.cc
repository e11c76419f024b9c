#include "testbed/perf/client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSilenceMax = std::chrono::seconds(30);
constexpr size_t kParts = 20;  // of a run, for the peak

double Seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

// One run: opens, greets, measures, closes.
class Client {
 public:
  Client(Context& context, const PerfPlan& plan, const std::function<void()>& turn)
      : context_(context), plan_(plan), turn_(turn), memory_(std::max(plan.length, 1u)) {}
  ~Client() {
    if (!registered_) return;
    while (absl::IsUnavailable(context_.UnregisterMemory(memory_.data())))
      std::this_thread::yield();
  }

  absl::StatusOr<PerfResult> Run(const std::string& remote) {
    absl::Status status = context_.RegisterMemory(memory_.data(), memory_.size());
    registered_ = status.ok();
    if (status.ok()) status = OpenAll(remote);
    if (status.ok()) status = plan_.kind == PerfKind::kEcho ? MeasureEcho() : MeasureStream();
    if (status.ok()) status = Finish();
    if (!status.ok()) return status;
    return std::move(result_);
  }

 private:
  struct Lane {
    WireId id{};
    PerfReady ready{};
  };

  // --- Waiting ---

  // The next completion; an error when the connection has ended or nothing comes.
  absl::Status Next(Completion& out) {
    const Clock::time_point start = Clock::now();
    while (true) {
      if (at_ == polled_) {
        polled_ = context_.Poll(batch_);
        at_ = 0;
      }
      if (at_ < polled_) {
        out = batch_[at_++];
        return Check(out);
      }
      if (turn_) turn_();
      if (context_.options().idle_sleep) std::this_thread::yield();  // cores are shared
      if (++idle_ % 1024 == 0 && Clock::now() - start > kSilenceMax) {
        return absl::DeadlineExceededError("nothing came back for 30 s");
      }
    }
  }
  absl::Status Check(const Completion& c) const {
    if (c.event == Event::kFailed || (c.event == Event::kClosed && !closing_)) {
      return absl::AbortedError(absl::StrFormat("the connection ended: %s", Name(c.cause)));
    }
    if (c.event == Event::kRejected) {
      return absl::InternalError(absl::StrFormat("a message was rejected: %s", Name(c.cause)));
    }
    return absl::OkStatus();
  }
  absl::Status Await(Event event, Completion& out) {
    while (true) {
      if (absl::Status s = Next(out); !s.ok()) return s;
      if (out.event == event) return absl::OkStatus();
    }
  }

  // --- Set-up ---

  absl::Status OpenAll(const std::string& remote) {
    for (uint32_t i = 0; i < plan_.connections; ++i) {
      const absl::StatusOr<WireId> id = context_.Connect(remote);
      if (!id.ok()) return id.status();
      lanes_.push_back({.id = *id});
      Completion c;
      if (absl::Status s = Await(Event::kOpened, c); !s.ok()) return s;
      if (absl::Status s = Greet(lanes_.back()); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  absl::Status Greet(Lane& lane) {
    const PerfHello hello{.kind = plan_.kind, .depth = plan_.depth, .length = plan_.length};
    absl::Status s = context_.PostReceive(
        lane.id,
        {.data = reinterpret_cast<std::byte*>(&lane.ready), .capacity = sizeof(PerfReady)});
    s.Update(context_.PostSend(lane.id, {.data = reinterpret_cast<const std::byte*>(&hello),
                                         .length = sizeof(PerfHello)}));
    // The answer may overtake the acknowledgement of the question.
    for (int i = 0; i < 2 && s.ok(); ++i) {
      Completion c;
      s = Next(c);
    }
    if (!s.ok()) return s;
    if (lane.ready.magic != kPerfMagic) {
      return absl::FailedPreconditionError("the peer is no `weir serve` of this version");
    }
    if (lane.ready.capacity < plan_.length) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "messages of %d B are longer than the server takes (%d B); start it with --size-max",
          plan_.length, lane.ready.capacity));
    }
    return absl::OkStatus();
  }

  // --- Bandwidth and rate ---

  absl::Status Post(const Lane& lane, uint64_t cookie) {
    ++posted_;
    if (plan_.kind == PerfKind::kWrite) {
      return context_.PostWrite(lane.id, {.data = memory_.data(),
                                          .length = plan_.length,
                                          .region = lane.ready.region,
                                          .cookie = cookie});
    }
    return context_.PostSend(lane.id,
                             {.data = memory_.data(), .length = plan_.length, .cookie = cookie});
  }

  // Messages from here on until `enough` says so and all have come back; `done` with each.
  template <class Enough, class Done>
  absl::Status Stream(Enough enough, Done done) {
    const uint64_t most = uint64_t{plan_.depth} * lanes_.size();
    uint64_t under_way = 0;
    for (; under_way < most && !enough(); ++under_way) {
      const size_t lane = under_way % lanes_.size();
      if (absl::Status s = Post(lanes_[lane], lane); !s.ok()) return s;
    }
    while (under_way > 0) {
      Completion c;
      if (absl::Status s = Await(Event::kSent, c); !s.ok()) return s;
      --under_way;
      done();
      if (enough()) continue;
      if (absl::Status s = Post(lanes_[c.cookie], c.cookie); !s.ok()) return s;
      ++under_way;
    }
    return absl::OkStatus();
  }

  absl::Status MeasureStream() {
    absl::Status s = Stream([&] { return posted_ >= plan_.warm_up; }, [] {});
    if (!s.ok()) return s;
    posted_ = 0;
    const Counters before = context_.counters();
    const Clock::time_point start = Clock::now();
    std::vector<std::pair<uint64_t, double>> marks{{0, 0.0}};  // messages and seconds
    uint64_t done = 0;
    double now = 0;
    const auto enough = [&] {
      return plan_.seconds > 0 ? now >= plan_.seconds : posted_ >= plan_.iterations;
    };
    s = Stream(enough, [&] {
      ++done;
      if (at_ < polled_) return;  // the clock is read once a batch
      now = Seconds(Clock::now() - start);
      marks.emplace_back(done, now);
    });
    if (!s.ok()) return s;
    result_.elapsed = Seconds(Clock::now() - start);
    result_.messages = done;
    result_.counters = context_.counters() - before;
    const double bits = 8.0 * plan_.length;
    result_.rate = static_cast<double>(done) / result_.elapsed;
    result_.bandwidth = result_.rate * bits;
    result_.bandwidth_peak = std::max(result_.bandwidth, PeakRate(marks) * bits);
    return absl::OkStatus();
  }

  // The best rate between marks that are at least a part of the run apart; there are two or more.
  double PeakRate(const std::vector<std::pair<uint64_t, double>>& marks) const {
    const double part = result_.elapsed / kParts;
    double best = 0;
    size_t from = 0;
    for (const auto& [messages, at] : marks) {
      while (part > 0 && at - marks[from + 1].second >= part) ++from;
      const double apart = at - marks[from].second;
      if (apart < part) continue;
      best = std::max(best, static_cast<double>(messages - marks[from].first) / apart);
    }
    return best;
  }

  // --- Latency ---

  absl::Status Ping(Lane& lane) {
    absl::Status s = context_.PostReceive(
        lane.id, {.data = memory_.data(), .capacity = static_cast<uint32_t>(memory_.size())});
    s.Update(context_.PostSend(lane.id, {.data = memory_.data(), .length = plan_.length}));
    bool sent = false;
    bool received = false;
    while (s.ok() && !(sent && received)) {
      Completion c;
      s = Next(c);
      if (c.event == Event::kReceived) received_at_ = Clock::now();
      sent |= c.event == Event::kSent;
      received |= c.event == Event::kReceived;
    }
    return s;
  }

  absl::Status MeasureEcho() {
    Lane& lane = lanes_[0];
    for (uint64_t i = 0; i < plan_.warm_up; ++i) {
      if (absl::Status s = Ping(lane); !s.ok()) return s;
    }
    const Counters before = context_.counters();
    const Clock::time_point start = Clock::now();
    std::vector<double> halves;  // microseconds
    while (plan_.seconds > 0 ? Seconds(Clock::now() - start) < plan_.seconds
                             : halves.size() < plan_.iterations) {
      const Clock::time_point ping = Clock::now();
      if (absl::Status s = Ping(lane); !s.ok()) return s;
      halves.push_back(Seconds(received_at_ - ping) * 1e6 / 2);
    }
    result_.elapsed = Seconds(Clock::now() - start);
    result_.messages = halves.size();
    result_.counters = context_.counters() - before;
    result_.rate = static_cast<double>(halves.size()) / result_.elapsed;
    Summarize(halves);
    return absl::OkStatus();
  }

  void Summarize(std::vector<double>& halves) {
    if (halves.empty()) return;
    std::sort(halves.begin(), halves.end());
    const auto n = static_cast<double>(halves.size());
    const auto at = [&](double share) {
      return halves[std::min(halves.size() - 1, static_cast<size_t>(share * n))];
    };
    double sum = 0;
    double squares = 0;
    for (const double t : halves) sum += t;
    for (const double t : halves) squares += (t - sum / n) * (t - sum / n);
    result_.t_min = halves.front();
    result_.t_max = halves.back();
    result_.t_typical = at(0.5);
    result_.t_avg = sum / n;
    result_.t_stdev = std::sqrt(squares / n);
    result_.t_99 = at(0.99);
    result_.t_999 = at(0.999);
  }

  // --- The end ---

  absl::Status Finish() {
    result_.plan = plan_;
    result_.device = context_.device().counters();
    result_.polls = context_.poll_stats(0);
    closing_ = true;
    for (const Lane& lane : lanes_) {
      absl::StatusOr<ConnectionInfo> info = context_.Describe(lane.id);
      if (info.ok()) result_.connections.push_back(*std::move(info));
      if (absl::Status s = context_.Close(lane.id); !s.ok()) return s;
      Completion c;
      if (absl::Status s = Await(Event::kClosed, c); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  Context& context_;
  const PerfPlan plan_;
  const std::function<void()>& turn_;
  std::vector<std::byte> memory_;
  bool registered_ = false;
  std::vector<Lane> lanes_;
  uint64_t posted_ = 0;
  uint64_t idle_ = 0;
  bool closing_ = false;
  std::array<Completion, 64> batch_{};
  size_t at_ = 0;
  size_t polled_ = 0;
  Clock::time_point received_at_{};
  PerfResult result_;
};

}  // namespace

absl::StatusOr<PerfResult> RunPerf(Context& context, const std::string& remote,
                                   const PerfPlan& plan, const std::function<void()>& turn) {
  const uint64_t under_way = uint64_t{plan.connections} * plan.depth;
  if (under_way == 0 || under_way > context.options().messages_max) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "perf: %d messages on each of %d connections; together at least 1 and at most %d",
        plan.depth, plan.connections, context.options().messages_max));
  }
  return Client(context, plan, turn).Run(remote);
}

}  // namespace weir
