#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "testbed/traffic/runs.h"
#include "testbed/traffic/traffic.h"

namespace weir {
namespace {

int64_t PacketsOf(const IdealInput& in, Bytes size) {
  return (size.count() + in.mtu_payload.count() - 1) / in.mtu_payload.count();
}

Bytes WireBytes(const IdealInput& in, Bytes size) {
  return size + in.overhead * PacketsOf(in, size);
}

const TrafficConnection& PairOf(const Traffic& traffic, const Transfer& transfer) {
  return traffic.connections[transfer.connection];
}

Duration RoundTrip(const IdealInput& in, const Traffic& traffic, const Transfer& transfer) {
  const TrafficConnection& pair = PairOf(traffic, transfer);
  return in.round_trip(in.context, pair.from, pair.to);
}

// What one host sends, or receives.
struct Load {
  Bytes bytes{};
  Duration round_trip = Duration::Max();  // of its nearest peer

  void Add(Bytes more, Duration rtt) {
    bytes += more;
    round_trip = std::min(round_trip, rtt);
  }
  // One packet of them is part of the round trip.
  Duration Bound(const IdealInput& in, uint32_t host) const {
    if (bytes == Bytes(0)) return Duration(0);
    const Bytes packet = std::min(bytes, in.mtu_payload + in.overhead);
    return (bytes - packet) / in.rate(in.context, host) + round_trip;
  }
};

Duration BottleneckBound(const IdealInput& in, const Traffic& traffic,
                         const std::vector<uint32_t>& runs) {
  std::vector<Load> sent(traffic.hosts);
  std::vector<Load> received(traffic.hosts);
  for (size_t i = 0; i < traffic.transfers.size(); ++i) {
    if (runs[i] == 0) continue;
    const Transfer& transfer = traffic.transfers[i];
    const TrafficConnection& pair = PairOf(traffic, transfer);
    const Bytes bytes = WireBytes(in, transfer.size) * runs[i];
    const Duration rtt = RoundTrip(in, traffic, transfer);
    sent[pair.from].Add(bytes, rtt);
    received[pair.to].Add(bytes, rtt);
  }
  Duration bound(0);
  for (uint32_t host = 0; host < traffic.hosts; ++host) {
    bound = std::max({bound, sent[host].Bound(in, host), received[host].Bound(in, host)});
  }
  return bound;
}

// Plays the triggers in time order with transfers that don't disturb each other.
class Timeline {
 public:
  Timeline(const IdealInput& in, const Traffic& traffic)
      : in_(in), traffic_(traffic), book_(traffic) {}

  // From the first start to the last end.
  Duration Play() {
    for (const uint32_t i : book_.Transfers(kNoTrigger)) Start(i, traffic_.transfers[i].start);
    for (const uint32_t i : book_.Delays(kNoTrigger)) Begin(i, Duration(0));
    while (!firings_.empty()) {
      const auto [when, trigger] = firings_.top();
      firings_.pop();
      if (!book_.Fire(trigger)) continue;
      for (const uint32_t i : book_.Transfers(trigger)) Start(i, when);
      for (const uint32_t i : book_.Delays(trigger)) Begin(i, when);
    }
    return std::max(last_end_ - first_start_, Duration(0));
  }

 private:
  using Firing = std::tuple<Duration, uint32_t>;  // when, trigger

  void Start(uint32_t i, Duration when) {
    const Transfer& transfer = traffic_.transfers[i];
    const Duration end = when + IdealTransfer(in_, traffic_, transfer);
    first_start_ = std::min(first_start_, when);
    last_end_ = std::max(last_end_, end);
    if (transfer.on_sent != kNoTrigger) firings_.emplace(end, transfer.on_sent);
    if (transfer.on_received == kNoTrigger) return;
    // The last acknowledgement takes the other half of the round trip.
    firings_.emplace(end - RoundTrip(in_, traffic_, transfer) / 2, transfer.on_received);
  }
  void Begin(uint32_t i, Duration when) {
    const Delay& delay = traffic_.delays[i];
    if (delay.on_done != kNoTrigger) firings_.emplace(when + delay.length, delay.on_done);
  }

  const IdealInput& in_;
  const Traffic& traffic_;
  TriggerBook book_;
  std::priority_queue<Firing, std::vector<Firing>, std::greater<>> firings_;
  Duration first_start_ = Duration::Max();
  Duration last_end_{};
};

}  // namespace

Duration IdealTransfer(const IdealInput& in, const Traffic& traffic, const Transfer& transfer) {
  const Bytes before_last = (in.mtu_payload + in.overhead) * (PacketsOf(in, transfer.size) - 1);
  const TrafficConnection& pair = PairOf(traffic, transfer);
  const Rate rate = std::min(in.rate(in.context, pair.from), in.rate(in.context, pair.to));
  return before_last / rate + RoundTrip(in, traffic, transfer);
}

Duration IdealMakespan(const IdealInput& in, const Traffic& traffic) {
  const std::optional<std::vector<uint32_t>> runs = CountRuns(traffic);
  if (!runs.has_value()) return Duration::Max();
  return std::max(BottleneckBound(in, traffic, *runs), Timeline(in, traffic).Play());
}

}  // namespace weir
