#include "testbed/experiment/breakdown.h"

#include <algorithm>
#include <utility>

namespace weir {

const char* Name(TimePart part) {
  static constexpr const char* kNames[kTimeParts] = {
      "peers",  "compute",  "local",         "clear_to_send", "credit",   "window",
      "sender", "recovery", "serialisation", "propagation",   "queueing", "reordering"};
  return kNames[static_cast<size_t>(part)];
}

// Takes a stretch of time apart, from its end.
class CriticalPaths::Parts {
 public:
  explicit Parts(Duration length) : left_(length), parts_(kTimeParts) {}

  void Take(TimePart part, Duration length) {
    const Duration taken = std::clamp(length, Duration(0), left_);
    parts_[static_cast<size_t>(part)] += taken;
    left_ -= taken;
  }
  Duration left() const { return left_; }
  Breakdown Finish() {
    Take(TimePart::kPeers, left_);
    return std::move(parts_);
  }

 private:
  Duration left_;
  Breakdown parts_;
};

CriticalPaths::CriticalPaths(const Traffic& traffic, const std::vector<Duration>& fired_at,
                             const std::vector<FiredBy>& causes,
                             const std::vector<TransferResult>& transfers,
                             const TransferWatch& watch, Time begin, PathFacts facts)
    : traffic_(traffic),
      fired_at_(fired_at),
      causes_(causes),
      transfers_(transfers),
      watch_(watch),
      begin_(begin),
      facts_(std::move(facts)),
      stops_(traffic.triggers.size(), 0) {}

void CriticalPaths::TakeTransfer(uint32_t index, bool acknowledged, Duration end,
                                 Parts& parts) const {
  const Transfer& transfer = traffic_.transfers[index];
  const TrafficConnection& connection = traffic_.connections[transfer.connection];
  const Duration start = transfers_[index].start;
  const Duration received = std::min(transfers_[index].received, end);
  if (connection.clears) return parts.Take(TimePart::kClearToSend, end - start);
  if (acknowledged) parts.Take(TimePart::kPropagation, end - received);
  const Passage& p = watch_.passage(index);
  const Duration arrived = std::clamp(p.arrived - begin_, start, received);
  const Duration left = std::clamp(p.left - begin_, start, arrived);
  parts.Take(TimePart::kReordering, received - arrived);
  const Duration idle =
      std::min(arrived - left, facts_.passage(connection.from, connection.to, p.wire));
  parts.Take(TimePart::kQueueing, arrived - left - idle);
  parts.Take(TimePart::kPropagation, idle);
  // Before that packet left: of what could go on the wire meanwhile, and of the rest.
  Duration rest = left - start;
  const auto take = [&](TimePart part, Duration length) {
    const Duration taken = std::clamp(length, Duration(0), rest);
    parts.Take(part, taken);
    rest -= taken;
  };
  const Rate rate = facts_.rate(connection.from);
  if (p.again) take(TimePart::kRecovery, p.left - p.last_new);
  take(TimePart::kSerialisation, p.before / rate);
  take(TimePart::kSender, p.others / rate);
  take(facts_.credit(transfer.connection) ? TimePart::kCredit : TimePart::kWindow, rest);
}

Breakdown CriticalPaths::Walk(uint32_t end, Duration from) {
  Parts parts(fired_at_[end] - from);
  uint32_t at = end;
  while (at != kNoTrigger && parts.left() > Duration(0) && stops_[at] != walk_) {
    const FiredBy& cause = causes_[at];
    if (cause.kind == FiredBy::Kind::kNone) break;
    if (cause.kind == FiredBy::Kind::kDelay) {
      const Delay& delay = traffic_.delays[cause.index];
      const bool computes = delay.computes != Delay::kNoRank;
      parts.Take(computes ? TimePart::kCompute : TimePart::kLocal, fired_at_[at] - At(delay.after));
      at = delay.after;
    } else {
      TakeTransfer(cause.index, cause.kind == FiredBy::Kind::kSent, fired_at_[at], parts);
      at = traffic_.transfers[cause.index].after;
    }
  }
  return parts.Finish();
}

void CriticalPaths::Break(RunResult& result) {
  for (size_t i = 0; i < result.operations.size(); ++i) {
    OperationResult& operation = result.operations[i];
    if (!operation.finished()) continue;
    const std::vector<Operation::Member>& members = traffic_.operations[i].members;
    ++walk_;
    for (const auto& m : members) stops_[m.arrived] = walk_;
    const auto last = std::ranges::max_element(
        members, {}, [&](const Operation::Member& m) { return fired_at_[m.done]; });
    operation.breakdown = Walk(last->done, operation.first_arrival);
  }
  for (size_t i = 0; i < result.jobs.size(); ++i) {
    for (size_t s = 0; s < result.jobs[i].steps.size(); ++s) {
      StepResult& step = result.jobs[i].steps[s];
      if (step.time == Duration::Max()) break;
      ++walk_;
      const uint32_t last = *std::ranges::max_element(
          traffic_.jobs[i].steps[s], {}, [&](uint32_t trigger) { return fired_at_[trigger]; });
      step.breakdown = Walk(last, fired_at_[last] - step.time);
    }
  }
}

}  // namespace weir
