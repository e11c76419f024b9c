#include "testbed/traffic/expand.h"

#include <cmath>
#include <deque>
#include <map>
#include <numbers>
#include <tuple>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

constexpr double kP99 = 2.326;          // of a standard normal
constexpr double kP99OverMedian = 100;  // of the log-normal skew
constexpr Bytes kBarrierBytesPerRank(8);

double Normal(Rng& rng) {
  // Box and Muller, 1958.
  const double u = 1 - rng.Unit();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * rng.Unit());
}

Duration SkewOf(const Timing& t, Rng& rng) {
  switch (t.skew) {
    case Timing::Skew::kNone:
      return {};
    case Timing::Skew::kExponential:
      return Scaled(t.skew_mean, -std::log(1 - rng.Unit()));
    case Timing::Skew::kLogNormal:
      return Scaled(t.skew_p99, std::pow(kP99OverMedian, Normal(rng) / kP99) / kP99OverMedian);
  }
  return {};
}

class Expander {
 public:
  Expander(const Workload& workload, const JobOptions& options, const std::vector<uint32_t>& hosts,
           const NetworkFacts& network, Rng& rng, Traffic& traffic)
      : w_(workload),
        o_(options),
        network_(network),
        rng_(rng),
        traffic_(traffic),
        carrier_(traffic, options.carry, hosts, {options.ranks_per_node, options.nics},
                 network.distance) {
    for (size_t first = 0; first < hosts.size(); first += options.nics) {
      Rate rank{};
      for (size_t i = 0; i < options.nics; ++i) rank += network.nics[hosts[first + i]];
      rank_rate_ = std::min(rank_rate_, rank);
    }
    job_ = {.name = workload.name, .ranks = workload.ranks, .hosts = hosts, .steps = {}};
    for (const Job& before : traffic.jobs) job_.first_rank += before.ranks;
    slow_.assign(workload.ranks, 1.0);
    for (double& factor : slow_) {
      if (o_.timing.slow_probability > 0 && rng_.Unit() < o_.timing.slow_probability) {
        factor = o_.timing.slow_factor;
      }
    }
  }

  absl::Status Run() {
    AddEvents();
    for (uint32_t i = 0; i < w_.ops.size(); ++i) {
      if (absl::Status bad = AddOp(i); !bad.ok()) return bad;
    }
    for (uint32_t call = 0; call < w_.calls.size(); ++call) {
      if (absl::Status bad = AddCall(call); !bad.ok()) return bad;
    }
    if (!asked_refused_.empty() && !asked_used_) {
      return absl::InvalidArgumentError(w_.name + ": " + asked_refused_);
    }
    if (absl::Status bad = CheckPairs(); !bad.ok()) return bad;
    traffic_.jobs.push_back(std::move(job_));
    return absl::OkStatus();
  }

 private:
  struct Ends {
    uint32_t begin = kNoTrigger;
    uint32_t end = kNoTrigger;
  };

  // Every op begins when all it waits for has ended.
  void AddEvents() {
    ends_.resize(w_.ops.size());
    for (uint32_t i = 0; i < w_.ops.size(); ++i) {
      const WorkOp& op = w_.ops[i];
      Ends& e = ends_[i];
      e = {.begin = carrier_.Event(static_cast<uint32_t>(op.after.size())),
           .end = carrier_.Event(1)};
      for (const uint32_t before : op.after) carrier_.Join(ends_[before].end, e.begin);
      if (op.after.empty() || op.earliest > Duration(0)) {
        carrier_.Expect(e.begin);
        carrier_.Join(kNoTrigger, e.begin, o_.start + op.earliest);
      }
    }
  }

