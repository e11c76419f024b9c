// SIRD: the receiver overcommits its link by a bounded amount of credit, and to each sender only as
// much as that sender and the way to it can use.
//
//   credit outstanding to all senders <= `budget`;  to one <= min(bucket A, bucket B)
//   bucket A follows the sender's mark: it holds more credit than `sender_threshold`, of all its
//   receivers together and of two at least;  bucket B follows the ECN marks of the fabric
//   each, once per bucket of bytes that arrived:
//     alpha  <- (1 - g) alpha + g F,  F = marked bytes / bytes
//     bucket <- bucket (1 - alpha / 2)  if F > 0, else bucket + MTU;  in [MTU, 1 BDP]
//   next grant: one MTU, to the sender with the least demand (`srpt`) or in turn (`fair`)
//
// The sender (CreditSender) starts with one BDP unscheduled, and speculates again after a pause.
//
// Source: Prasopoulos et al., NSDI 2025 (arXiv 2312.15403), sections 4 and 5.
// Departure: the first BDP after a pause of the connection is unscheduled, also of a longer
// message; it is not part of `budget`. Departure: credit of which nothing arrived for `silence`
// counts as lost. Departure: a sender serves its receivers as the core does, in turn, not half by
// SRPT.
#pragma once

#include <vector>

#include "cc_algos/credit_sender.h"
#include "cc_algos/outstanding.h"
#include "cc_algos/sender_rings.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class Sird final : public CreditSender {
 public:
  enum class Order : uint8_t { kSrpt, kFair };

  struct Config {
    double unscheduled = 1.0;       // BDPs
    double sender_threshold = 0.5;  // BDPs
    // Of the receiver half.
    double budget = 1.5;  // BDPs
    double g = 0.08;
    Order order = Order::kSrpt;
    Duration silence = Millis(1);
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::unscheduled>("unscheduled", 0.01, 16, "sent without credit, in BDPs",
                                  "Prasopoulos et al.: 1"),
      Param<&Config::sender_threshold>("sender_threshold", 0, 100,
                                       "credit at a sender above which it marks, in BDPs",
                                       "Prasopoulos et al.: 0.5"),
      Param<&Config::budget>("budget", 0.01, 100, "credit outstanding in all, in BDPs",
                             "Prasopoulos et al.: 1.5"),
      Param<&Config::g>("g", 0.001, 1, "weight of the latest marked fraction",
                        "Prasopoulos et al.: 0.08"),
      ChoiceParam<&Config::order>("order", "srpt|fair", "who is granted next",
                                  "Prasopoulos et al.: SRPT"),
      Param<&Config::silence>("silence", 1000, 1e10, "after it unused credit counts as lost",
                              "ours"),
  };
  static CreditScheduler* NewScheduler(const CreditInfo& info, const ConfigBlob& config);
  static constexpr CreditEntry kReceiverHalf{5, "sird", &NewScheduler};

  Sird(const FlowInfo& flow, const Config& config);

  // A single connection hinders nobody.
  bool CreditPilesUp(const CreditHeld& held) const override {
    return held.connections > 1 && held.bytes > threshold_;
  }
  void OnResume(Time now, Duration idle) override;

 private:
  Duration base_rtt_;
  Bytes threshold_;
};

// The receiver half: one for all senders to one endpoint.
class SirdScheduler final : public CreditScheduler {
 public:
  SirdScheduler(const CreditInfo& info, const Sird::Config& config);

  void OnDemand(Time now, CreditFlow flow, Bytes ask) override;
  void OnData(const DataArrival& arrival) override;
  void OnDone(Time now, CreditFlow flow) override;
  Grant NextGrant(Time now) override;

  Bytes bucket(CreditFlow flow) const;
  Bytes outstanding() const { return outstanding_; }

 private:
  enum Ring : uint8_t { kWaiting, kRings };
  struct Loop {
    double alpha = 0;
    Bytes bucket{};
    Bytes arrived{};  // since the last step
    Bytes marked{};   // of these
  };
  struct Sender {
    Bytes asked{};
    Outstanding outstanding;
    Loop host;    // A
    Loop fabric;  // B
  };

  void Step(Loop& loop, Bytes size, bool marked) const;
  bool MayGrant(CreditFlow flow) const;
  CreditFlow Choose();
  Time WriteOff(Time now);

  Bytes mtu_;
  Duration base_rtt_;
  Bytes unscheduled_;
  Bytes bdp_;
  Bytes budget_;
  double g_;
  Sird::Order order_;
  Duration silence_;
  Bytes outstanding_{};          // to all senders; at most budget_
  std::vector<Sender> senders_;  // by CreditFlow
  SenderRings<kRings> rings_;    // who has asked
};

}  // namespace weir
