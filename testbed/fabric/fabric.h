// The fabric: output queues of switches and hosts, and the links between them. A model without a
// clock: whoever drives it says what time it is and calls back when a timer is due.
//
// Each link has a timer for the arrival of the packet that is first on it. What leaves a queue in
// the meantime is worked out when something looks at the queue; a queue only changes by arrivals,
// so the result is the same as with an event for every departure. Where queues depend on each
// other, by a shared buffer or by pausing, every departure does have its event.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "datapath/api/rng.h"
#include "datapath/serializer.h"
#include "datapath/timer_wheel.h"
#include "testbed/fabric/faults.h"
#include "testbed/fabric/packet.h"
#include "testbed/fabric/topology.h"

namespace weir {

// How a switch chooses among links of equal distance.
enum class SwitchBalancing : uint8_t {
  kEcmp,        // by a hash of the addresses and ports, seeded by switch
  kAdaptive,    // the shortest queue, packet by packet
  kRoundRobin,  // in turn, packet by packet
};

// How an output shares its link among the classes of its data.
struct TrafficClass {
  static constexpr uint32_t kWeightMax = 100;

  uint32_t weight = 1;  // deficit round robin among those that are not strict
  bool strict = false;  // before all that are not, and before strict ones that come later
};

struct SwitchConfig {
  Bytes queue_limit{};    // of data in each output; 0: the shared buffer is the limit
  Bytes buffer{};         // shared by all outputs; 0: unlimited
  double alpha = 1.0;     // dynamic threshold: a queue may have alpha * what is free
  Bytes control_limit{};  // of control packets and trimmed headers in each output; 0: unlimited

  // RED on the data queue as a packet leaves: never at or below mark_min, always above mark_max.
  Bytes mark_min = Bytes::Max();
  Bytes mark_max = Bytes::Max();
  double mark_probability = 1.0;  // at mark_max
  bool mark_last_hop = true;      // towards hosts, too
  bool mark_on_enqueue = false;   // as a packet arrives instead

  bool trimming = false;  // cut the payload of what does not fit
  bool telemetry = false;
  // Each output keeps the average of its own load over `load_period`, and raises that of packets
  // which have room for it.
  bool path_load = false;
  Duration load_period{};  // about a base RTT; 0: 10 us

  // Lossless: an input that holds more than pfc_xoff pauses its peer, and resumes it 2 MTU below.
  bool pfc = false;
  Bytes pfc_xoff{};  // 0: pfc_alpha * what is free of the buffer
  double pfc_alpha = 0.125;

  SwitchBalancing balancing = SwitchBalancing::kEcmp;
  bool same_seed = false;  // all switches hash alike: traffic polarises
  // How long after a link goes down or comes up the routes follow; Max: never.
  Duration reroute_after = Duration::Max();

  // Classes of data, each with a queue of its own in every output, of switches and of hosts:
  // limits, marks and pauses are by class. Fewer than two: all data is of one class.
  std::vector<TrafficClass> classes{};
};

// Counts of one output. in = out + queued + dropped holds at any time, for packets and bytes.
struct PortStats {
  uint64_t packets_in = 0;
  uint64_t bytes_in = 0;
  uint64_t packets_out = 0;
  uint64_t bytes_out = 0;
  uint64_t bytes_cut = 0;  // by trimming, of packets that stayed
  uint64_t drops = 0;
  uint64_t bytes_dropped = 0;
  uint64_t trims = 0;
  uint64_t marks = 0;
  Bytes queue_peak{};
  uint64_t pauses = 0;
  Duration paused{};
};

struct FabricStats {
  uint64_t injected = 0;   // by hosts
  uint64_t delivered = 0;  // to hosts
  uint64_t duplicated = 0;
  uint64_t lost_by_fault = 0;
  uint64_t corrupted = 0;
  uint64_t reordered = 0;
  uint64_t dropped = 0;  // by full queues
  uint64_t unroutable = 0;
  uint64_t trims = 0;
  uint64_t marks = 0;
  uint64_t hops = 0;  // packets that came to the end of a link
};

class Fabric {
 public:
  // Takes over a delivered packet.
  using Deliver = std::function<void(Time now, uint32_t host, PacketId packet)>;

