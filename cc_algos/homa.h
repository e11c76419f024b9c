// Homa: the receiver grants to the few senders with the least left to send, to several at a time so
// that one which does not answer leaves no gap.
//
//   remaining of a sender = what it asks for + what was granted and has not arrived
//   active                = the `overcommit` senders with the least remaining
//   granted to each       < `max_incoming` / (active + 1);  to all < `max_incoming`
//   of all grants `fifo_share` go to who has waited longest
//
// The sender (CreditSender) sends the first `unscheduled` bytes without a grant, again after a
// pause.
//
// Source: Montazeri et al., SIGCOMM 2018 (arXiv 1803.09615); HomaModule for the constants.
// Departure: a connection counts as one message, what it has to send: it sends in order.
// Departure: no priorities of data in the network, which would let a short message pass a long one
// in the queues: our data has one class. Grants are ordered, queues are not.
// Departure: nothing is asked to be resent after `resend`; what was granted and not seen is granted
// again, and the core finds losses.
#pragma once

#include <vector>

#include "cc_algos/credit_sender.h"
#include "cc_algos/outstanding.h"
#include "cc_algos/sender_rings.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class Homa final : public CreditSender {
 public:
  static constexpr int kMaxOvercommit = 64;

  struct Config {
    double unscheduled = 1.0;  // BDPs
    // Of the receiver half.
    double max_incoming = 8.0;  // BDPs
    int64_t overcommit = 8;
    double fifo_share = 0.05;
    Duration resend = Millis(5);
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::unscheduled>("unscheduled", 0.01, 16, "sent without a grant, in BDPs",
                                  "Montazeri et al.: one RTT; HomaModule: 40 kB"),
      Param<&Config::max_incoming>("max_incoming", 0.1, 100, "granted and not arrived, in BDPs",
                                   "HomaModule: 400 kB at 25 Gb/s"),
      Param<&Config::overcommit>("overcommit", 1, kMaxOvercommit, "senders granted to at a time",
                                 "HomaModule: 8"),
      Param<&Config::fifo_share>("fifo_share", 0, 0.5, "of the grants, for who waited longest",
                                 "HomaModule: 50/1000"),
      Param<&Config::resend>("resend", 1000, 1e10, "after it a grant that brought nothing is void",
                             "HomaModule: 5 ticks of 1 ms"),
  };
  static CreditScheduler* NewScheduler(const CreditInfo& info, const ConfigBlob& config);
  static constexpr CreditEntry kReceiverHalf{4, "homa", &NewScheduler};

  Homa(const FlowInfo& flow, const Config& config);

  void OnResume(Time now, Duration idle) override;

 private:
  Duration base_rtt_;
};

// The receiver half: one for all senders to one endpoint.
class HomaScheduler final : public CreditScheduler {
 public:
  HomaScheduler(const CreditInfo& info, const Homa::Config& config);

  void OnDemand(Time now, CreditFlow flow, Bytes ask) override;
  void OnData(const DataArrival& arrival) override;
  void OnDone(Time now, CreditFlow flow) override;
  Grant NextGrant(Time now) override;

  Bytes incoming() const { return incoming_; }

 private:
  enum Ring : uint8_t { kWaiting, kRings };
  struct Sender {
    Bytes asked{};
    Outstanding outstanding;
    bool silent = false;  // let a grant go by; comes last until it is heard
  };

  Bytes Remaining(CreditFlow flow) const {
    return senders_[flow].asked + senders_[flow].outstanding.bytes();
  }
  bool Before(CreditFlow a, CreditFlow b) const;
  void Rank();
  Grant Give(Time now, CreditFlow flow, Bytes most);
  Time WriteOff(Time now);

  Bytes mtu_;
  Duration base_rtt_;
  Bytes unscheduled_;
  Bytes max_incoming_;
  size_t overcommit_;
  double fifo_share_;
  Duration resend_;
  Bytes incoming_{};             // granted to all and not arrived; at most max_incoming_
  Bytes fifo_due_{};             // of the share of who waited longest
  std::vector<Sender> senders_;  // by CreditFlow
  SenderRings<kRings> rings_;    // who wants more, in the order in which they began to
  CreditFlow active_[Homa::kMaxOvercommit];
  size_t actives_ = 0;
};

}  // namespace weir
