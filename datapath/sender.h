// The send half of a connection: what to send next, what was lost, what the algorithm and the
// policy are told.
#pragma once

#include <array>
#include <cstdint>

#include "datapath/api/congestion_control.h"
#include "datapath/api/load_balancer.h"
#include "datapath/nic_port.h"
#include "datapath/rtt.h"
#include "datapath/serializer.h"
#include "datapath/shared_state.h"
#include "datapath/tx_window.h"
#include "datapath/wire.h"

namespace weir {

// An algorithm and a policy with their parameters. The entries outlive every connection.
struct Binding {
  const CcEntry* cc = nullptr;
  ConfigBlob cc_config{};
  const LbEntry* lb = nullptr;
  ConfigBlob lb_config{};
  uint32_t paths = 64;
  bool urgent = false;  // packets travel in the control class, before all data; for few bytes only
  uint8_t traffic_class = 0;  // of data, below kTrafficClasses; not if urgent

  Reordering reordering() const { return ReorderingOf(*lb, lb_config); }
  // Why algorithm and policy make no sense together; nullptr: they do.
  const char* mismatch() const {
    return reordering() == Reordering::kAlways ? cc->one_path_because : nullptr;
  }
};

// How a send half finds losses; derived from policy and port, overridable.
struct LossRules {
  bool by_order = false;      // a later packet of the same path overtakes only if this one is lost
  Duration reorder_window{};  // how long a packet may lag behind one sent later
  Duration rto_min{};
  int retries_max = 8;   // unanswered in a row before the peer counts as gone,
  Duration patience{};   // and at least so long without a word, or without any data arriving
  Duration keepalive{};  // a silent peer is asked so often; 0: only if it owes an answer
};

struct SenderSetup {
  WireId id{};  // ours, for completions
  const Binding* binding = nullptr;
  FlowInfo flow{};
  LossRules loss{};
  Psn first_psn{};
  uint32_t payload_max = 0;   // bytes a packet
  uint32_t overhead = 0;      // header bytes of a data packet, on the wire
  uint32_t window_limit = 0;  // packets, by the peer's receive half
  uint32_t receives = 0;      // sends the peer has buffers for
  InBand in_band = InBand::kNone;
  bool payload_crc = false;
  PathHealth* health = nullptr;       // of the destination, if the policy uses it
  CreditHeld* credit_held = nullptr;  // of the endpoint
};

// Per-connection figures for reports.
struct SenderStats {
  uint64_t packets = 0;  // first transmissions
  uint64_t retransmits = 0;
  uint64_t spurious = 0;
  uint64_t trims = 0;
  uint64_t timeouts = 0;
  uint64_t marked_bytes = 0;  // on the wire
  uint64_t acked_bytes = 0;
};

class Sender {
 public:
  explicit Sender(SharedState& shared) : shared_(shared) {}

  void Open(Time now, Pool<TxPage>& pages, const SenderSetup& setup);
  // Drops everything unsent and unacknowledged; gives back all it held.
  void Release();
  // Another algorithm and policy from here on; nothing in flight is disturbed.
  void Rebind(Time now, const Binding& binding, const LossRules& loss, PathHealth* health);

  // False if no message slot or completion is free.
  bool Post(Time now, const SendRequest& request);
  bool Post(Time now, const WriteRequest& request);

  // `arrived` is when the frame reached the port; `now` is later.
  void HandleAck(Time now, Time arrived, const AckHeader& ack);
  void HandleTrim(Time now, const TrimNotice& notice);
  void HandleCnp(Time now);
  void HandleCredit(Time now, uint32_t granted);
  void HeardFromPeer(Time now);
  // Whatever is due by `now`. False: the retries are used up.
  bool HandleTimer(Time now);

  // What can be done now: send a packet, wait for a time, or wait for an event.
  struct Turn {
    bool send = false;
    Time at = Time::Never();  // without `send`: when to ask again if no event comes first
  };
  Turn NextTurn(Time now);
  // After NextTurn said `send`: writes the packet, which leaves at `departure`. Returns its size
  // on the wire.
  Bytes PollData(Time now, Time departure, const FrameWriter& writer, WireId to, Frame& frame);
  // A credit request is due because no data packet can carry the demand.
  bool WantsCreditRequest(Time now);
  uint32_t PollCreditRequest(Time now);  // the demand, cumulative, kCreditUnit
  bool probe_due() const { return probe_due_; }
  uint32_t PollProbe(Time departure);  // its number
  bool path_probe_due() const { return path_probe_due_; }
  uint32_t PollPathProbe(Time departure, PathId& path);  // its number
  void HandleProbeAnswer(Time now, Time arrived, uint32_t number, bool marked);

  Time NextDeadline(Time now) const;
  bool opened() const { return binding_ != nullptr; }
  bool idle() const { return open_head_ == Pool<TxMessage>::kNone; }
  Bytes in_flight() const { return in_flight_; }
  const Allowance& allowance() const { return allowance_; }
  const SenderStats& stats() const { return stats_; }
  const CongestionControl& cc() const { return *cc_; }
  const LoadBalancer& lb() const { return *lb_; }
  const Binding& binding() const { return *binding_; }
  const RttEstimator& rtt() const { return rtt_; }
  Limit limit() const { return limit_; }
  int unanswered() const { return unanswered_; }
  Snapshot TakeSnapshot() const;

