// The devices that a device can send to.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nic_drivers/verbs/peer_message.h"

namespace weir {

using IpKey = std::array<uint8_t, 16>;

// Addresses of one peer: each path with a flow label of its own, which devices that choose the UDP
// source port by address rather than by queue pair hash; each class with its DSCP.
class Peer {
 public:
  struct Local {
    ibv_pd* domain = nullptr;
    uint8_t port = 1;
    uint8_t gid_index = 0;
    uint32_t paths = 1;
  };
  static absl::StatusOr<std::shared_ptr<const Peer>> Create(const Local& local,
                                                            const PeerMessage& message);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const PeerMessage& message() const { return message_; }
  ibv_ah* handle(uint32_t path, bool control) const {
    return handles_[2 * (path % (handles_.size() / 2)) + (control ? 1 : 0)];
  }
  // The queue pair of the queue that polls for `worker`.
  uint32_t pair(uint32_t worker, uint32_t path) const {
    const auto paths = static_cast<uint32_t>(message_.pairs.size()) / message_.queues;
    return message_.pairs[worker % message_.queues * paths + path % paths];
  }

 private:
  explicit Peer(const PeerMessage& message) : message_(message) {}

  PeerMessage message_;
  std::vector<ibv_ah*> handles_;  // path by path: data, control
};

using PeerMap = std::map<IpKey, std::shared_ptr<const Peer>>;

// Written by the exchange, read by the threads that poll. A peer that was replaced stays until the
// table ends, since frames on their way may refer to it.
class PeerTable {
 public:
  explicit PeerTable(const Peer::Local& local) : local_(local) {}

  // Makes `message` known. Whoever had its address before is forgotten.
  absl::Status Learn(const PeerMessage& message);
  // Changes with each that is learned.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  PeerMap Copy() const;

 private:
  Peer::Local local_;
  mutable std::mutex mutex_;
  PeerMap peers_;
  std::vector<std::shared_ptr<const Peer>> replaced_;
  std::atomic<uint64_t> version_{1};
};

}  // namespace weir