  // `timers` has TimersNeeded() of them from `first_timer` on; they call HandleTimer.
  Fabric(const Topology& topology, const SwitchConfig& config, uint64_t seed, PacketPool& packets,
         TimerWheel& timers, uint32_t first_timer, Deliver deliver);
  static uint32_t TimersNeeded(const Topology& topology) {
    return 3 * static_cast<uint32_t>(topology.links.size()) + 1;
  }

  void HandleTimer(Time now, uint32_t timer);  // counted from first_timer
  // That timer is next: fetches what it will look at.
  void Prefetch(uint32_t timer) const {
    if (timer >= ports_.size() || ports_[timer].link.head == kNoPacket) return;
    packets_.Prefetch(ports_[timer].link.head);
  }

  // A host sends: `packet` goes into the queue of its link.
  void Inject(Time now, uint32_t host, PacketId packet);
  // Packets waiting in a host's own queue.
  uint32_t HostQueue(Time now, uint32_t host);
  // Some class of it, at least.
  bool HostPaused(uint32_t host) const { return ports_[host_link_[host]].paused != 0; }

  // Faults, at `now`; see faults.h.
  void SetLink(Time now, LinkId link, bool up);
  // `share` of the link's own rate, > 0; of its queue's limit and marks, too, if `scale_queues`.
  void SetRate(Time now, LinkId link, double share, bool scale_queues = false);
  void SetImpairment(LinkId link, const Impairment& impairment);
  void Reroute();  // with the links that are up

  const Topology& topology() const { return topology_; }
  const SwitchConfig& config() const { return config_; }
  const PortStats& port(LinkId link) const { return ports_[link].stats; }
  Bytes queued(LinkId link) const { return ports_[link].data.bytes + ports_[link].control.bytes; }
  // The same at `now`, and what has left by then to the byte, without settling the queue: looking
  // changes nothing.
  Bytes QueuedAt(Time now, LinkId link) const { return queued(link) - LeftSince(now, link); }
  uint64_t BytesOutAt(Time now, LinkId link) const;
  const FabricStats& stats() const { return stats_; }
  const Routes& routes() const { return routes_; }
  uint64_t digest() const { return digest_; }
  // Settles every queue up to `now` and checks that nothing was made or lost; the first breach in
  // words, or empty.
  std::string CheckConservation(Time now);

