// NDP: each packet that arrives, whole or trimmed, pulls one more from its sender.
//
// Sender: one window blind at the start and after a pause; then one packet a pull. A trimmed packet
// is sent again on a pull, not on a timer. If nothing is in flight and no pull is in hand, it asks
// for one packet. Receiver: queues a pull for each arrival and sends the pulls in turn of senders,
// one each time that a packet takes on its link.
//
// Source: Handley et al., SIGCOMM 2017; uet-htsim `ndp.cpp`.
// Departure: a packet that was lost, not trimmed, has pulled nothing: its sender may replace it as
// soon as the core has found the loss.
// Departure: the switch is what it is: no queue of eight packets, no return to the sender, and
// paths are the policy's choice.
#pragma once

#include <vector>

#include "cc_algos/grant_pacer.h"
#include "cc_algos/sender_rings.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class Ndp final : public CongestionControl {
 public:
  struct Config {
    double initial_window = 1.0;  // BDPs
    double pull_share = 1.0;      // of the line rate; of the receiver half
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::initial_window>("initial_window", 0.01, 16, "sent blind, in BDPs",
                                     "Handley et al.: 12 to 30 packets at 10 Gb/s"),
      Param<&Config::pull_share>("pull_share", 0.1, 1, "pulled share of the line rate",
                                 "Handley et al.: all"),
  };
  static CreditScheduler* NewScheduler(const CreditInfo& info, const ConfigBlob& config);
  static constexpr CreditEntry kReceiverHalf{3, "ndp", &NewScheduler};

  Ndp(const FlowInfo& flow, const Config& config);

  void OnSend(const SendSample& send) override;
  void OnAck(const AckSample& ack) override { in_flight_ = ack.in_flight; }
  void OnLoss(const LossSample& loss) override;
  void OnSpurious(const SpuriousSample& spurious) override { pulls_ -= spurious.bytes; }
  void OnTimeout(const TimeoutSample& timeout) override;
  void OnCredit(Time now, Bytes granted) override;
  void OnResume(Time now, Duration idle) override;
  Bytes CreditWanted(Bytes backlog) const override;
  void Restore(const Snapshot& snapshot) override;
  Allowance allowance() const override {
    return {.window = window_, .credit = std::max(pulls_, Bytes(0))};
  }

 private:
  Bytes mtu_;
  Duration base_rtt_;
  Bytes window_;  // of the start; never more in flight or in hand
  Bytes pulls_;   // in hand; below zero after a loss that was none
  Bytes in_flight_{};
};

// The receiver half: one for all senders to one endpoint.
class NdpScheduler final : public CreditScheduler {
 public:
  NdpScheduler(const CreditInfo& info, const Ndp::Config& config);

  void OnDemand(Time now, CreditFlow flow, Bytes ask) override;
  void OnData(const DataArrival& arrival) override;
  void OnDone(Time now, CreditFlow flow) override;
  Grant NextGrant(Time now) override;

 private:
  enum Ring : uint8_t { kPulling, kRings };

  void Queue(CreditFlow flow, Bytes pulls);

  Bytes mtu_;
  GrantPacer pacer_;
  std::vector<Bytes> pulls_;  // queued, by CreditFlow
  SenderRings<kRings> rings_;
};

}  // namespace weir
