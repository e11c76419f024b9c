#include "testbed/experiment/runner.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>

#include "absl/strings/str_format.h"
#include "testbed/experiment/fault_player.h"
#include "testbed/experiment/measure.h"
#include "testbed/traffic/runs.h"
#include "testbed/virtual/world.h"

namespace weir {
namespace {

constexpr uint32_t kStartTimer = 0;
constexpr uint32_t kFaultTimer = 1;           // and the next
constexpr uint64_t kProgressEvery = 1 << 16;  // events
// Bytes of an acknowledgement with one SACK word, FCS included, IPv4.
constexpr Bytes kAckWire{42 + 44 + 16 + 4};
constexpr Duration kOpenLimit = Millis(100);
// Everything a peer may write to: content does not matter here.
constexpr uint64_t kRegionSize = uint64_t{1} << 47;

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// One run, from an empty world to its result.
class Run {
 public:
  Run(const Experiment& experiment, const Arm& arm, uint64_t seed)
      : experiment_(experiment),
        arm_(arm),
        traffic_(MakeTraffic(experiment.traffic, experiment.fabric.topology.hosts, seed)),
        waiting_(WaitingFor(traffic_)),
        fired_(traffic_.triggers.size(), 0),
        ids_(traffic_.connections.size()),
        sent_messages_(traffic_.connections.size()) {
    result_.arm = arm.name;
    result_.seed = seed;
    MeasureRoundTrips(seed);
    BuildWorld(seed);
  }

  RunResult Execute(const std::function<void(const Progress&)>& progress) {
    const double cpu = CpuSeconds();
    if (OpenAll()) {
      Begin();
      RunTraffic(progress);
    }
    Collect();
    result_.cpu_seconds = CpuSeconds() - cpu;
    return std::move(result_);
  }

 private:
  // --- Set-up ---

  // The longest round trip between hosts that talk, from which all depths follow.
  void MeasureRoundTrips(uint64_t seed) {
    World probe(experiment_.fabric.topology, {.seed = seed, .packets_max = 1, .tx_pages_max = 1});
    const Bytes mtu = PacketWire();
    Rate slowest = Rate::Max();
    for (const LinkShape& link : experiment_.fabric.topology.links) {
      if (link.from < experiment_.fabric.topology.hosts) slowest = std::min(slowest, link.rate);
    }
    for (const TrafficConnection& c : traffic_.connections) {
      round_trips_.push_back(probe.BaseRtt(c.from, c.to, mtu, kAckWire));
      result_.base_rtt = std::max(result_.base_rtt, round_trips_.back());
    }
    result_.bdp = slowest * result_.base_rtt;
    host_rate_ = slowest;
  }

  Bytes PacketWire() const {
    return Bytes(
        experiment_.transport.payload +
        DataOverhead(experiment_.transport.v6, arm_.binding.cc->needs.Has(Signal::kTelemetry)));
  }

  SwitchConfig Switches() const {
    const FabricSpec& spec = experiment_.fabric;
    SwitchConfig s = spec.switches;
    const Bytes bdp = result_.bdp;
    s.queue_limit = spec.queue_limit.Of(bdp);
    s.control_limit = spec.control_limit.Of(bdp);
    s.buffer = spec.buffer.Of(bdp);
    s.pfc_xoff = spec.pfc_xoff.Of(bdp);
    if (spec.marking) {
      s.mark_min = spec.mark_min.Of(bdp);
      s.mark_max = std::max(s.mark_min, spec.mark_max.Of(bdp));
    }
    const bool credit = arm_.binding.cc->receiver_half != nullptr;
    s.mark_last_hop = spec.mark_last_hop == FabricSpec::LastHop::kAuto
                          ? !credit
                          : spec.mark_last_hop == FabricSpec::LastHop::kOn;
    if (s.pfc && s.buffer > Bytes(0)) s.queue_limit = Bytes(0);
    return s;
  }

