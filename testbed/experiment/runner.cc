#include "testbed/experiment/runner.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "absl/strings/str_format.h"
#include "testbed/experiment/books.h"
#include "testbed/experiment/breakdown.h"
#include "testbed/experiment/home.h"
#include "testbed/experiment/homes.h"
#include "testbed/experiment/measure.h"
#include "testbed/experiment/measure_operations.h"
#include "testbed/experiment/run_plan.h"
#include "testbed/experiment/transfer_watch.h"
#include "testbed/traffic/runs.h"

namespace weir {
namespace {

constexpr uint64_t kProgressEvery = 1 << 16;  // events
constexpr Duration kOpenLimit = Millis(100);
// Everything a peer may write to: content does not matter here.
constexpr uint64_t kRegionSize = uint64_t{1} << 47;

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// One run, from an empty home to its result.
class Run {
 public:
  Run(const Experiment& experiment, const Arm& arm, uint64_t seed)
      : plan_(experiment, arm, seed),
        traffic_(plan_.traffic()),
        book_(traffic_),
        ids_(traffic_.connections.size()),
        sent_messages_(traffic_.connections.size()),
        fired_at_(traffic_.triggers.size(), Duration::Max()) {
    result_.arm = arm.name;
    result_.rules = plan_.RuleUses();
    result_.seed = seed;
    result_.base_rtt = plan_.base_rtt();
    result_.bdp = plan_.bdp();
  }

  RunResult Execute(const std::function<void(const Progress&)>& progress) {
    const double cpu = CpuSeconds();
    const absl::Status ready = SetUp();
    if (!ready.ok()) {
      result_.warnings.emplace_back(ready.message());
      return std::move(result_);
    }
    if (OpenAll()) {
      Begin();
      RunTraffic(progress);
    }
    Collect();
    result_.cpu_seconds = CpuSeconds() - cpu;
    return std::move(result_);
  }

