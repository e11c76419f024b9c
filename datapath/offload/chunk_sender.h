// The send half of a connection over queue pairs: which chunk goes next, when, and on which pair.
//
// A chunk is here what a packet is elsewhere. The device delivers it or fails for good, so there is
// no loss to find and nothing to send again; what the algorithm and the policy learn are the times
// of completions.
#pragma once

#include <cstdint>

#include "datapath/api/congestion_control.h"
#include "datapath/api/load_balancer.h"
#include "datapath/offload/chunk_port.h"
#include "datapath/offload/chunk_state.h"
#include "datapath/rtt.h"
#include "datapath/sender.h"
#include "datapath/serializer.h"

namespace weir {

struct ChunkSenderSetup {
  WireId id{};  // ours, for completions
  LinkId link = 0;
  const Binding* binding = nullptr;
  uint32_t paths = 1;        // queue pairs of the link; the binding's are used as far as there are
  uint32_t chunk_bytes = 0;  // of payload, but for the last of a message
  FlowInfo flow{};           // mtu: a full chunk on the wire; base_rtt: with its serialization
  const ChunkCaps* caps = nullptr;  // of the port, which outlives the sender
  Duration patience{};              // without any completion, while some are awaited
};

class ChunkSender {
 public:
  explicit ChunkSender(ChunkState& shared) : shared_(shared) {}

  void Open(Time now, const ChunkSenderSetup& setup);
  // Drops everything unsent and uncompleted; gives back all it held.
  void Release();
  // Drops what was not handed to the device yet.
  void DropUnsent();
  // Another algorithm and policy from here on; nothing on its way is disturbed.
  void Rebind(Time now, const Binding& binding);

  // False if no message slot or completion is free.
  bool Post(Time now, const WriteRequest& request);

  // What can be done now: send a chunk, wait for a time, or wait for an event.
  struct Turn {
    bool send = false;
    Time at = Time::Never();  // without `send`: when to ask again if no event comes first
  };
  Turn NextTurn(Time now);
  // After NextTurn said `send`. False: the chosen queue pair is full; the choice stands.
  bool SendChunk(Time now, ChunkPort& port);
  // The last that the peer hears: nothing more comes. Once; false: try again.
  bool SendLast(Time now, ChunkPort& port, uint16_t word);
  void SendProbeIfDue(Time now, ChunkPort& port);

  // Of a record of this connection, which is free afterwards.
  void HandleDone(Time now, const ChunkEvent& event, uint32_t record);
  // Whatever is due by `now`. False: patience is used up.
  bool HandleTimer(Time now);
  Time NextDeadline() const;

  bool idle() const { return open_head_ == Pool<TxMessage>::kNone; }
  bool last_done() const { return last_done_; }
  uint32_t waiting() const { return next_message_ - done_messages_; }  // messages not done
  Bytes in_flight() const { return in_flight_; }
  const Allowance& allowance() const { return allowance_; }
  const SenderStats& stats() const { return stats_; }  // its packets are chunks
  const CongestionControl& cc() const { return *cc_; }
  const LoadBalancer& lb() const { return *lb_; }
  const Binding& binding() const { return *binding_; }
  const RttEstimator& rtt() const { return rtt_; }
  Limit limit() const { return limit_; }
  uint32_t paths() const { return paths_; }

 private:
  static constexpr uint32_t kNone = Pool<TxMessage>::kNone;

  void Install(uint64_t lb_seed);
  void Forget(uint32_t message);
  uint32_t NextPayload() const;
  void PickPathOfNext(Time now, Bytes size);
  uint32_t TakeRecord(Time now, ChunkRecord::Kind kind, PathId path);
  void GiveRecord(uint32_t record);
  void TellPlugins(Time now, const ChunkRecord& record, Duration rtt, bool late);
  void FinishChunk(uint32_t message);
  void RefreshAllowance();
  void EnterIdleIfDone(Time now);
  // Of the device: a completion, or room in the queue pair chosen.
  bool Awaiting() const { return outstanding_ > 0 || picked_; }

  ChunkState& shared_;
  WireId id_{};
  LinkId link_ = 0;
  const Binding* binding_ = nullptr;
  uint32_t link_paths_ = 1;
  uint32_t paths_ = 1;
  uint32_t chunk_bytes_ = 0;
  FlowInfo flow_{};
  const ChunkCaps* caps_ = nullptr;
  Duration patience_{};

  RttEstimator rtt_;
  Serializer pace_{Gbps(1)};
  Allowance allowance_{};
  Bytes in_flight_{};
  uint32_t outstanding_ = 0;  // records, probes and the last included
  Limit limit_ = Limit::kApplication;
  bool was_idle_ = true;
  bool last_done_ = false;

  // Open messages in the order posted, and the first of them that is not yet sent in full.
  uint32_t open_head_ = kNone;
  uint32_t open_tail_ = kNone;
  uint32_t unsent_ = kNone;
  uint32_t next_message_ = 0;
  uint32_t done_messages_ = 0;

  bool picked_ = false;  // the policy chose a path for the next chunk
  PathId next_path_ = 0;
  PathId last_path_ = 0;

  int64_t round_ = 0;
  uint32_t next_send_seq_ = 0;
  uint32_t round_end_ = 0;  // the round ends when this chunk is done

  Time last_progress_{};  // a completion, or the end of awaiting none
  Time idle_since_{};
  Time cc_timer_ = Time::Never();
  Duration probe_interval_{};  // of the algorithm; 0: none
  Time probe_at_{};
  bool probe_under_way_ = false;

  SenderStats stats_;
  CcSlot cc_;
  LbSlot lb_;
};

}  // namespace weir