  absl::Status AddOp(uint32_t index) {
    const WorkOp& op = w_.ops[index];
    const Ends& e = ends_[index];
    switch (op.kind) {
      case WorkOp::Kind::kCompute: {
        const double factor =
            slow_[op.rank] * o_.compute_scale *
            (o_.timing.jitter > 0 ? std::exp(o_.timing.jitter * Normal(rng_)) : 1);
        traffic_.delays.push_back({.after = e.begin,
                                   .length = Scaled(op.length, factor),
                                   .on_done = e.end,
                                   .computes = job_.first_rank + op.rank});
        return absl::OkStatus();
      }
      case WorkOp::Kind::kCollective:
        arrivals_.resize(w_.calls.size());
        arrivals_[op.call].push_back(index);
        return absl::OkStatus();
      case WorkOp::Kind::kSend:
        sends_[{op.rank, op.peer, op.tag}].push_back(index);
        return MatchSend({op.rank, op.peer, op.tag});
      case WorkOp::Kind::kRecv:
        receives_[{op.peer, op.rank, op.tag}].push_back(index);
        return MatchSend({op.peer, op.rank, op.tag});
      case WorkOp::Kind::kStep: {
        steps_of_.resize(w_.ranks, 0);
        const size_t step = steps_of_[op.rank]++;
        if (job_.steps.size() <= step) job_.steps.resize(step + 1);
        job_.steps[step].resize(w_.ranks, kNoTrigger);
        job_.steps[step][op.rank] = e.end;
        carrier_.Join(e.begin, e.end);
        return absl::OkStatus();
      }
      case WorkOp::Kind::kJoin:
        carrier_.Join(e.begin, e.end);
        return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  // --- Sends ---

  using Pair = std::tuple<uint32_t, uint32_t, uint32_t>;  // from, to, tag

  absl::Status MatchSend(const Pair& pair) {
    std::deque<uint32_t>& sends = sends_[pair];
    std::deque<uint32_t>& receives = receives_[pair];
    if (sends.empty() || receives.empty()) return absl::OkStatus();
    const WorkOp& send = w_.ops[sends.front()];
    const Ends& from = ends_[sends.front()];
    const Ends& to = ends_[receives.front()];
    sends.pop_front();
    receives.pop_front();
    const Bytes size = SizeOf(send.size);
    // Both go on when the message has ended for them; the receiver must have come to it.
    carrier_.Join(from.begin, from.end);
    carrier_.Join(to.begin, to.end);
    uint32_t ready = from.begin;
    if (o_.carry.cts) {
      ready = carrier_.Event(2);
      carrier_.Join(from.begin, ready);
      carrier_.Join(to.begin, ready);
    }
    carrier_.Send(kSends, send.rank, send.peer, size, ready,
                  {.sent = from.end, .received = to.end});
    traffic_.operations.push_back(
        {.name = "sendrecv",
         .size = size,
         .ideal = send.rank / o_.ranks_per_node == send.peer / o_.ranks_per_node
                      ? Duration(0)
                      : network_.latency + size / rank_rate_,
         .members = {{job_.first_rank + send.rank, from.begin, from.end},
                     {job_.first_rank + send.peer, to.begin, to.end}}});
    return absl::OkStatus();
  }

  absl::Status CheckPairs() const {
    for (const auto* side : {&sends_, &receives_}) {
      for (const auto& [pair, ops] : *side) {
        if (ops.empty()) continue;
        const auto& [from, to, tag] = pair;
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s: %d %s from rank %d to rank %d with tag %d meet no %s; both sides must name it",
            w_.name, ops.size(), side == &sends_ ? "sends" : "receives", from, to, tag,
            side == &sends_ ? "receive" : "send"));
      }
    }
    return absl::OkStatus();
  }

  // --- Collectives ---

  Bytes SizeOf(Bytes size) const {
    return size == Bytes(0) ? size : std::max(Bytes(1), Scaled(size, o_.size_scale));
  }

  CollectiveShape ShapeOf(const CollectiveCall& call) {
    const Communicator& c = w_.communicators[call.communicator];
    CollectiveShape s{.kind = call.kind,
                      .algorithm = call.algorithm,
                      .ranks = static_cast<uint32_t>(c.ranks.size()),
                      .ranks_per_node = NodeShare(c.ranks),
                      .size = SizeOf(call.size),
                      .channels = o_.channels,
                      .protocol = {},
                      .root = call.root,
                      .concurrent_peers = o_.concurrent_peers,
                      .matrix = {}};
    if (call.kind == CollectiveKind::kBarrier) s.size = kBarrierBytesPerRank * s.ranks;
    for (const Bytes size : call.matrix) s.matrix.push_back(SizeOf(size));
    if (s.size == Bytes(0)) s.size = Bytes(1);
    s.protocol = o_.protocol.has_value() ? *o_.protocol : ProtocolFor(s.size);
    if (s.algorithm == CollectiveAlgorithm::kAuto && o_.algorithm != CollectiveAlgorithm::kAuto) {
      s.algorithm = o_.algorithm;
      const absl::Status fits = CheckCollective(s);
      if (fits.ok()) {
        asked_used_ = true;
      } else {
        asked_refused_ = std::string(fits.message());
        s.algorithm = CollectiveAlgorithm::kAuto;
      }
    }
    return s;
  }