  EndpointConfig EndpointFor(uint32_t connections, uint32_t transfers) const {
    const TransportSpec& t = experiment_.transport;
    EndpointConfig c;
    c.binding = &arm_.binding;
    c.credit = arm_.binding.cc->receiver_half;
    c.credit_config = arm_.binding.cc_config;
    c.base_rtt = result_.base_rtt;
    // Each switch on the way may hold a full queue.
    const Bytes depth = world_switches_.queue_limit > Bytes(0) ? world_switches_.queue_limit
                                                               : world_switches_.buffer;
    c.max_queue = depth > Bytes(0) ? kQueuesOnPath * (depth / host_rate_) : Duration(0);
    c.trimming = world_switches_.trimming;
    c.signals = SignalsOf(experiment_.fabric);
    c.payload_max = t.payload;
    c.reorder_window = t.reorder_window;
    c.rto_min = t.rto_min;
    c.ack_delay = t.ack_delay;
    c.retries_max = t.retries_max;
    c.connections_max = connections;
    c.tx_messages_max = transfers + 1;
    c.rx_messages_max = transfers + 1;
    c.completions_max = 2 * transfers + 2 * connections + 8;
    c.regions_max = 1;
    return c;
  }

  void BuildWorld(uint64_t seed) {
    world_switches_ = Switches();
    world_ = std::make_unique<World>(
        experiment_.fabric.topology,
        WorldConfig{.seed = seed,
                    .switches = world_switches_,
                    .v6 = experiment_.transport.v6,
                    .tx_pages_max = static_cast<uint32_t>(std::min<size_t>(
                        traffic_.connections.size() * TxWindow::kPages + 1, 1u << 20))});
    faults_ = std::make_unique<FaultPlayer>(*world_, experiment_.faults, kFaultTimer);
    world_->OnCompletion([this](uint32_t host, const Completion& c) { OnCompletion(host, c); });
    world_->OnTimer([this](uint32_t timer) { OnTimer(timer); });
    std::vector<uint32_t> connections(traffic_.hosts, 0);
    std::vector<uint32_t> transfers(traffic_.hosts, 0);
    for (const TrafficConnection& c : traffic_.connections) {
      ++connections[c.from];
      ++connections[c.to];
    }
    for (const Transfer& t : traffic_.transfers) {
      const TrafficConnection& c = traffic_.connections[t.connection];
      ++transfers[c.from];
      ++transfers[c.to];
    }
    for (uint32_t host = 0; host < traffic_.hosts; ++host) {
      if (connections[host] == 0) continue;
      Endpoint& e = world_->AddHost(host, EndpointFor(connections[host], transfers[host]));
      if (!e.RegisterRegion(nullptr, kRegionSize).ok()) std::abort();
    }
  }

  // Opens all connections before traffic starts, as collective libraries do.
  bool OpenAll() {
    for (uint32_t i = 0; i < traffic_.connections.size(); ++i) {
      const TrafficConnection& c = traffic_.connections[i];
      Endpoint& e = world_->endpoint(c.from);
      const absl::StatusOr<WireId> id =
          e.Connect(world_->now(), world_->AddressOf(c.to), arm_.binding);
      if (!id.ok()) {
        result_.warnings.emplace_back(id.status().message());
        return false;
      }
      ids_[i] = *id;
      by_id_[{c.from, id->value}] = i;
      world_->Kick(c.from);
    }
    while (opened_ < ids_.size() && failed_ == 0 && world_->Step(Time(0) + kOpenLimit)) {
    }
    if (opened_ < ids_.size()) {
      result_.warnings.push_back(
          absl::StrFormat("only %d of %d connections opened", opened_, ids_.size()));
      return false;
    }
    world_->RunFor(2 * result_.base_rtt);
    return true;
  }

  // --- Traffic ---

