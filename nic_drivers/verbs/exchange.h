// Finds peers by their IP address, and hears of the device's events: a socket, and a thread that
// waits for both, so that the threads that poll make no system calls for either.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "nic_drivers/verbs/peer_message.h"
#include "nic_drivers/verbs/peers.h"

namespace weir {

class PeerExchange {
 public:
  struct Config {
    PeerMessage own{};
    PeerTable* peers = nullptr;
    ibv_context* device = nullptr;
    std::function<void(int event)> on_event{};  // ibv_event_type; on the exchange's thread
  };
  // kUnavailable: the address and port cannot be had, with the cause.
  static absl::StatusOr<std::unique_ptr<PeerExchange>> Start(Config config);
  ~PeerExchange();
  PeerExchange(const PeerExchange&) = delete;
  PeerExchange& operator=(const PeerExchange&) = delete;

  // From any thread; does not wait.
  void Ask(const NetAddress& remote);
  // Whether `remote` has told of itself within the last second; completes its MAC address.
  // kUnavailable: it was asked now, try again; kNotFound: it answered, and cannot be reached.
  absl::Status Find(NetAddress& remote);

 private:
  using Clock = std::chrono::steady_clock;
  struct Heard {
    Clock::time_point at{};
    PeerMessage message{};
    absl::Status status{};
  };

  explicit PeerExchange(Config config) : config_(std::move(config)) {}
  absl::Status Open();
  void Send(const NetAddress& to, bool question);
  void Run();
  void HandleDatagram();
  void HandleEvent();

  Config config_;
  int socket_ = -1;
  int stop_ = -1;  // eventfd
  std::mutex mutex_;
  std::map<IpKey, Heard> heard_;
  std::thread thread_;
};

}  // namespace weir