 private:
  // A transfer that starts, or a delay that ends; those of one time in the order they were added.
  struct Due {
    Duration at{};
    uint64_t order = 0;
    uint32_t index = 0;
    bool is_delay = false;
    bool operator>(const Due& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  // --- Set-up ---

  absl::Status SetUp() {
    absl::StatusOr<std::unique_ptr<Home>> home = MakeHome(plan_);
    if (!home.ok()) return home.status();
    home_ = *std::move(home);
    home_->on_completion = [this](uint32_t host, const Completion& c) { OnCompletion(host, c); };
    home_->on_timer = [this] { DoDue(); };
    for (uint32_t host = 0; host < traffic_.hosts; ++host) {
      if (!plan_.HostTalks(host)) continue;
      const absl::Status added =
          home_->AddHost(host, plan_.EndpointFor(host), {.size = kRegionSize});
      if (!added.ok()) return added;
    }
    return home_->Start();
  }

  // Opens all connections before traffic starts, as collective libraries do.
  bool OpenAll() {
    const Time limit = home_->now() + kOpenLimit;
    for (uint32_t i = 0; i < traffic_.connections.size(); ++i) {
      const TrafficConnection& c = traffic_.connections[i];
      const absl::StatusOr<WireId> id = home_->Connect(c.from, c.to, plan_.BindingFor(i));
      if (!id.ok()) {
        result_.warnings.emplace_back(id.status().message());
        return false;
      }
      ids_[i] = *id;
      by_id_[{c.from, id->value}] = i;
    }
    while (opened_ < ids_.size() && failed_ == 0 && home_->Step(limit)) {
    }
    if (opened_ < ids_.size()) {
      result_.warnings.push_back(
          absl::StrFormat("only %d of %d connections opened", opened_, ids_.size()));
      return false;
    }
    home_->RunUntil(home_->now() + 2 * result_.base_rtt);
    return true;
  }

  // --- Traffic ---

  void Begin() {
    for (const Transfer& t : traffic_.transfers) {
      const TrafficConnection& c = traffic_.connections[t.connection];
      result_.transfers.push_back({.from = c.from,
                                   .to = c.to,
                                   .label = t.label,
                                   .size = t.size,
                                   .start = Duration::Max(),
                                   .sent = Duration::Max(),
                                   .received = Duration::Max(),
                                   .ideal = plan_.IdealTransfer(t)});
    }
    home_->StartWatching();
    if (plan_.experiment().breakdown) WatchTransfers();
    begin_ = home_->now();
    home_->StartFaults(plan_.experiment().faults, plan_.experiment().time_limit);
    for (const uint32_t i : book_.Transfers(kNoTrigger)) {
      AddDue({.at = traffic_.transfers[i].start, .index = i});
    }
    for (const uint32_t i : book_.Delays(kNoTrigger)) {
      AddDue({.at = traffic_.delays[i].length, .index = i, .is_delay = true});
    }
    DoDue();
  }

  void WatchTransfers() {
    causes_.resize(traffic_.triggers.size());
    watch_.emplace(traffic_.transfers.size(), plan_.experiment().fabric.topology,
                   [this](uint32_t host, WireId to, uint32_t message) {
                     const auto connection = by_id_.find({host, to.value});
                     if (connection == by_id_.end()) return TransferWatch::kNone;
                     const std::vector<uint32_t>& sent = sent_messages_[connection->second];
                     return message < sent.size() ? sent[message] : TransferWatch::kNone;
                   });
    home_->SetTap(&*watch_);
  }

  void RunTraffic(const std::function<void(const Progress&)>& progress) {
    const Time limit = begin_ + plan_.experiment().time_limit;
    uint64_t until_report = kProgressEvery;
    while (!Done() && failed_ == 0 && home_->Step(limit)) {
      if (--until_report > 0) continue;
      until_report = kProgressEvery;
      if (progress) {
        progress({finished_, traffic_.transfers.size(), home_->now() - begin_});
      }
    }
  }

  bool Done() const { return finished_ == traffic_.transfers.size() && due_.empty(); }

  void AddDue(Due due) {
    due.order = order_++;
    due_.push(due);
  }

  // Starts what is due: transfers with a start of their own, and what delays lead to.
  void DoDue() {
    while (!due_.empty()) {
      const Due next = due_.top();
      const Time at = begin_ + next.at;
      if (at > home_->now()) return home_->SetTimer(at);
      due_.pop();
      if (next.is_delay) {
        FireTrigger(traffic_.delays[next.index].on_done, next.at,
                    {FiredBy::Kind::kDelay, next.index});
      } else {
        Start(next.index);
      }
    }
  }

  void Start(uint32_t index) {
    const Transfer& t = traffic_.transfers[index];
    TransferResult& r = result_.transfers[index];
    if (r.start != Duration::Max()) {
      result_.warnings.push_back(absl::StrFormat("transfer %d was started twice", index));
      return;
    }
    r.start = home_->now() - begin_;
    if (watch_.has_value()) {
      watch_->Start(index, traffic_.connections[t.connection].from);
    }
    const absl::Status status = home_->PostWrite(
        traffic_.connections[t.connection].from, ids_[t.connection],
        {.length = static_cast<uint32_t>(t.size.count()), .notify = true, .cookie = index});
    if (!status.ok()) result_.warnings.emplace_back(status.message());
    sent_messages_[t.connection].push_back(index);
  }

  // `now` is as exact as what fired it; the home's clock may be a little later.
  void FireTrigger(uint32_t trigger, Duration now, FiredBy first_cause) {
    if (trigger == kNoTrigger) return;
    firing_.emplace_back(trigger, first_cause);
    while (!firing_.empty()) {
      const auto [t, cause] = firing_.back();
      firing_.pop_back();
      if (!book_.Fire(t)) continue;
      if (!causes_.empty() && fired_at_[t] == Duration::Max()) causes_[t] = cause;
      fired_at_[t] = std::min(fired_at_[t], now);
      for (const uint32_t i : book_.Transfers(t)) Start(i);
      for (const uint32_t i : book_.Delays(t)) {
        const Delay& delay = traffic_.delays[i];
        if (delay.length > Duration(0)) {
          AddDue({.at = now + delay.length, .index = i, .is_delay = true});
          home_->SetTimer(begin_ + due_.top().at);
        } else if (delay.on_done != kNoTrigger) {
          firing_.emplace_back(delay.on_done, FiredBy{FiredBy::Kind::kDelay, i});
        }
      }
    }
  }

  void OnCompletion(uint32_t host, const Completion& c) {
    switch (c.event) {
      case Event::kOpened:
        ++opened_;
        return;
      case Event::kAccepted:
        return OnAccepted(host, c.connection);
      case Event::kSent:
        return OnSent(static_cast<uint32_t>(c.cookie), c.at - begin_);
      case Event::kReceived: {
        const uint32_t connection = by_id_.at({host, c.connection.value});
        return OnReceived(sent_messages_[connection][c.cookie], c.at - begin_);
      }
      case Event::kClosed:
      case Event::kFailed:
      case Event::kRejected:
        ++failed_;
        result_.warnings.push_back(
            absl::StrFormat("host %d lost a connection: %s", host, Name(c.cause)));
        return;
    }
  }

  // The peer's address and id say which of our connections this is.
  void OnAccepted(uint32_t host, WireId id) {
    const std::optional<Home::Opener> opener = home_->OpenerOf(host, id);
    if (opener.has_value()) {
      by_id_[{host, id.value}] = by_id_.at({opener->host, opener->id.value});
    }
  }
  void OnSent(uint32_t index, Duration at) {
    TransferResult& r = result_.transfers[index];
    r.sent = at;
    FinishIfDone(r);
    FireTrigger(traffic_.transfers[index].on_sent, at, {FiredBy::Kind::kSent, index});
  }
  void OnReceived(uint32_t index, Duration at) {
    TransferResult& r = result_.transfers[index];
    r.received = at;
    if (watch_.has_value()) watch_->Received(index);
    FinishIfDone(r);
    FireTrigger(traffic_.transfers[index].on_received, at, {FiredBy::Kind::kReceived, index});
  }
  void FinishIfDone(const TransferResult& r) {
    if (r.sent != Duration::Max() && r.received != Duration::Max()) ++finished_;
  }

  // --- Results ---

  void Collect() {
    const bool done = Done() && failed_ == 0;
    result_.finished = done;
    result_.digest = home_->digest().value_or(0);
    result_.events = home_->events();
    result_.real_time = home_->real_time();
    result_.samples = home_->samples();
    if (result_.real_time.has_value()) {
      result_.real_time->missed = home_->missed();
      result_.real_time->too_busy = JudgeRealTime(*result_.real_time, result_.base_rtt);
    }
    result_.counters = home_->TotalCounters();
    // Acknowledgements of the last packets come home before the books are closed.
    if (done) home_->RunUntil(home_->now() + 4 * result_.base_rtt);
    result_.breaches = CheckBooks(*home_, traffic_, ids_, done);
    result_.ideal = plan_.IdealMakespan();
    MeasureCompletions(result_);
    MeasureOperations(traffic_, fired_at_, result_);
    if (watch_.has_value()) {
      CriticalPaths(traffic_, fired_at_, causes_, result_.transfers, *watch_, begin_,
                    plan_.path_facts())
          .Break(result_);
    }
    if (home_->fabric() != nullptr) result_.fabric = MeasureFabric(*home_->fabric());
  }

  const RunPlan plan_;
  const Traffic& traffic_;
  TriggerBook book_;
  RunResult result_;
  // If the times of collectives and steps are to be taken apart.
  std::optional<TransferWatch> watch_;
  std::vector<FiredBy> causes_;  // by trigger
  std::unique_ptr<Home> home_;

  std::vector<WireId> ids_;                                  // at the sender, by connection
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> by_id_;  // (host, id) to connection
  std::vector<std::vector<uint32_t>> sent_messages_;         // transfers by message number
  uint64_t opened_ = 0;
  uint64_t failed_ = 0;
  uint64_t finished_ = 0;

  Time begin_{};
  std::vector<Duration> fired_at_;  // by trigger; Max: not yet
  std::vector<std::pair<uint32_t, FiredBy>> firing_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  uint64_t order_ = 0;
};

}  // namespace

RunResult RunArm(const Experiment& experiment, const Arm& arm, uint64_t seed,
                 const std::function<void(const Progress&)>& progress) {
  return Run(experiment, arm, seed).Execute(progress);
}

}  // namespace weir
