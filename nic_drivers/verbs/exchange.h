// Finds peers by their IP address, and hears of the device's events.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "nic_drivers/verbs/exchange_socket.h"
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
  void Send(const NetAddress& to, bool question);
  void HandleDatagram(const NetAddress& from, std::span<const std::byte> bytes);

  Config config_;
  std::mutex mutex_;
  std::map<IpKey, Heard> heard_;
  std::unique_ptr<ExchangeSocket> socket_;  // the last, so that its thread ends first
};

}  // namespace weir