 private:
  struct Fifo {
    PacketId head = kNoPacket;
    PacketId tail = kNoPacket;
    Bytes bytes{};
    uint32_t packets = 0;
  };
  struct Port {
    Port(const LinkShape& shape, bool switch_output)
        : wire(shape.rate), delay(shape.delay), to(shape.to), is_switch(switch_output) {}
    Serializer wire;
    Fifo control;
    Fifo data;  // with classes, only their sum: the packets are in queues_
    Fifo link;  // in service or on the wire, by arrival
    Duration delay;
    NodeId to;
    bool is_switch;
    bool to_host = false;
    uint8_t paused = 0;  // a bit a class
    bool up = true;
    bool impaired = false;
    NodeId node = 0;         // whose output it is
    double queue_share = 1;  // of queue_limit, mark_min and mark_max
    PortStats stats;
    // With path_load: the average, and what it was like when the last packet left.
    double load = 0;
    Time load_at{};
    uint64_t load_bytes_out = 0;
    Bytes load_queue{};
  };
  // Of one class of one input of a switch, for PFC.
  struct Input {
    Bytes held{};
    bool pausing = false;
    Time paused_since{};  // of the output at its other end
  };
  struct PauseNotice {  // on the way to the peer
    Time at;
    uint8_t traffic_class;
    bool pause;
  };
  // Of one class of one output.
  struct ClassQueue {
    Fifo packets;
    Bytes deficit{};  // what it may still send before the next class's turn
  };
  struct Late {
    Time at;
    uint64_t order;
    LinkId link;
    PacketId packet;
    bool operator>(const Late& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  // Of the queue as it was left, what has gone by `now`.
  Bytes LeftSince(Time now, LinkId link) const;
  void PushBack(Fifo& fifo, PacketId id);
  PacketId PopFront(Fifo& fifo);
  void Land(Time now, LinkId link, PacketId id);
  void Impair(Time now, LinkId link, PacketId id);
  void Corrupt(PacketId id);
  void Duplicate(Time now, LinkId link, PacketId id);
  void HoldBack(Time until, LinkId link, PacketId id);
  void Forward(Time now, PacketId id, NodeId node);
  LinkId Choose(Time now, NodeId node, const Packet& packet, std::span<const LinkId> next);
  LinkId Shortest(Time now, std::span<const LinkId> next);
  void Enqueue(Time now, LinkId link, PacketId id);
  bool Admit(LinkId link, Packet& packet);
  void Serve(Time now, LinkId link);
  void Start(Time at, LinkId link, PacketId id);
  void WriteInBand(Time at, LinkId link, const Packet& packet);
  void MeasureLoad(Time at, Port& port) const;
  void Drop(PacketId id, uint64_t& counter);
  bool ShouldMark(const Port& port, Bytes queue);
  Bytes QueueLimit(const Port& port, Bytes queue) const;
  // A threshold of the switches, at this output.
  static Bytes OfQueue(const Port& port, Bytes threshold) {
    return port.queue_share == 1 ? threshold : Scaled(threshold, port.queue_share);
  }

  // --- Classes of data ---
  bool has_classes() const { return !queues_.empty(); }
  uint32_t classes() const { return has_classes() ? static_cast<uint32_t>(quanta_.size()) : 1; }
  uint8_t ClassOfPacket(const Packet& packet) const {
    return packet.traffic_class < classes() ? packet.traffic_class : 0;
  }
  size_t ClassIndex(LinkId link, const Packet& packet) const {
    return size_t{link} * classes() + ClassOfPacket(packet);
  }
  // Data bytes before the packet's class in that output.
  Bytes QueueOf(LinkId link, const Packet& packet) const {
    return has_classes() ? queues_[ClassIndex(link, packet)].packets.bytes
                         : ports_[link].data.bytes;
  }
  void PushData(LinkId link, PacketId id);
  // What goes next; kNoPacket: there is nothing, or it is paused.
  PacketId PopData(LinkId link) {
    Port& port = ports_[link];
    if (has_classes()) return PopClass(link);
    return port.data.head == kNoPacket || port.paused != 0 ? kNoPacket : PopFront(port.data);
  }
  void SetUpClasses();
  PacketId PopClass(LinkId link);
  PacketId PopFrom(LinkId link, uint32_t traffic_class);

  void HoldInput(Time now, const Packet& packet);
  void FreeInput(Time now, const Packet& packet);
  Bytes PauseAbove(NodeId node) const;
  void SendPause(Time now, LinkId input, uint8_t traffic_class, bool pause);
  void HandlePause(Time now, LinkId link);
  void HandleLate(Time now);
  // Timers: arrivals by link, pauses by link, departures by link, and what was held back.
  uint32_t PauseTimer(LinkId link) const { return first_timer_ + links() + link; }
  uint32_t DepartureTimer(LinkId link) const { return first_timer_ + 2 * links() + link; }
  uint32_t LateTimer() const { return first_timer_ + 3 * links(); }
  uint32_t links() const { return static_cast<uint32_t>(ports_.size()); }
  void Trace(Time now, LinkId link, const Packet& packet);

  Topology topology_;
  SwitchConfig config_;
  Routes routes_;
  bool every_departure_;  // has its event
  PacketPool& packets_;
  TimerWheel& timers_;
  uint32_t first_timer_;
  Deliver deliver_;
  Rng rng_;

  std::vector<Port> ports_;                       // by link
  std::vector<LinkId> host_link_;                 // by host: its way up
  std::vector<uint32_t> seeds_;                   // by node
  std::vector<Bytes> buffered_;                   // by node
  std::vector<uint32_t> next_turn_;               // by node, for round robin
  std::vector<Input> inputs_;                     // by link, then class, with PFC
  std::vector<std::deque<PauseNotice>> notices_;  // by link, with PFC
  std::vector<ClassQueue> queues_;                // by link, then class, with several classes
  std::vector<Bytes> quanta_;                     // by class: what it may send each turn
  std::vector<uint8_t> turns_;                    // by link: the class that may send
  std::vector<Impairment> impairments_;           // by link
  std::vector<bool> bursting_;                    // by link: in the bad state
  std::priority_queue<Late, std::vector<Late>, std::greater<>> late_;
  uint64_t late_order_ = 0;
  FabricStats stats_;
  uint64_t digest_ = 0;
  uint64_t in_network_ = 0;
};

}  // namespace weir