  void Begin() {
    begin_ = world_->now();
    for (const Transfer& t : traffic_.transfers) {
      const TrafficConnection& c = traffic_.connections[t.connection];
      result_.transfers.push_back({.from = c.from,
                                   .to = c.to,
                                   .label = t.label,
                                   .size = t.size,
                                   .start = Duration::Max(),
                                   .sent = Duration::Max(),
                                   .received = Duration::Max(),
                                   .ideal = IdealTransfer(Ideal(), traffic_, t)});
    }
    for (uint32_t i = 0; i < traffic_.transfers.size(); ++i) {
      if (traffic_.transfers[i].after == kNoTrigger) by_start_.push_back(i);
    }
    std::stable_sort(by_start_.begin(), by_start_.end(), [this](uint32_t a, uint32_t b) {
      return traffic_.transfers[a].start < traffic_.transfers[b].start;
    });
    faults_->Start(begin_, experiment_.time_limit);
    StartDue();
  }

  void RunTraffic(const std::function<void(const Progress&)>& progress) {
    const Time limit = begin_ + experiment_.time_limit;
    uint64_t until_report = kProgressEvery;
    while (finished_ < traffic_.transfers.size() && failed_ == 0 && world_->Step(limit)) {
      if (--until_report > 0) continue;
      until_report = kProgressEvery;
      if (progress) {
        progress({finished_, traffic_.transfers.size(), world_->now() - begin_});
      }
    }
  }

  void StartDue() {
    while (next_start_ < by_start_.size()) {
      const Time at = begin_ + traffic_.transfers[by_start_[next_start_]].start;
      if (at > world_->now()) return world_->SetTimer(kStartTimer, at);
      Start(by_start_[next_start_++]);
    }
  }

  void Start(uint32_t index) {
    const Transfer& t = traffic_.transfers[index];
    TransferResult& r = result_.transfers[index];
    if (r.start != Duration::Max()) {
      result_.warnings.push_back(absl::StrFormat("transfer %d was started twice", index));
      return;
    }
    r.start = world_->now() - begin_;
    const uint32_t from = traffic_.connections[t.connection].from;
    const absl::Status status = world_->endpoint(from).PostWrite(
        world_->now(), ids_[t.connection],
        {.length = static_cast<uint32_t>(t.size.count()), .notify = true, .cookie = index});
    if (!status.ok()) result_.warnings.emplace_back(status.message());
    sent_messages_[t.connection].push_back(index);
    world_->Kick(from);
  }

  void FireTrigger(uint32_t trigger) {
    if (trigger == kNoTrigger || !Fire(traffic_, trigger, fired_)) return;
    for (const uint32_t waiting : waiting_[trigger]) Start(waiting);
  }

