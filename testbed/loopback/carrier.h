// Carries frames between the far ends of ring ports, through a fabric.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nic_drivers/dpdk/ring_pair.h"
#include "testbed/fabric/fabric.h"
#include "testbed/fabric/fault_player.h"
#include "testbed/loopback/held_frames.h"
#include "testbed/loopback/lateness.h"

namespace weir {

struct CarrierConfig {
  uint64_t seed = 1;
  SwitchConfig switches{};
  uint32_t packets_max = 1u << 16;  // in the fabric at once
  uint32_t timers = 4;              // for the user
};

// Told what time it is, turn by turn. Within the fabric everything happens at its exact time, even
// when the turn comes late; only the ways in and out see the delay: a frame enters when it is
// found, and leaves when its turn comes.
class Carrier final : public FaultTarget {
 public:
  Carrier(const Topology& topology, const CarrierConfig& config);
  ~Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  // The far end outlives the carrier. Hosts without one neither send nor receive.
  void Attach(uint32_t host, RingFarEnd& far_end);
  void OnTimer(std::function<void(uint32_t timer)> fn) { on_timer_ = std::move(fn); }
  void OnStall(std::function<void(uint32_t host, Time until)> fn) { on_stall_ = std::move(fn); }

  // Does what is due by `now`, then takes what hosts have sent. `now` does not run backwards.
  // Returns whether anything moved.
  bool Turn(Time now);

  // Of what happens at present: in a timer its due time.
  Time now() const override { return now_; }
  Fabric& fabric() override { return fabric_; }
  const Fabric& fabric() const { return fabric_; }
  void SetTimer(uint32_t timer, Time at) override { wheel_.Arm(first_user_timer_ + timer, at); }
  void Stall(uint32_t host, Time until) override { on_stall_(host, until); }

  uint64_t events() const { return events_; }
  uint64_t missed() const { return missed_; }    // a host's ring was full
  uint64_t foreign() const { return foreign_; }  // sent by hosts, and none of Weir's
  uint64_t refused() const { return refused_; }  // more than packets_max were under way
  uint32_t packets_held() const { return packets_.used(); }

  // How well it is called, since the last StartWatching.
  void StartWatching(Time now);
  const Lateness& lateness() const { return late_; }
  Duration longest_gap() const { return longest_gap_; }  // between two turns

 private:
  void TakeFrom(Time now, uint32_t host, bool& moved);
  void Inject(Time now, uint32_t host, const Frame& frame);
  void Deliver(uint32_t host, PacketId id);

  HeldFrames held_;
  PacketPool packets_;
  uint32_t first_user_timer_;
  TimerWheel wheel_;
  Fabric fabric_;
  std::vector<RingFarEnd*> far_ends_;  // by host; nullptr: none
  std::vector<uint32_t> hosts_;        // that have one
  std::function<void(uint32_t)> on_timer_;
  std::function<void(uint32_t, Time)> on_stall_;
  Time now_{};
  uint32_t sequence_ = 0;
  uint64_t events_ = 0;
  uint64_t missed_ = 0;
  uint64_t foreign_ = 0;
  uint64_t refused_ = 0;
  Lateness late_;
  Time last_turn_{};
  Duration longest_gap_{};
};

}  // namespace weir
