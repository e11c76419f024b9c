// The sender half of algorithms in which the receiver grants: it spends what it was granted and
// says how much more it could use.
//
//   start:        a speculative credit, for the round trip in which nobody could answer; the first
//                 word from the receiver ends it, and what is left of it is dropped, or kept
//   each packet:  balance <- balance - size
//   a grant:      balance <- min(balance + granted, most)
//   it asks for:  min(backlog + slack, demand) - balance, and for one MTU at least while it
//                 speculates; the slack covers the packet that carries the question
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "datapath/api/congestion_control.h"

namespace weir {

class CreditSender : public CongestionControl {
 public:
  static constexpr CounterSpec kCounters[] = {
      {"unspent_speculative_bytes", "speculative credit dropped at the first word"},
      {"clamped_bytes", "credit dropped because there may not be so much"},
  };

  void OnSend(const SendSample& send) override { balance_ -= send.size; }
  void OnAck(const AckSample&) override { StopSpeculating(); }
  void OnLoss(const LossSample&) override { StopSpeculating(); }
  void OnTimeout(const TimeoutSample&) override { StopSpeculating(); }
  void OnCredit(Time now, Bytes granted) override;
  Bytes CreditWanted(Bytes backlog) const override;
  void Restore(const Snapshot& snapshot) override {
    balance_ = std::max(balance_ - snapshot.in_flight, Bytes(0));
  }
  Allowance allowance() const override {
    return {.window = limits_.window, .credit = std::max(balance_, Bytes(0))};
  }
  std::span<const uint64_t> counters() const override { return counters_; }

 protected:
  struct Limits {
    Bytes speculative{};  // at most `most`
    Bytes most{};         // credit held
    Bytes demand{};       // asked for, what is held included
    Bytes window{};       // in flight
    Bytes slack{};
    bool keeps = false;  // what is left of the speculative credit
  };

  CreditSender(Bytes mtu, const Limits& limits)
      : mtu_(mtu), limits_(limits), balance_(limits.speculative) {}

  // After a pause, as at the start.
  void SpeculateAgain() {
    balance_ = limits_.speculative;
    speculating_ = true;
  }

 private:
  void StopSpeculating();

  Bytes mtu_;
  Limits limits_;
  Bytes balance_;  // below zero after a packet larger than the credit left
  bool speculating_ = true;
  uint64_t counters_[2] = {};
};

inline void CreditSender::OnCredit(Time, Bytes granted) {
  StopSpeculating();
  balance_ += granted;
  if (balance_ <= limits_.most) return;
  counters_[1] += static_cast<uint64_t>((balance_ - limits_.most).count());
  balance_ = limits_.most;
}

inline Bytes CreditSender::CreditWanted(Bytes backlog) const {
  if (backlog <= Bytes(0)) return Bytes(0);
  const Bytes least = speculating_ ? mtu_ : Bytes(0);
  return std::max(std::min(backlog + limits_.slack, limits_.demand) - balance_, least);
}

inline void CreditSender::StopSpeculating() {
  if (!speculating_) return;
  speculating_ = false;
  if (limits_.keeps || balance_ <= Bytes(0)) return;
  counters_[0] += static_cast<uint64_t>(balance_.count());
  balance_ = Bytes(0);
}

}  // namespace weir