  // Of a communicator's ranks, how many consecutive ones share each node.
  uint32_t NodeShare(const std::vector<uint32_t>& ranks) const {
    uint32_t share = 1;
    while (share < ranks.size() &&
           ranks[share] / o_.ranks_per_node == ranks[0] / o_.ranks_per_node) {
      ++share;
    }
    if (ranks.size() % share != 0) return 1;
    for (size_t i = 0; i < ranks.size(); ++i) {
      const size_t first = i - i % share;
      if (ranks[i] / o_.ranks_per_node != ranks[first] / o_.ranks_per_node) return 1;
    }
    return share;
  }

  absl::Status AddCall(uint32_t index) {
    const CollectiveCall& call = w_.calls[index];
    const std::vector<uint32_t>& ranks = w_.communicators[call.communicator].ranks;
    const std::string name = call.name.empty() ? Name(call.kind) : call.name;
    std::vector<uint32_t> op_of(w_.ranks, kNoTrigger);
    if (index < arrivals_.size()) {
      for (const uint32_t op : arrivals_[index]) op_of[w_.ops[op].rank] = op;
    }
    Operation operation{.name = name, .members = {}};
    std::vector<Operation::Member> members;
    for (const uint32_t rank : ranks) {
      if (op_of[rank] == kNoTrigger) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s: rank %d of the communicator never comes to call %d, %s; every member must",
            w_.name, rank, index, name));
      }
      const Ends& e = ends_[op_of[rank]];
      uint32_t arrived = e.begin;
      if (o_.timing.skew != Timing::Skew::kNone) {
        arrived = carrier_.Event(1);
        carrier_.Join(e.begin, arrived, SkewOf(o_.timing, rng_));
      }
      carrier_.Join(arrived, e.end);
      members.push_back({job_.first_rank + rank, arrived, e.end});
    }
    if (ranks.size() > 1) {
      CollectiveShape shape = ShapeOf(call);
      absl::StatusOr<Plan> plan = PlanCollective(shape);
      if (!plan.ok()) {
        return absl::InvalidArgumentError(absl::StrFormat("%s: call %d: %s", w_.name, index,
                                                          std::string(plan.status().message())));
      }
      carrier_.Carry(*plan, call.communicator, ranks, members);
      operation.size = shape.size;
      operation.bus_factor = BusFactor(call.kind, shape.ranks);
      // Of an uneven all-to-all, the bus carries what its busiest rank sends or receives.
      if (!shape.matrix.empty()) operation.bus_factor = Ratio(BusiestBytes(shape), shape.size);
      operation.ideal = IdealCollective(shape, network_.latency, rank_rate_);
    }
    operation.members = std::move(members);
    traffic_.operations.push_back(std::move(operation));
    return absl::OkStatus();
  }

  static constexpr uint32_t kSends = 0xFFFF'FFFF;  // a communicator of its own

  const Workload& w_;
  const JobOptions& o_;
  const NetworkFacts& network_;
  Rate rank_rate_ = Rate::Max();  // of all NICs of the slowest rank
  Rng& rng_;
  Traffic& traffic_;
  PlanCarrier carrier_;
  Job job_;
  std::vector<double> slow_;                     // by rank
  std::vector<Ends> ends_;                       // by op
  std::vector<std::vector<uint32_t>> arrivals_;  // ops by call
  std::vector<size_t> steps_of_;                 // by rank, so far
  bool asked_used_ = false;                      // the algorithm of the options, by a call
  std::string asked_refused_;                    // why another call could not
  std::map<Pair, std::deque<uint32_t>> sends_;
  std::map<Pair, std::deque<uint32_t>> receives_;
};

}  // namespace

absl::Status Expand(const Workload& workload, const JobOptions& options,
                    const std::vector<uint32_t>& hosts, const NetworkFacts& network, Rng& rng,
                    Traffic& traffic) {
  return Expander(workload, options, hosts, network, rng, traffic).Run();
}

}  // namespace weir
