// One endpoint: all connections of one port, on one core, for one thread.
//
// Sans-I/O: it reads no clock and opens nothing. Frames and `now` go in by HandleRx and
// HandleTimers, frames come out by PollTx; the application posts and polls completions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/connection.h"
#include "datapath/nic_port.h"
#include "datapath/timer_wheel.h"

namespace weir {

struct EndpointConfig {
  NetAddress address{};
  uint32_t worker = 0;  // [0, kWorkersMax): its number among the endpoints of this address
  uint64_t seed = 1;
  bool listen = true;  // accept connections

  // Room, all taken at creation.
  uint32_t connections_max = 64;
  uint32_t tx_messages_max = 1024;
  uint32_t rx_messages_max = 1024;  // posted buffers and notifying writes under way
  uint32_t completions_max = 4096;
  uint32_t regions_max = 16;
  uint32_t tx_pages_max = 1024;  // of 64 packets; unless a pool is passed to Create

  // For connections that peers open, and what is offered to them.
  const Binding* binding = nullptr;
  const CreditEntry* credit = nullptr;  // receiver half run here; nullptr: none
  ConfigBlob credit_config{};

  // What is known of the network.
  Rate line_rate{};      // > 0
  Duration base_rtt{};   // > 0
  Duration max_queue{};  // longest wait in all queues of a path; 0: one base RTT is assumed
  bool trimming = false;
  Signals signals = Signal::kMarkEcho | Signal::kCnp | Signal::kRtt | Signal::kCredit;

  uint16_t payload_max = 4096;            // bytes a packet
  bool verify_payload = false;            // open with full-size packets; smaller if none gets there
  Bytes rx_buffer = MiB(1);               // of the port: a wait that fills it is level 31
  bool payload_crc = false;               // CRC-32C over payloads, too
  Duration reorder_window{};              // 0: derived from policy and network
  Duration rto_min{};                     // 0: base RTT, all queues and the peer's delay
  Duration ack_delay{};                   // 0: one base RTT
  Duration tx_slack = Nanos(500);         // most that a frame waits in the port's ring
  Duration stall_threshold = Micros(50);  // polled later than this: a host stall
  Duration open_timeout = Seconds(1);     // for opening; for closing, too
  int retries_max = 8;                    // unanswered in a row before a peer counts as gone,
  Duration patience{};                    // and at least so long without a word or progress
  Duration keepalive{};                   // a silent peer is asked so often; 0: only if it owes an
                                          // answer
};

class Endpoint {
 public:
  // `pages` is shared by endpoints of one thread; nullptr: the endpoint has its own.
  static absl::StatusOr<std::unique_ptr<Endpoint>> Create(const EndpointConfig& config,
                                                          Pool<TxPage>* pages = nullptr);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- Application ---
  // `binding` outlives the connection. kOpened or kFailed follows.
  absl::StatusOr<WireId> Connect(Time now, const NetAddress& remote, const Binding& binding);
  // Sends what was posted, then closes; kClosed follows.
  absl::Status Close(Time now, WireId id);
  // Ends at once, tells the peer once; kFailed with kAborted follows.
  absl::Status Abort(Time now, WireId id);
  // Another algorithm and policy from here on; nothing in flight is lost.
  absl::Status Rebind(Time now, WireId id, const Binding& binding);
  absl::StatusOr<uint32_t> RegisterRegion(std::byte* base, uint64_t size) {
    return RegisterRegion(RxTarget{.memory = base}, size);
  }
  absl::StatusOr<uint32_t> RegisterRegion(const RxTarget& to, uint64_t size);
  absl::Status CloseRegion(uint32_t region);
  absl::Status PostSend(Time now, WireId id, const SendRequest& request);
  absl::Status PostWrite(Time now, WireId id, const WriteRequest& request);
  absl::Status PostReceive(Time now, WireId id, const ReceiveRequest& request);
  bool PollCompletion(Completion& out) {
    if (!shared_.completions.Pop(out)) return false;
    out.at = now_;
    return true;
  }

  // --- Port ---
  // `now` as the port's clock says it; never before a time that was said already.
  Time Forward(Time now) {
    if (now >= now_) return now;
    ++shared_.counters.clock_steps_back;
    return now_;
  }
  void HandleRx(Time now, std::span<const Frame> frames);
  void HandleTimers(Time now);
  // At most so many frames can be filled now.
  size_t Due(Time now) const;
  // Fills frames, in order; returns how many.
  size_t PollTx(Time now, std::span<Frame> out);
  // When to poll again if nothing arrives; not in the past of `now`.
  Time NextWakeup(Time now) const;

  // --- Looking in ---
  const Counters& counters() const { return shared_.counters; }
  const EndpointConfig& config() const { return config_; }
  const Connection* Find(WireId id) const;
  // Of one that has ended, too, until another takes its slot.
  const Connection* FindLast(WireId id) const;
  std::vector<WireId> Ids() const;  // of all live connections
  uint32_t connections() const { return connections_live_; }
  uint32_t tx_messages_used() const { return shared_.tx_messages.used(); }
  uint32_t rx_messages_used() const { return shared_.rx_messages.used(); }
  uint32_t tx_pages_used() const { return pages_->used(); }

