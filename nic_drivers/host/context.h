// What an application uses: a device, endpoints on cores of their own, and connections over them.
//
// A context belongs to one thread at a time. Calls that carry data (Post, Poll) take neither lock
// nor system call; the others wait for the endpoint's thread and belong to set-up.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "datapath/endpoint.h"
#include "datapath/nic_device.h"
#include "nic_drivers/host/poll_stats.h"

namespace weir {

class Channel;
struct Posting;
class Engine;

// One endpoint and thread each; see docs/hosts.md for the file that says the same.
struct ContextOptions {
  DeviceOptions device{};
  Binding binding{};  // of connections, opened and accepted; nscc over reps if empty
  bool listen = false;

  uint32_t workers = 1;      // [1, kWorkersMax]; fewer if the device has fewer queues
  std::vector<int> cores{};  // where they run, in turn; empty: as the process is bound
  bool idle_sleep = false;

  // Room, a worker.
  uint32_t connections_max = 1024;
  uint32_t messages_max = 4096;  // sends and writes under way; receives posted
  uint32_t regions_max = 64;

  // What is known of the network.
  Duration base_rtt = Micros(20);  // > 0
  Duration max_queue{};            // longest wait in all queues of a path; 0: not known
  bool trimming = false;           // its switches trim
  bool telemetry = false;          // its switches write telemetry
  uint16_t payload = 0;            // bytes a packet; 0: the most that the device's MTU takes
  bool payload_crc = false;        // CRC-32C over payloads, too

  Duration rto_min = Millis(1);  // shortest time-out; a host that shares its cores needs some time
  Duration open_timeout = Seconds(2);
  Duration patience = Seconds(5);   // without a word before a peer counts as gone
  Duration keepalive = Seconds(1);  // a silent peer is asked so often; 0: never
};

// Reads TOML text; `file` stands in messages. Errors give file, line, what is wrong and the remedy.
absl::StatusOr<ContextOptions> ParseContext(const std::string& text, const std::string& file);
absl::StatusOr<ContextOptions> LoadContext(const std::string& path);

// A connection as it is, or as it was when it ended.
struct ConnectionInfo {
  WireId id{};
  ConnectionState state = ConnectionState::kFree;
  std::string remote;  // "10.0.0.2"
  std::string algorithm;
  std::string policy;
  uint32_t payload_max = 0;  // negotiated, bytes a packet
  bool telemetry = false;    // negotiated
  bool payload_crc = false;  // negotiated
  Duration smoothed_rtt{};
  Duration min_rtt{};
  Bytes in_flight{};
  Allowance allowance{};
  SenderStats sent{};
};

class Context {
 public:
  static absl::StatusOr<std::unique_ptr<Context>> Open(const ContextOptions& options);
  // On a device that is open already.
  static absl::StatusOr<std::unique_ptr<Context>> Open(const ContextOptions& options,
                                                       std::unique_ptr<NicDevice> device);
  // Connections that are still open are aborted.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // --- Memory ---
  // What lies in [base, base + size) is sent without a copy.
  absl::Status RegisterMemory(void* base, size_t size);
  // kUnavailable while frames on their way refer to it: try again.
  absl::Status UnregisterMemory(void* base);
  // Peers may write to [base, base + size); returns the region's number for their writes. `base`
  // nullptr: what they write is checked and counted, and placed nowhere.
  absl::StatusOr<uint32_t> OpenRegion(void* base, uint64_t size) {
    return OpenRegion(RxTarget{.memory = static_cast<std::byte*>(base)}, size);
  }
  // The same, with what they write taken in place, if `to` says so, by all endpoints' threads.
  absl::StatusOr<uint32_t> OpenRegion(const RxTarget& to, uint64_t size);
  absl::Status CloseRegion(uint32_t region);

  // --- Connections ---
  // `remote` is an IP address. Waits at most open_timeout for its next hop; kOpened or kFailed
  // follows. `binding` nullptr: the context's own.
  absl::StatusOr<WireId> Connect(const std::string& remote, const Binding* binding = nullptr);
  absl::Status Close(WireId id);  // after what was posted; kClosed follows
  absl::Status Abort(WireId id);  // at once; kFailed with kAborted follows
  absl::Status Rebind(WireId id, const Binding& binding);

  // --- Data ---
  // kResourceExhausted: no room; poll and try again. What is posted stays the application's, and
  // as it is, until its completion: kSent or kReceived, kRejected, or the end of the connection.
  absl::Status PostSend(WireId id, const SendRequest& request);
  absl::Status PostWrite(WireId id, const WriteRequest& request);
  absl::Status PostReceive(WireId id, const ReceiveRequest& request);
  size_t Poll(std::span<Completion> out);

  // --- Looking in ---
  const NicDevice& device() const { return *device_; }
  const ContextOptions& options() const { return options_; }
  uint32_t workers() const { return static_cast<uint32_t>(channels_.size()); }
  Counters counters();  // of all endpoints
  PollStats poll_stats(uint32_t worker) const;
  // Of a connection that has ended: until another takes its place.
  absl::StatusOr<ConnectionInfo> Describe(WireId id);
  std::vector<ConnectionInfo> Connections();

 private:
  Context(const ContextOptions& options, std::unique_ptr<NicDevice> device);
  absl::Status Start();
  EndpointConfig EndpointFor(uint32_t worker) const;
  Channel* ChannelOf(WireId id);
  const Binding& Keep(const Binding& binding);
  absl::Status Post(WireId id, const Posting& posting);
  absl::Status OnEndpoint(WireId id, absl::FunctionRef<absl::Status(Time, Endpoint&)> work);

  ContextOptions options_;
  std::list<Binding> bindings_;        // of connections; each is kept once
  std::unique_ptr<NicDevice> device_;  // outlives the engine
  std::unique_ptr<Engine> engine_;
  std::vector<Channel*> channels_;  // by worker
  uint32_t next_worker_ = 0;        // for the next connection
  uint32_t next_poll_ = 0;          // where the next Poll begins
};

}  // namespace weir
