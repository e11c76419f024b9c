#include "testbed/traffic/plan_carrier.h"

#include <algorithm>
#include <utility>

namespace weir {
namespace {

constexpr Bytes kCtsSize(64);
constexpr int64_t kSplitUnit = 128;            // of a message over all queue pairs
constexpr uint32_t kCtsChannel = 0x8000'0000;  // added to the channel it clears

// Copies within a node and single messages use no channel of a collective.
constexpr uint32_t kSingleChannel = 0x4000'0000;

}  // namespace

PlanCarrier::PlanCarrier(Traffic& traffic, const CarryOptions& options,
                         std::span<const uint32_t> hosts, const Node& node,
                         std::function<Distance(uint32_t, uint32_t)> distance)
    : traffic_(traffic),
      options_(options),
      hosts_(hosts),
      node_(node),
      distance_(std::move(distance)) {}

uint32_t PlanCarrier::Event(uint32_t count) {
  traffic_.triggers.push_back({.count = count});
  return static_cast<uint32_t>(traffic_.triggers.size() - 1);
}

void PlanCarrier::Join(uint32_t event, uint32_t then, Duration after) {
  traffic_.delays.push_back({.after = event, .length = after, .on_done = then});
}

PlanCarrier::Way& PlanCarrier::WayOf(uint32_t communicator, uint32_t from, uint32_t to,
                                     uint32_t channel) {
  const bool clears = (channel & kCtsChannel) != 0;
  // Every NIC of a pair has a queue pair at least.
  const uint32_t qps = clears ? 1 : std::max(options_.qps, node_.nics);
  Way& way = ways_[{communicator, from, to, channel}];
  while (way.connections.size() < qps) {
    const size_t nic = way.connections.size() % node_.nics;
    way.connections.push_back(static_cast<uint32_t>(traffic_.connections.size()));
    traffic_.connections.push_back({.from = hosts_[from * node_.nics + nic],
                                    .to = hosts_[to * node_.nics + nic],
                                    .urgent = clears && options_.cts_urgent,
                                    .traffic_class = options_.traffic_class,
                                    .clears = clears});
    way.sent.emplace_back();
  }
  return way;
}

void PlanCarrier::AddTransfer(uint32_t connection, Bytes size, uint32_t ready, const Ends& ends) {
  traffic_.transfers.push_back({.connection = connection,
                                .size = size,
                                .after = ready,
                                .on_sent = ends.sent,
                                .on_received = ends.received,
                                .label = static_cast<uint32_t>(traffic_.operations.size())});
  if (ends.sent != kNoTrigger) Expect(ends.sent);
  if (ends.received != kNoTrigger) Expect(ends.received);
}

void PlanCarrier::Local(Bytes size, uint32_t ready, const Ends& ends) {
  const Duration took = options_.node_latency + size / options_.node_rate;
  for (const uint32_t end : {ends.sent, ends.received}) {
    if (end == kNoTrigger) continue;
    Join(ready, end, took);
    Expect(end);
  }
}

void PlanCarrier::Put(Way& way, uint32_t from, uint32_t to, Bytes size, uint32_t ready,
                      const Ends& ends) {
  const uint32_t qps = static_cast<uint32_t>(way.connections.size());
  const DistanceLimit& limit = options_.limits[static_cast<size_t>(
      distance_(hosts_[from * node_.nics], hosts_[to * node_.nics]))];
  Bytes piece = size;
  if (limit.segment > Bytes(0)) {
    piece = limit.segment;
  } else if (options_.split && qps > 1) {
    const int64_t units = (size.count() + kSplitUnit - 1) / kSplitUnit;
    piece = Bytes((units + qps - 1) / qps * kSplitUnit);
  }
  for (Bytes at{}; at < size; at += piece) {
    const uint32_t qp = way.turn++ % qps;
    const Bytes length = std::min(piece, size - at);
    std::vector<uint32_t>& sent = way.sent[qp];
    if (limit.outstanding == 0) {
      AddTransfer(way.connections[qp], length, ready, ends);
      continue;
    }
    // The end of this one lets a later one go.
    uint32_t go = ready;
    if (sent.size() >= limit.outstanding) {
      go = Event(2);
      Join(ready, go);
      Join(sent[sent.size() - limit.outstanding], go);
    }
    const uint32_t acked = Event(0);
    AddTransfer(way.connections[qp], length, go, {acked, ends.received});
    if (ends.sent != kNoTrigger) {
      Join(acked, ends.sent);
      Expect(ends.sent);
    }
    sent.push_back(acked);
  }
}

void PlanCarrier::Send(uint32_t communicator, uint32_t from, uint32_t to, Bytes size,
                       uint32_t ready, const Ends& ends) {
  if (SameNode(from, to)) return Local(size, ready, ends);
  Put(WayOf(communicator, from, to, kSingleChannel), from, to, size, ready, ends);
}

// The events of one plan's messages, made as they are asked for.
class PlanCarrier::PlanEvents {
 public:
  PlanEvents(PlanCarrier& carrier, const Plan& plan)
      : carrier_(carrier), events_(plan.messages.size()) {
    for (const PlanMessage& m : plan.messages) {
      for (const uint32_t need : plan.NeedsOf(m)) events_[need].received = kWanted;
      if (m.after_sent != kNoMessage) events_[m.after_sent].sent = kWanted;
    }
  }
  void WantReceived(uint32_t message) { Want(events_[message].received); }
  // Makes the events that are wanted.
  Ends& Make(uint32_t message) {
    Ends& e = events_[message];
    if (e.sent == kWanted) e.sent = carrier_.Event(0);
    if (e.received == kWanted) e.received = carrier_.Event(0);
    return e;
  }
  const Ends& operator[](uint32_t message) const { return events_[message]; }

