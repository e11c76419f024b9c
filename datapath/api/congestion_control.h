// The congestion-control contract: a sender half on every connection and, for receiver-driven
// algorithms, a receiver half on every receiving endpoint.
//
// Events in, one small struct out. Implementations read no clock and never allocate, block, throw
// or log; after any legal sequence of events `allowance()` is legal. What the core owns - bytes in
// flight, limits, RTT, rounds, loss detection - arrives ready-made in the samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>

#include "datapath/api/params.h"
#include "datapath/api/signals.h"
#include "datapath/api/units.h"

namespace weir {

// What one connection may send. The core obeys all three limits.
struct Allowance {
  Bytes window{};               // in flight, > 0; below one MTU the rate spaces packets out
  Rate rate = Rate::Max();      // > 0; Rate::Max() turns pacing off
  Bytes credit = Bytes::Max();  // may leave now; Bytes::Max(): not limited by credit
};
constexpr bool IsLegal(const Allowance& a) {
  return a.window > Bytes(0) && a.rate > Rate(0) && a.credit >= Bytes(0);
}

// What is known of a connection when its algorithm is built.
struct FlowInfo {
  Bytes mtu{};            // a full data packet on the wire, > 0
  Rate line_rate{};       // the slower of both ports, > 0
  Duration base_rtt{};    // full packet out, acknowledgement back, empty queues; > 0
  Duration max_queue{};   // longest a packet may wait in the fabric's queues; 0: not known
  bool trimming = false;  // the fabric trims instead of dropping
  bool credit = false;    // a receiver half grants credit on this connection
  uint64_t seed = 0;

  constexpr Bytes bdp() const { return line_rate * base_rtt; }
};

// Credit that those connections of an endpoint hold together which are not idle, and how many of
// them hold any.
struct CreditHeld {
  Bytes bytes{};
  uint32_t connections = 0;
};

// Decides how much one connection may send. One instance a connection, used by one thread, built
// in place in the connection's fixed slot. Events arrive in non-decreasing `now`.
class CongestionControl {
 public:
  virtual ~CongestionControl() = default;

  virtual void OnSend(const SendSample&) {}
  virtual void OnAck(const AckSample&) {}
  virtual void OnLoss(const LossSample&) {}
  virtual void OnSpurious(const SpuriousSample&) {}  // undo what OnLoss did
  virtual void OnTimeout(const TimeoutSample&) {}
  virtual void OnCnp(Time /*now*/) {}
  virtual void OnCredit(Time /*now*/, Bytes /*granted*/) {}
  virtual void OnTimer(Time /*now*/) {}  // at or after timer()
  virtual void OnProbe(const ProbeSample&) {}
  virtual void OnIdle(Time /*now*/) {}  // nothing in flight and nothing to send
  virtual void OnResume(Time /*now*/, Duration /*idle*/) {}

  virtual Time timer() const { return Time::Never(); }
  // > 0: a probe is sent so often while data is in flight, each on the path of the latest packet.
  virtual Duration probe_interval() const { return Duration(0); }
  // Whether to tell the receiver that credit lies unused here.
  virtual bool CreditPilesUp(const CreditHeld&) const { return false; }
  // How much credit to hold beyond what is in hand, given what waits to be sent.
  virtual Bytes CreditWanted(Bytes /*backlog*/) const { return Bytes(0); }
  virtual Allowance allowance() const = 0;

  // Carries the connection over to another algorithm. `Restore` comes before any event.
  virtual Snapshot snapshot() const {
    return {.window = allowance().window, .rate = allowance().rate};
  }
  virtual void Restore(const Snapshot&) {}
  // In the order of the entry's counter table.
  virtual std::span<const uint64_t> counters() const { return {}; }
};

// A connection as the receiver half knows it: an index below CreditInfo::connections.
using CreditFlow = uint32_t;
inline constexpr CreditFlow kNoFlow = 0xFFFF'FFFF;

// What is known of the receiving endpoint when its receiver half is built.
struct CreditInfo {
  Bytes mtu{};
  Rate line_rate{};
  Duration base_rtt{};
  uint32_t connections = 0;
  uint64_t seed = 0;
};

// One decision of a receiver half.
struct Grant {
  CreditFlow flow = kNoFlow;   // kNoFlow: nothing to grant now
  Bytes bytes{};               // > 0 with a flow
  Time again = Time::Never();  // when to ask next, if no event comes first; in the future
};

// A data packet that came to a receiver half.
struct DataArrival {
  Time now{};
  CreditFlow flow = kNoFlow;
  Bytes size{};  // on the wire, before it was trimmed
  bool marked = false;
  bool trimmed = false;   // its payload was cut off
  bool piles_up = false;  // the sender has more credit than it can use
};

// Decides which sender may send how much to one endpoint. One instance an endpoint, shared by all
// connections that arrive there. May allocate while it is built, never after.
class CreditScheduler {
 public:
  virtual ~CreditScheduler() = default;

