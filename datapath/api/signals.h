// What plug-ins are told. The transport core fills these in; a plug-in only reads them.
//
// Sizes count bytes on the wire (payload and all headers of a packet), so that windows, rates and
// bandwidth-delay products speak of the same bytes.
#pragma once

#include <cstdint>
#include <span>

#include "datapath/api/units.h"

namespace weir {

// A signal an algorithm may need. Negotiated when a connection opens, with peer and port.
enum class Signal : uint32_t {
  kMarkEcho = 1u << 0,       // ECN marks of the data packets, echoed packet by packet
  kCnp = 1u << 1,            // congestion notification packets, rate-limited by the receiver
  kRtt = 1u << 2,            // round-trip time without the receiver's holding time
  kNicTimestamps = 1u << 3,  // arrival stamped by the port, not by the poll loop
  kTelemetry = 1u << 4,      // one SwitchRecord a hop
  kTrimNotice = 1u << 5,     // the fabric trims instead of dropping
  kCredit = 1u << 6,         // the receiver schedules and grants
  kPathLoad = 1u << 7,       // the highest link load on the way, in one byte
};

// A set of signals.
class Signals {
 public:
  constexpr Signals() = default;
  constexpr Signals(Signal s) : bits_(static_cast<uint32_t>(s)) {}  // NOLINT: one is a set
  constexpr explicit Signals(uint32_t bits) : bits_(bits) {}

  constexpr uint32_t bits() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool Has(Signal s) const { return (bits_ & static_cast<uint32_t>(s)) != 0; }
  constexpr Signals Without(Signals o) const { return Signals(bits_ & ~o.bits_); }
  friend constexpr Signals operator|(Signals a, Signals b) { return Signals(a.bits_ | b.bits_); }
  friend constexpr bool operator==(Signals, Signals) = default;

 private:
  uint32_t bits_ = 0;
};
constexpr Signals operator|(Signal a, Signal b) { return Signals(a) | Signals(b); }

inline constexpr Signal kAllSignals[] = {
    Signal::kMarkEcho,  Signal::kCnp,        Signal::kRtt,    Signal::kNicTimestamps,
    Signal::kTelemetry, Signal::kTrimNotice, Signal::kCredit, Signal::kPathLoad,
};
constexpr const char* Name(Signal s) {
  switch (s) {
    case Signal::kMarkEcho:
      return "mark echo";
    case Signal::kCnp:
      return "CNP";
    case Signal::kRtt:
      return "RTT";
    case Signal::kNicTimestamps:
      return "NIC timestamps";
    case Signal::kTelemetry:
      return "per-hop telemetry";
    case Signal::kTrimNotice:
      return "trim notices";
    case Signal::kCredit:
      return "receiver credit";
    case Signal::kPathLoad:
      return "path load";
  }
  return "?";
}

// What one switch wrote into a data packet as it left an output queue.
struct SwitchRecord {
  Time stamp{};         // the switch's own clock
  Bytes transmitted{};  // since start, by this output
  Bytes queue{};        // behind this packet
  Rate rate{};          // of the link
  uint16_t hop = 0;     // identifies the output; changes when the route does
};
inline constexpr int kMaxHops = 6;

// What keeps the connection from sending more at the moment. kNone: only the port's own speed.
enum class Limit : uint8_t { kNone, kApplication, kPacer, kWindow, kCredit };

// One acknowledgement, after the core has removed duplicates: all that an algorithm may know.
struct AckSample {
  Time now{};
  int64_t round = 0;     // +1 each time data sent after the last step is acknowledged
  Bytes newly_acked{};   // > 0
  Bytes newly_marked{};  // in [0, newly_acked]; carried ECN CE
  Bytes in_flight{};     // after this acknowledgement
  Duration rtt{};        // newest packet acknowledged, receiver's hold removed; 0: no valid sample
  Limit limit = Limit::kNone;
  bool host_stall = false;  // our poll loop paused during this round trip: distrust `rtt`
  PathId path = 0;          // of the packet that gave `rtt`
  std::span<const SwitchRecord> telemetry{};  // sender to receiver; empty without telemetry
  double path_load = 0;    // of the busiest link of that packet's way, 1: its rate; 0: not told
  int receiver_level = 0;  // [0, 31]: how full the peer's receive queue is
};

// How a packet was found to be lost. A time-out has its own event.
enum class LossCause : uint8_t { kTrim, kTrimLastHop, kOrder, kTime };

// Packets judged lost, no longer counted in flight.
struct LossSample {
  Time now{};
  int64_t round = 0;
  Bytes lost{};       // > 0
  Bytes in_flight{};  // after the loss
  LossCause cause = LossCause::kTime;
  bool marked = false;  // the trimmed header itself carried CE
};

// A loss that was none: the packet arrived after all. Bytes were `LossSample::lost` before.
struct SpuriousSample {
  Time now{};
  int64_t round = 0;
  Bytes bytes{};  // > 0
};

// Nothing was acknowledged for the time-out: all bytes in flight are judged lost.
struct TimeoutSample {
  Time now{};
  int64_t round = 0;
  Bytes lost{};
  int consecutive = 1;  // >= 1; back to 1 after progress
};

// A small packet that went with the data, through the same queues, and was answered at once.
struct ProbeSample {
  Time now{};
  Duration rtt{};  // > 0
  bool marked = false;
  PathId path = 0;
};

// A data packet handed to the port.
struct SendSample {
  Time now{};
  Bytes size{};       // > 0
  Bytes in_flight{};  // with this packet
  bool retransmit = false;
};

// What happened to a packet on its path.
enum class PathEvent : uint8_t { kGood, kMarked, kTrimmed, kTrimmedLastHop, kLost, kTimeout };

// One packet's fate, for the load-balancing policy.
struct PathFeedback {
  Time now{};
  PathId path = 0;
  PathEvent event = PathEvent::kGood;
  Duration rtt{};  // 0: no valid sample
};

// What an outgoing algorithm leaves to the one that replaces it on a live connection.
struct Snapshot {
  Bytes window{};
  Rate rate{};
  Duration smoothed_rtt{};
  Duration min_rtt{};
  Bytes in_flight{};
};

}  // namespace weir