  void OnCompletion(uint32_t host, const Completion& c) {
    switch (c.event) {
      case Event::kOpened:
        ++opened_;
        return;
      case Event::kAccepted: {
        // The peer's address and id say which of our connections this is.
        const Connection* accepted = world_->endpoint(host).Find(c.connection);
        if (accepted == nullptr) return;
        by_id_[{host, c.connection.value}] =
            by_id_.at({HostOf(accepted->remote), accepted->peer.value});
        return;
      }
      case Event::kSent:
        return OnSent(static_cast<uint32_t>(c.cookie));
      case Event::kReceived: {
        const uint32_t connection = by_id_.at({host, c.connection.value});
        return OnReceived(sent_messages_[connection][c.cookie]);
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

  void OnSent(uint32_t index) {
    TransferResult& r = result_.transfers[index];
    r.sent = world_->now() - begin_;
    FinishIfDone(r);
    FireTrigger(traffic_.transfers[index].on_sent);
  }
  void OnReceived(uint32_t index) {
    TransferResult& r = result_.transfers[index];
    r.received = world_->now() - begin_;
    FinishIfDone(r);
    FireTrigger(traffic_.transfers[index].on_received);
  }
  void FinishIfDone(const TransferResult& r) {
    if (r.sent != Duration::Max() && r.received != Duration::Max()) ++finished_;
  }

  void OnTimer(uint32_t timer) {
    if (timer == kStartTimer) return StartDue();
    faults_->OnTimer(timer);
  }

  // --- Results ---

  IdealInput Ideal() const {
    return {.mtu_payload = Bytes(experiment_.transport.payload),
            .overhead = PacketWire() - Bytes(experiment_.transport.payload),
            .host_rate = host_rate_,
            .round_trip =
                [](const void* self, uint32_t from, uint32_t to) {
                  return static_cast<const Run*>(self)->RoundTrip(from, to);
                },
            .context = this};
  }
  Duration RoundTrip(uint32_t from, uint32_t to) const {
    if (round_trip_of_.empty()) {
      for (size_t i = 0; i < traffic_.connections.size(); ++i) {
        const TrafficConnection& c = traffic_.connections[i];
        round_trip_of_[{c.from, c.to}] = round_trips_[i];
      }
    }
    return round_trip_of_.at({from, to});
  }

  void Collect() {
    // Acknowledgements of the last packets come home before the books are closed.
    const bool done = finished_ == traffic_.transfers.size() && failed_ == 0;
    result_.finished = done;
    result_.digest = world_->digest();
    result_.events = world_->events();
    result_.counters = world_->TotalCounters();
    result_.fabric = world_->fabric().stats();
    if (done) world_->RunFor(4 * result_.base_rtt);
    CheckBooks(done);
    result_.ideal = IdealMakespan(Ideal(), traffic_);
    MeasureCompletions(result_);
    MeasureFabric(world_->fabric(), result_);
  }

  void CheckBooks(bool done) {
    const std::string breach = world_->CheckConservation();
    if (!breach.empty()) result_.breaches.push_back(breach);
    if (!done) return;
    for (uint32_t i = 0; i < ids_.size(); ++i) {
      const Connection* c = world_->endpoint(traffic_.connections[i].from).Find(ids_[i]);
      if (c != nullptr && c->sender.in_flight() != Bytes(0)) {
        result_.breaches.push_back(absl::StrFormat("connection %d: %d bytes are still in flight", i,
                                                   c->sender.in_flight().count()));
      }
    }
    // Marks are counted by switches and by receivers: the same, if nothing marked was lost.
    const FabricStats& f = world_->fabric().stats();
    const uint64_t seen = world_->TotalCounters().marks_received;
    const uint64_t lost = f.dropped + f.lost_by_fault + f.unroutable + f.corrupted;
    if (seen > f.marks + f.duplicated || seen + lost < f.marks) {
      result_.breaches.push_back(absl::StrFormat(
          "switches marked %d packets, receivers saw %d, %d were lost", f.marks, seen, lost));
    }
  }

  static constexpr int64_t kQueuesOnPath = 3;

  const Experiment& experiment_;
  const Arm& arm_;
  const Traffic traffic_;
  const std::vector<std::vector<uint32_t>> waiting_;
  std::vector<uint32_t> fired_;
  RunResult result_;
  Rate host_rate_{};
  std::vector<Duration> round_trips_;  // by connection
  mutable std::map<std::pair<uint32_t, uint32_t>, Duration> round_trip_of_;
  SwitchConfig world_switches_;
  std::unique_ptr<World> world_;
  std::unique_ptr<FaultPlayer> faults_;

  std::vector<WireId> ids_;                                  // at the sender, by connection
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> by_id_;  // (host, id) to connection
  std::vector<std::vector<uint32_t>> sent_messages_;         // transfers by message number
  uint64_t opened_ = 0;
  uint64_t failed_ = 0;
  uint64_t finished_ = 0;

  Time begin_{};
  std::vector<uint32_t> by_start_;
  size_t next_start_ = 0;
};

}  // namespace

RunResult RunArm(const Experiment& experiment, const Arm& arm, uint64_t seed,
                 const std::function<void(const Progress&)>& progress) {
  return Run(experiment, arm, seed).Execute(progress);
}

}  // namespace weir
