// EQDS: the receiver pulls from its senders in turn at the rate of its link, and stops pulling from
// those whose packets come marked.
//
// Sender: CreditSender. It speculates with one BDP at the start and after a pause.
// Receiver: grants one quantum at a time, paced at `pacer_share` of its line rate, round robin
// among the senders that want more. A sender of whose bytes more than `stop_share` were marked
// within one base RTT is passed over for the next one.
//
// Source: Olteanu et al., NSDI 2022; uet-htsim `eqds.cpp` for the constants.
// Departure: the marked share is taken over base RTTs, sender by sender, not path by path: a
// receiver half does not see paths. ECN must be off at the last hop, as for rccc. Departure: no
// credit for senders without demand; one that has paused speculates again instead.
#pragma once

#include <vector>

#include "cc_algos/credit_sender.h"
#include "cc_algos/grant_pacer.h"
#include "cc_algos/sender_rings.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class Eqds final : public CreditSender {
 public:
  struct Config {
    double speculative_window = 1.0;  // BDPs
    double max_window = 1.5;          // BDPs
    // Of the receiver half.
    double pacer_share = 0.99;  // of the line rate
    Bytes quantum = KiB(4);
    double stop_share = 0.1;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::speculative_window>("speculative_window", 0.01, 16,
                                         "credit after a pause, in BDPs", "Olteanu et al.: one"),
      Param<&Config::max_window>("max_window", 0.01, 16,
                                 "most credit, demand and bytes in flight, in BDPs", "as rccc"),
      Param<&Config::pacer_share>("pacer_share", 0.1, 1, "granted share of the line rate",
                                  "uet-htsim uec.cpp: 0.99"),
      Param<&Config::quantum>("quantum", 64, 1e7, "most bytes of one grant",
                              "uet-htsim eqds.cpp: 8 quanta of 512 B"),
      Param<&Config::stop_share>("stop_share", 0, 1, "a larger marked share stops a sender",
                                 "uet-htsim eqds.cpp: 10 %"),
  };
  static CreditScheduler* NewScheduler(const CreditInfo& info, const ConfigBlob& config);
  static constexpr CreditEntry kReceiverHalf{2, "eqds", &NewScheduler};

  Eqds(const FlowInfo& flow, const Config& config);

  void OnResume(Time now, Duration idle) override;

 private:
  static Limits LimitsOf(const FlowInfo& flow, const Config& config);

  Duration base_rtt_;
};

// The receiver half: one for all senders to one endpoint.
class EqdsScheduler final : public CreditScheduler {
 public:
  EqdsScheduler(const CreditInfo& info, const Eqds::Config& config);

  void OnDemand(Time now, CreditFlow flow, Bytes ask) override;
  void OnData(const DataArrival& arrival) override;
  void OnDone(Time now, CreditFlow flow) override;
  Grant NextGrant(Time now) override;

 private:
  enum Ring : uint8_t { kWaiting, kStopped, kRings };
  struct Sender {
    Bytes asked{};    // not granted yet; at most max_window_
    Bytes trimmed{};  // to be sent again, whether asked for or not; at most max_window_
    Bytes arrived{};  // since `since`
    Bytes marked{};   // of these
    Time since{};
    Time stopped_until{};
  };

  static Bytes Demand(const Sender& s) { return std::max(s.asked, s.trimmed); }
  void Settle(Time now, CreditFlow flow);

  Bytes mtu_;
  Bytes max_window_;
  Bytes quantum_;
  double stop_share_;
  Duration base_rtt_;
  GrantPacer pacer_;
  std::vector<Sender> senders_;  // by CreditFlow
  SenderRings<kRings> rings_;    // those stopped in the order in which they go on
};

}  // namespace weir