 private:
  struct Notice {
    uint32_t next = 0;  // Pool
    WireId id{};
    TrimNotice header{};
  };
  // A packet to a peer that has no connection here.
  struct Reply {
    NetAddress to{};
    bool refuse = false;
    RefuseHeader refusal{};
    ControlHeader control{};
  };
  static constexpr uint32_t kNotices = 1024;
  static constexpr uint32_t kReplies = 64;
  static constexpr uint32_t kNil = 0xFFFF'FFFF;
  // Why a connection is aborted, as it travels.
  static constexpr uint32_t kOurDecision = 0;
  static constexpr uint32_t kUnknownHere = 1;  // there is no such connection (any more)

  Endpoint(const EndpointConfig& config, Pool<TxPage>* pages);

  // Receiving.
  void HandleFrame(Time now, const Frame& frame);
  void HandleData(Time now, const Frame& frame, const FrameInfo& info);
  void HandleTrimmed(Connection& c, const DataHeader& h, const FrameInfo& info);
  void HandleAck(Time now, const Frame& frame, const FrameInfo& info);
  void HandleTrimNotice(Time now, const FrameInfo& info);
  void HandleControl(Time now, const Frame& frame, const FrameInfo& info);
  void HandleOpen(Time now, const FrameInfo& info);
  void HandleAccept(Time now, const FrameInfo& info);
  void HandleRefuse(const FrameInfo& info);
  void HandleClose(const FrameInfo& info, const ControlHeader& h);
  bool CountBad(WireError error);
  std::optional<Time> ArrivalOf(const Frame& frame) const;
  void NoteStall(Time now, Time since);
  void Demand(Time now, Connection& c, uint32_t demand);
  void PumpGrants(Time now);

  // Connections.
  template <class Request>
  absl::Status PostMessage(Time now, WireId id, const Request& request);
  absl::StatusOr<Connection*> Live(WireId id);
  Connection* FindLive(WireId id);
  Connection* FindReceiver(WireId to);
  void Confirm(Connection& c);
  Connection* Allocate(const NetAddress& remote, const Binding& binding);
  void Establish(Time now, Connection& c, const OpenHeader& h);
  void Restart(Time now, Connection& c, const OpenHeader& h);
  RefuseCause CheckOpen(const OpenHeader& h, uint32_t& detail) const;
  bool HasScheduler(uint16_t id) const;
  OpenHeader ProposalOf(const Connection& c) const;
  FlowInfo FlowOf(const Connection& c) const;
  LossRules RulesOf(const Connection& c) const;
  void Free(Connection& c);
  void End(Connection& c, Event event, Cause cause, uint32_t detail = 0);
  void HandleConnectionTimer(Time now, Connection& c);
  void Retry(Time now, Connection& c);
  void StartClosing(Time now, Connection& c);
  uint16_t EntropyTo(const NetAddress& remote) const;
  PathHealth* HealthOf(const Connection& c);
  uint32_t HashOf(const NetAddress& remote, WireId peer) const;

  // Sending.
  void AfterEvent(Time now, Connection& c);
  void QueueControl(Connection& c, uint32_t bits);
  void Wake(Time now, Connection& c);
  void QueueReady(Connection& c);
  void QueueReply(const Reply& reply);
  void ReplyAbort(const NetAddress& to, WireId their_id, uint32_t why);
  void UpdateDeadline(Time now, Connection& c);
  size_t PollControl(Time now, std::span<Frame> out);
  size_t PollReplies(Time now, std::span<Frame> out);
  size_t PollDataFrames(Time now, std::span<Frame> out);
  uint32_t WriteControl(Time now, Time departure, Connection& c, Frame& frame);
  PathId ControlPath(Connection& c);
  // Completes a frame whose headers are written, and books it on the port.
  void FinishControl(Time now, PathId path, uint32_t size, Frame& frame);
  void WritePathProbe(Time now, Connection& c, Frame& frame);
  uint8_t rx_level() const;  // how full the receive queue is, [0, 31]
  uint32_t WriteOpen(const OpenHeader& h, const Connection& c, Frame& frame);

  EndpointConfig config_;
  SharedState shared_;
  std::unique_ptr<Pool<TxPage>> own_pages_;
  Pool<TxPage>* pages_;
  std::deque<Connection> connections_;  // of fixed size; a connection does not move
  std::vector<uint32_t> free_;          // indices, a stack
  std::vector<uint32_t> by_peer_;       // hash heads
  uint32_t connections_live_ = 0;
  uint32_t regions_used_ = 0;

  TimerWheel wheel_;  // two timers a connection: deadline 2i, pacer 2i + 1; last: grants
  Serializer port_;
  Duration full_packet_;  // a full data packet's time on the wire
  std::unique_ptr<CreditScheduler> scheduler_;

  uint32_t control_head_ = kNil, control_tail_ = kNil;
  uint32_t control_count_ = 0;
  uint32_t ready_head_ = kNil, ready_tail_ = kNil;
  Pool<Notice> notices_;
  Chain<Notice> notices_due_;
  std::vector<Reply> replies_;
  uint32_t reply_head_ = 0, reply_tail_ = 0;
  uint64_t nonces_ = 0;
  Time now_{};  // of the latest input
  static constexpr int64_t kRxWaitWeight = 8;
  Duration rx_wait_{};  // of received frames, averaged
  CreditHeld credit_held_{};
  // What is known of the paths to a peer. As few as there are peers, so a list does.
  struct Destination {
    std::array<uint8_t, 16> ip{};
    uint32_t paths = 0;
    PathHealth health;
  };
  std::deque<Destination> destinations_;
};

}  // namespace weir
