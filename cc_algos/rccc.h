// RCCC: the receiver owns its link and says, by credit, who may use it.
//
// Sender: CreditSender. It speculates with one BDP and asks for no more than `max_window`.
//
// Receiver: grants one quantum at a time, paced at `pacer_share` of its line rate, to the senders
// that wait, round robin. When none waits, a sender whose demand is met gets up to `idle_ahead` in
// advance, so that it can resume at once.
//
// Source: UEC 1.0 section 3.6.14; uet-htsim `uec.cpp` for the constants; Olteanu et al., NSDI 2022
// (EQDS) for speculation.
// Departure: the bytes in flight never exceed `max_window`; the source bounds the credit only.
// Departure: pacing time is kept exactly. A receiver polled late makes up for at most one quantum.
// Departure: demand and credit are amounts here; their absolute counters on the wire are the
// core's.
#pragma once

#include <algorithm>
#include <vector>

#include "cc_algos/credit_sender.h"
#include "cc_algos/grant_pacer.h"
#include "cc_algos/sender_rings.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class Rccc final : public CreditSender {
 public:
  struct Config {
    double speculative_window = 1.0;  // BDPs
    double max_window = 1.5;          // BDPs
    // Of the receiver half.
    double pacer_share = 0.99;  // of the line rate
    Bytes quantum = KiB(16);
    double idle_ahead = 1.0;  // BDPs
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::speculative_window>("speculative_window", 0.01, 16,
                                         "credit of a new sender, in BDPs",
                                         "UEC 1.0 section 3.6.14: one BDP"),
      Param<&Config::max_window>("max_window", 0.01, 16,
                                 "most credit, demand and bytes in flight, in BDPs",
                                 "uet-htsim uec.cpp: the window of NSCC, 1.5"),
      Param<&Config::pacer_share>("pacer_share", 0.1, 1, "granted share of the line rate",
                                  "uet-htsim uec.cpp: 0.99"),
      Param<&Config::quantum>("quantum", 64, 1e7, "most bytes of one grant",
                              "uet-htsim uec.cpp: 4 MTU"),
      Param<&Config::idle_ahead>("idle_ahead", 0, 16, "granted without demand, in BDPs; 0: nothing",
                                 "ours; uet-htsim uec.cpp: one window"),
  };
  static CreditScheduler* NewScheduler(const CreditInfo& info, const ConfigBlob& config);
  static constexpr CreditEntry kReceiverHalf{1, "rccc", &NewScheduler};

  Rccc(const FlowInfo& flow, const Config& config);

 private:
  static Limits LimitsOf(const FlowInfo& flow, const Config& config);
};

// The receiver half: one for all senders to one endpoint.
class RcccScheduler final : public CreditScheduler {
 public:
  RcccScheduler(const CreditInfo& info, const Rccc::Config& config);

  void OnDemand(Time now, CreditFlow flow, Bytes ask) override;
  void OnData(const DataArrival& arrival) override;
  void OnDone(Time now, CreditFlow flow) override;
  Grant NextGrant(Time now) override;

  Rate pace() const { return pacer_.rate(); }

 private:
  enum Ring : uint8_t { kWaiting, kIdle, kRings };
  struct Sender {
    Bytes asked{};    // not granted yet; at most max_window_
    Bytes trimmed{};  // to be sent again, whether asked for or not; at most max_window_
    Bytes ahead{};    // granted without demand and not seen to be used; at most idle_ahead_
  };

  static Bytes Demand(const Sender& s) { return std::max(s.asked, s.trimmed); }
  void Settle(CreditFlow flow);  // moves a sender to the ring where it belongs
  Bytes Serve(Sender& sender);

  Bytes mtu_;
  Bytes max_window_;
  Bytes idle_ahead_;
  Bytes quantum_;
  GrantPacer pacer_;
  std::vector<Sender> senders_;  // by CreditFlow
  SenderRings<kRings> rings_;
};

}  // namespace weir