  // `ask` >= 0: what the sender wants granted beyond all that was granted so far.
  virtual void OnDemand(Time now, CreditFlow flow, Bytes ask) = 0;
  virtual void OnData(const DataArrival&) {}
  virtual void OnDone(Time now, CreditFlow flow) = 0;  // closed: forget it
  virtual Grant NextGrant(Time now) = 0;
};

// What an algorithm asks its peer's endpoint to do; travels in the open packet.
struct ReceiverDuty {
  Bytes ack_every = KiB(16);  // acknowledge at least each so many bytes; 0: each packet
  Duration cnp_interval{};    // > 0: answer marks with CNPs, at most one each interval
  uint16_t scheduler = 0;     // CreditEntry::id of the receiver half; 0: none. Filled in for it
};

// Room for the state of any algorithm, beside the connection.
inline constexpr size_t kCcSlotBytes = 512;

// Which events an algorithm overrides. Only these are delivered.
enum CcEvent : uint32_t {
  kCcSend = 1u << 0,
  kCcCnp = 1u << 1,
  kCcCredit = 1u << 2,
  kCcTimer = 1u << 3,
  kCcProbe = 1u << 4,
};

// A receiver half, by a number both ends know.
struct CreditEntry {
  uint16_t id;  // on the wire; unique, > 0
  const char* name;
  CreditScheduler* (*create)(const CreditInfo&,
                             const ConfigBlob&);  // `new`: before the first packet
};

// An algorithm: what `weir list` shows and what a connection is built from.
struct CcEntry {
  const char* name;
  const char* summary;  // one line
  const char* source;
  Signals needs;
  std::span<const ParamSpec> params;
  std::span<const CounterSpec> counters;
  uint32_t events;  // CcEvent bits
  size_t state_bytes;
  const CreditEntry* receiver_half;  // or nullptr
  // Why it makes no sense with a policy that sends neighbouring packets on different paths; or
  // nullptr.
  const char* one_path_because;
  ConfigBlob (*defaults)();
  ReceiverDuty (*duty)(const FlowInfo&, const ConfigBlob&);
  CongestionControl* (*construct)(void* slot, const FlowInfo&, const ConfigBlob&);
};

namespace internal {
template <class T>
constexpr uint32_t CcEvents() {
  using Base = CongestionControl;
  uint32_t events = 0;
  if (!std::is_same_v<decltype(&T::OnSend), decltype(&Base::OnSend)>) events |= kCcSend;
  if (!std::is_same_v<decltype(&T::OnCnp), decltype(&Base::OnCnp)>) events |= kCcCnp;
  if (!std::is_same_v<decltype(&T::OnCredit), decltype(&Base::OnCredit)>) events |= kCcCredit;
  if (!std::is_same_v<decltype(&T::OnTimer), decltype(&Base::OnTimer)>) events |= kCcTimer;
  if (!std::is_same_v<decltype(&T::OnProbe), decltype(&Base::OnProbe)>) events |= kCcProbe;
  return events;
}
template <class T>
constexpr ReceiverDuty DutyOf(const FlowInfo& flow, const ConfigBlob& config) {
  ReceiverDuty duty;
  if constexpr (requires { T::Duty(flow, config.As<typename T::Config>()); }) {
    duty = T::Duty(flow, config.As<typename T::Config>());
  }
  if constexpr (requires { T::kReceiverHalf; }) duty.scheduler = T::kReceiverHalf.id;
  return duty;
}
template <class T>
constexpr std::span<const CounterSpec> CountersOf() {
  if constexpr (requires { T::kCounters; }) {
    return T::kCounters;
  } else {
    return {};
  }
}
template <class T>
constexpr const char* OnePathBecauseOf() {
  if constexpr (requires { T::kOnePathBecause; }) {
    return T::kOnePathBecause;
  } else {
    return nullptr;
  }
}
template <class T>
constexpr const CreditEntry* ReceiverHalfOf() {
  if constexpr (requires { T::kReceiverHalf; }) {
    return &T::kReceiverHalf;
  } else {
    return nullptr;
  }
}
}  // namespace internal

// Makes the registry line of algorithm T. T has `struct Config`, `kParams`, a constructor
// (FlowInfo, Config) and, where it applies, `kCounters`, `kReceiverHalf`, `kOnePathBecause` and a
// static `Duty(FlowInfo, Config)`.
template <class T>
constexpr CcEntry CcPlugin(const char* name, const char* summary, const char* source,
                           Signals needs) {
  static_assert(sizeof(T) <= kCcSlotBytes && alignof(T) <= 64, "state must fit the slot");
  using Config = typename T::Config;
  return {.name = name,
          .summary = summary,
          .source = source,
          .needs = needs,
          .params = T::kParams,
          .counters = internal::CountersOf<T>(),
          .events = internal::CcEvents<T>(),
          .state_bytes = sizeof(T),
          .receiver_half = internal::ReceiverHalfOf<T>(),
          .one_path_because = internal::OnePathBecauseOf<T>(),
          .defaults = [] { return ConfigBlob::Of(Config{}); },
          .duty = internal::DutyOf<T>,
          .construct = [](void* slot, const FlowInfo& flow, const ConfigBlob& config)
              -> CongestionControl* { return ::new (slot) T(flow, config.As<Config>()); }};
}

// The fixed slot of a connection: builds an algorithm in place and destroys it.
class CcSlot {
 public:
  CcSlot() = default;
  CcSlot(const CcEntry& entry, const FlowInfo& flow) { Emplace(entry, flow, entry.defaults()); }
  ~CcSlot() { Reset(); }
  CcSlot(const CcSlot&) = delete;
  CcSlot& operator=(const CcSlot&) = delete;

  void Emplace(const CcEntry& entry, const FlowInfo& flow, const ConfigBlob& config) {
    Reset();
    cc_ = entry.construct(bytes_, flow, config);
  }
  void Reset() {
    if (cc_ != nullptr) cc_->~CongestionControl();
    cc_ = nullptr;
  }
  CongestionControl* operator->() const { return cc_; }
  CongestionControl& operator*() const { return *cc_; }

 private:
  CongestionControl* cc_ = nullptr;
  alignas(64) std::byte bytes_[kCcSlotBytes];
};

}  // namespace weir
