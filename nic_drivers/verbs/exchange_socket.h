// The socket of one device on which peers ask, and a thread that waits for it and for the device's
// events, so that the threads that poll make no system calls for either.
#pragma once

#include <infiniband/verbs.h>

#include <functional>
#include <memory>
#include <span>
#include <thread>

#include "absl/status/statusor.h"
#include "datapath/wire.h"

namespace weir {

class ExchangeSocket {
 public:
  // All are called on the socket's thread.
  struct Config {
    NetAddress own{};
    ibv_context* device = nullptr;
    std::function<void(const NetAddress& from, std::span<const std::byte> bytes)> on_datagram{};
    std::function<void(int event)> on_event{};  // ibv_event_type
    std::function<void()> on_tick{};            // about every kTick; empty: never
  };
  static constexpr int kTick = 20;  // ms

  // kUnavailable: the address and port cannot be had, with the cause.
  static absl::StatusOr<std::unique_ptr<ExchangeSocket>> Start(Config config);
  ~ExchangeSocket();
  ExchangeSocket(const ExchangeSocket&) = delete;
  ExchangeSocket& operator=(const ExchangeSocket&) = delete;

  // From any thread; does not wait. What is lost is the caller's to send again.
  void Send(const NetAddress& to, std::span<const std::byte> bytes);

 private:
  explicit ExchangeSocket(Config config) : config_(std::move(config)) {}
  absl::Status Open();
  void Run();
  void HandleDatagram();
  void HandleEvent();

  Config config_;
  int socket_ = -1;
  int stop_ = -1;  // eventfd
  std::thread thread_;
};

}  // namespace weir
