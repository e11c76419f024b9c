// The connections of one host over one ChunkPort: the RDMA mode. One thread.
//
// Sans-I/O like Endpoint: time goes in with Turn, chunks and their completions pass through the
// port; the application posts writes and polls completions.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/offload/chunk_port.h"
#include "datapath/offload/chunk_receiver.h"
#include "datapath/offload/chunk_sender.h"
#include "datapath/offload/chunk_state.h"

namespace weir {

struct ChunkEndpointConfig {
  uint64_t seed = 1;
  // Of connections that peers open; nullptr: none may.
  const Binding* binding = nullptr;

  // Room, all taken at creation.
  uint32_t connections_max = 64;  // at most the port's links_max
  uint32_t messages_max = 1024;
  uint32_t chunks_max = 4096;  // on their way at a time
  uint32_t completions_max = 4096;

  uint32_t chunk_bytes = 64 * 1024;  // of payload; from 1 KiB to the port's chunk_max
  // 0: the port's, which keeps to it by itself. Else chunks are handed over no faster than this.
  Rate line_rate{};
  // An empty packet there and its answer back. Algorithms are told this and a chunk's time on the
  // line.
  Duration base_rtt{};                 // > 0
  Duration max_queue{};                // longest wait in the fabric's queues; 0: not known
  Duration late_max = Micros(50);      // a completion that was polled later gives no RTT
  Duration open_timeout = Seconds(1);  // for opening; for closing, too
  Duration patience = Seconds(5);      // without any completion, while some are awaited
};

class ChunkEndpoint {
 public:
  // The port outlives it. kInvalidArgument names the value and what is allowed.
  static absl::StatusOr<std::unique_ptr<ChunkEndpoint>> Create(ChunkPort& port,
                                                               const ChunkEndpointConfig& config);
  ~ChunkEndpoint();
  ChunkEndpoint(const ChunkEndpoint&) = delete;
  ChunkEndpoint& operator=(const ChunkEndpoint&) = delete;

  // --- Application ---
  // `binding` outlives the connection; of its paths as many are used as both devices have queue
  // pairs. kOpened or kFailed follows.
  absl::StatusOr<WireId> Connect(Time now, const NetAddress& remote, const Binding& binding);
  // kSent follows, for all messages in the order in which their last chunks are done.
  absl::Status PostWrite(Time now, WireId id, const WriteRequest& request);
  // Sends what was posted, then closes; kClosed follows.
  absl::Status Close(Time now, WireId id);
  // Sends nothing more, tells the peer; kFailed with kAborted follows.
  absl::Status Abort(Time now, WireId id);
  // Another algorithm and policy from here on; nothing on its way is lost.
  absl::Status Rebind(Time now, WireId id, const Binding& binding);
  bool PollCompletion(Completion& out) {
    if (!state_.completions.Pop(out)) return false;
    out.at = now_;
    return true;
  }

  // --- Time ---
  // One turn of the crank: takes what the port has, does what is due, posts what may go. Returns
  // how many events came and chunks went.
  size_t Turn(Time now);
  // When to turn again after a turn that did nothing, if the port has nothing new before; not in
  // the past of `now`.
  Time NextWakeup(Time now);

  // --- Looking in ---
  const ChunkCounters& counters() const { return state_.counters; }
  const ChunkEndpointConfig& config() const { return config_; }
  // Of a live connection that is open; or nullptr.
  const ChunkSender* Find(WireId id) const;
  // The Signals that a binding may need here.
  Signals signals() const { return port_.caps().signals; }
  uint32_t connections() const { return static_cast<uint32_t>(live_.size()); }
  uint32_t messages_used() const { return state_.messages.used(); }
  uint32_t chunks_used() const { return state_.records.used(); }

 private:
  enum class State : uint8_t {
    kFree,
    kOpening,
    kOpen,
    kDraining,  // Close was called: what was posted is still being sent
    kClosing,   // the last is to be sent, or is on its way
    kAborting,  // the same after Abort
  };
  struct Conn {
    Conn(ChunkState& shared, uint32_t slot) : index(slot), sender(shared) {}
    const uint32_t index;
    State state = State::kFree;
    bool last_sent = false;
    uint32_t uses = 0;  // of the slot
    WireId id{};
    LinkId link = 0;
    const Binding* binding = nullptr;
    Time give_up_at = Time::Never();
    ChunkSender sender;
    ChunkReceiver receiver;
    bool sends() const { return state == State::kOpen || state == State::kDraining; }
    bool ending() const { return state == State::kClosing || state == State::kAborting; }
  };
  static constexpr uint32_t kNil = 0xFFFF'FFFF;
  static constexpr size_t kEvents = 64;  // taken at a time
  static constexpr size_t kPosts = 64;   // chunks in one turn

  ChunkEndpoint(ChunkPort& port, const ChunkEndpointConfig& config);

  Conn* FindLive(WireId id);
  absl::StatusOr<Conn*> Live(WireId id);
  Conn* OfLink(LinkId link);
  Conn* Allocate(LinkId link, const Binding& binding);
  FlowInfo FlowOf(const Conn& c) const;
  void HandleEvent(Time now, const ChunkEvent& event);
  void HandleAccepted(Time now, const ChunkEvent& event);
  void HandleDone(Time now, const ChunkEvent& event);
  void HandleArrived(Conn& c, const ChunkEvent& event);
  void HandlePeersLast(Conn& c, uint16_t word);
  void Establish(Time now, Conn& c, uint32_t paths);
  void HandleTimers(Time now);
  size_t Send(Time now);
  Time LineBusyUntil() const;
  void ContinueEnding(Time now, Conn& c);
  void StartEnding(Time now, Conn& c, State state);
  void End(Conn& c, Event event, Cause cause);

  ChunkPort& port_;
  ChunkEndpointConfig config_;
  ChunkState state_;
  std::deque<Conn> connections_;    // of fixed size; a connection does not move
  std::vector<uint32_t> free_;      // indices, a stack
  std::vector<uint32_t> live_;      // indices
  std::vector<uint32_t> by_link_;   // LinkId to index
  uint32_t first_ = 0;              // in live_: who sends first in the next turn
  std::optional<Serializer> line_;  // at a line rate that was given
  Time now_{};                      // of the latest input
};

}  // namespace weir
