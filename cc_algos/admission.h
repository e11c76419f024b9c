// Admission by a collective library: the receiver posts buffers and says "clear to send" for each;
// a sender sends a chunk only into a buffer, over a transport with a fixed window.
//
//   sender:   nothing until it is clear; then what was cleared, at most `window` in flight
//   receiver: a chunk each to the senders that have data, in turn, as long as fewer than `chunks`
//   of
//             a sender's buffers are cleared and not filled
//
// Rate of a sender <= chunks chunk / RTT; queue at a receiver <= senders chunks chunk - BDP.
//
// Source: Gangidi et al., SIGCOMM 2024 (RDMA over Ethernet at Meta), section 5; NCCL's
// NCCL_BUFFSIZE of 4 MiB in NCCL_STEPS of 8.
// Departure: a connection is a channel; a buffer is free again as soon as its data has arrived.
// Departure: of a chunk of which nothing arrived for `silence` the buffer is cleared again; there
// the connection would fail.
#pragma once

#include <vector>

#include "cc_algos/credit_sender.h"
#include "cc_algos/outstanding.h"
#include "cc_algos/sender_rings.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class Admission final : public CreditSender {
 public:
  struct Config {
    double window = 4.0;  // BDPs
    // Of the receiver half.
    Bytes chunk = KiB(512);
    int64_t chunks = 8;
    Duration silence = Millis(10);
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::window>("window", 0.01, 1000, "in flight, in BDPs", "ours"),
      Param<&Config::chunk>("chunk", 64, 1e9, "bytes cleared at a time", "NCCL: 512 KiB"),
      Param<&Config::chunks>("chunks", 1, 1000, "buffers of a sender", "NCCL_STEPS: 8"),
      Param<&Config::silence>("silence", 1000, 1e10, "after it an unused buffer is cleared again",
                              "ours"),
  };
  static CreditScheduler* NewScheduler(const CreditInfo& info, const ConfigBlob& config);
  static constexpr CreditEntry kReceiverHalf{6, "admission", &NewScheduler};

  Admission(const FlowInfo& flow, const Config& config);
};

// The receiver half: one for all senders to one endpoint.
class AdmissionScheduler final : public CreditScheduler {
 public:
  AdmissionScheduler(const CreditInfo& info, const Admission::Config& config);

  void OnDemand(Time now, CreditFlow flow, Bytes ask) override;
  void OnData(const DataArrival& arrival) override;
  void OnDone(Time now, CreditFlow flow) override;
  Grant NextGrant(Time now) override;

 private:
  enum Ring : uint8_t { kWaiting, kFull, kRings };
  struct Sender {
    Bytes asked{};
    Outstanding cleared;  // and not filled
  };

  void Settle(CreditFlow flow);

  Bytes chunk_;
  Bytes most_;  // of one sender
  Duration silence_;
  std::vector<Sender> senders_;  // by CreditFlow
  SenderRings<kRings> rings_;
};

}  // namespace weir