 private:
  static constexpr uint32_t kWanted = kNoTrigger - 1;
  static void Want(uint32_t& event) {
    if (event == kNoTrigger) event = kWanted;
  }

  PlanCarrier& carrier_;
  std::vector<Ends> events_;
};

void PlanCarrier::Carry(const Plan& plan, uint32_t communicator, std::span<const uint32_t> ranks,
                        std::span<const Operation::Member> members) {
  PlanEvents events(*this, plan);
  // With clear-to-send: of each message, the one of its way whose place it takes at the receiver.
  std::vector<uint32_t> makes_room(options_.cts ? plan.messages.size() : 0, kNoMessage);
  absl::flat_hash_map<WayKey, std::vector<uint32_t>> of_way;
  for (uint32_t i = 0; i < makes_room.size(); ++i) {
    const PlanMessage& m = plan.messages[i];
    if (SameNode(ranks[m.from], ranks[m.to])) continue;
    std::vector<uint32_t>& before = of_way[{communicator, ranks[m.via], ranks[m.to], m.channel}];
    if (before.size() >= options_.window) {
      makes_room[i] = before[before.size() - options_.window];
      events.WantReceived(makes_room[i]);
    }
    before.push_back(i);
  }
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> last_ready;  // by rank and channel
  for (uint32_t i = 0; i < plan.messages.size(); ++i) {
    const PlanMessage& m = plan.messages[i];
    const bool local = SameNode(ranks[m.from], ranks[m.to]);
    const uint32_t ready = Event(0);
    const auto waits_for = [&](uint32_t event, Duration after = {}) {
      Join(event, ready, after);
      Expect(ready);
    };
    uint32_t* before = m.ordered ? &last_ready[{m.from, m.channel}] : nullptr;
    // An event number is never 0 here: the first ones are the members'.
    waits_for(before != nullptr && *before != 0 ? *before : members[m.from].arrived);
    if (before != nullptr) *before = ready;
    for (const uint32_t need : plan.NeedsOf(m)) waits_for(events[need].received);
    if (m.after_sent != kNoMessage) waits_for(events[m.after_sent].sent);
    uint32_t go = ready;
    if (options_.cts && !local) {
      const uint32_t clear = Event(1);
      Join(members[m.to].arrived, clear);
      if (makes_room[i] != kNoMessage) {
        Expect(clear);
        Join(events[makes_room[i]].received, clear);
      }
      Way& back = WayOf(communicator, ranks[m.to], ranks[m.via], m.channel | kCtsChannel);
      AddTransfer(back.connections[0], kCtsSize, clear, {kNoTrigger, ready});
    }
    Ends ends = events.Make(i);
    const auto ends_at = [&](uint32_t& end, uint32_t done) {
      if (end == kNoTrigger) {
        end = done;
      } else {
        Join(end, done);
        Expect(done);
      }
    };
    ends_at(ends.sent, members[m.from].done);
    ends_at(ends.received, members[m.to].done);
    if (local) {
      Local(m.size, ready, ends);
      continue;
    }
    if (m.via != m.from) {
      go = Event(1);
      Join(ready, go, options_.node_latency + m.size / options_.node_rate);
    }
    Put(WayOf(communicator, ranks[m.via], ranks[m.to], m.channel), ranks[m.via], ranks[m.to],
        m.size, go, ends);
  }
}

}  // namespace weir