 private:
  // Time-outs and credit requests in a row stretch their interval to at most 2^6 times the first.
  static constexpr int kBackoffMax = 6;

  struct AckWork;  // what one acknowledgement adds up to

  TxMessage* NewMessage(Time now, const std::byte* data, uint32_t length, uint64_t cookie);
  void Forget(uint32_t message);
  void AckRecord(Psn psn, TxRecord& record, bool marked, AckWork& work);
  void FinishPiece(const TxRecord& record);
  void MeasureRtt(Time arrived, const AckHeader& ack, AckWork& work);
  void HandleProbeEcho(const AckHeader& ack);
  void TellAlgorithm(Time now, const AckHeader& ack, const AckWork& work);
  uint16_t TakeNext();
  uint32_t Demand(Time now);
  DataHeader HeaderFor(const TxRecord& record, Psn psn, WireId to) const;
  void DetectLosses(Time now, Time seen);
  void DeclareLost(Time now, uint16_t slot, PathEvent event);
  void ReportLoss(Time now, Bytes lost, LossCause cause, bool marked);
  void HandleSilence(Time now);
  void HandleTimeout(Time now);
  Duration SilenceMax() const;
  void Install(uint64_t lb_seed);
  void TellPolicy(const PathFeedback& feedback);
  Time PathProbeDeadline() const;
  void PlanPathProbe(Time now);
  void CountCredit(Bytes held);
  void RefreshAllowance();
  void EnterIdleIfDone(Time now);
  void LeaveIdle(Time now);
  const TxMessage* FrontMessage() const;  // that may be sent; or nullptr
  bool BlockedByReceives() const;
  uint32_t PieceBytes(const TxMessage& message, uint32_t piece) const;
  Bytes NextSize() const;  // on the wire; 0: nothing to send
  Bytes Backlog() const;   // waiting, on the wire
  Time RtoDeadline() const;
  Time ProbeDeadline() const;

  SharedState& shared_;
  WireId id_{};
  const Binding* binding_ = nullptr;
  FlowInfo flow_{};
  LossRules loss_{};
  uint32_t payload_max_ = 0;
  uint32_t overhead_ = 0;
  uint32_t window_limit_ = 0;
  InBand in_band_ = InBand::kNone;
  bool payload_crc_ = false;
  Bytes ack_every_{};

  TxWindow window_;
  RttEstimator rtt_;
  Serializer pace_{Gbps(1)};
  Allowance allowance_{};
  Bytes in_flight_{};
  Limit limit_ = Limit::kApplication;
  bool was_idle_ = true;
  bool probe_due_ = false;

  // Open messages in the order posted, and the first of them that is not yet sent in full.
  uint32_t open_head_ = Pool<TxMessage>::kNone;
  uint32_t open_tail_ = Pool<TxMessage>::kNone;
  uint32_t unsent_ = Pool<TxMessage>::kNone;
  uint64_t unsent_bytes_ = 0;   // payload not yet sent once
  uint32_t unsent_pieces_ = 0;  // the packets it takes
  uint64_t lost_bytes_ = 0;     // in window_.lost, on the wire
  uint32_t next_message_ = 0;
  uint32_t next_send_ = 0;  // ordinal of the next posted send
  uint32_t receives_ = 0;   // ordinals below have a buffer at the peer

  int64_t round_ = 0;
  uint32_t next_send_seq_ = 0;
  uint32_t round_end_ = 0;  // the round ends when this transmission is acknowledged

  // Of the acknowledged transmission sent last.
  uint32_t rack_seq_ = 0;
  Time rack_sent_{};
  PathId rack_path_ = 0;
  bool rack_valid_ = false;
  bool rack_by_probe_ = false;  // or a probe, which overtakes data in the queues
  Time rack_deadline_ = Time::Never();
  Duration reorder_window_{};

  Time last_sent_{};
  Time last_progress_{};  // something sent is known to have arrived, or to have been trimmed
  Time idle_since_{};
  int timeouts_in_row_ = 0;
  int unanswered_ = 0;     // probes and credit requests since the peer was last heard
  int probes_in_row_ = 0;  // since anything changed
  Time heard_at_{};        // or left idle
  uint32_t probe_number_ = 0;
  bool probe_under_way_ = false;
  Time probe_sent_{};  // of the latest probe, if none was sent since idle: when that ended
  uint32_t probe_seq_ = 0;

  // Probes along the data's own way, asked for by the algorithm or by the health of paths.
  struct PathProbe {
    uint32_t number = 0;
    PathId path = 0;
    Time sent = Time::Never();  // never: answered
  };
  std::array<PathProbe, 8> path_probes_{};
  uint32_t path_probe_number_ = 0;
  PathId path_probe_path_ = 0;  // of the next
  bool path_probe_due_ = false;
  Duration probe_interval_{};  // of the algorithm; 0: none
  Time cc_probe_at_{};
  PathId last_path_ = 0;
  PathHealth* health_ = nullptr;
  CreditHeld* credit_held_ = nullptr;
  Bytes credit_counted_{};  // our part of *credit_held_

  uint32_t granted_ = 0;  // by the receiver, cumulative, kCreditUnit
  int credit_asks_ = 0;   // requests since credit last came
  Time credit_request_at_{};
  Time cc_timer_ = Time::Never();

  SenderStats stats_;
  CcSlot cc_;
  LbSlot lb_;
};

}  // namespace weir
