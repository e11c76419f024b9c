// Lines of text over a TCP connection of the kernel's.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "nic_drivers/owned_fd.h"

namespace weir {

inline constexpr size_t kLineMax = 256 * 1024;  // bytes

// "10.0.0.2", "host2:14970", "[fd00::2]:14970".
struct HostPort {
  std::string host{};
  uint16_t port = 0;

  std::string Text() const;
};
// kInvalidArgument, with the form.
absl::StatusOr<HostPort> ParseHostPort(const std::string& text, uint16_t usual_port);

class LineSocket {
 public:
  // kUnavailable: nobody listens there, or there is no way; kDeadlineExceeded: no answer in time.
  static absl::StatusOr<LineSocket> Connect(const HostPort& to, std::chrono::milliseconds max);
  LineSocket(OwnedFd fd, std::string peer) : fd_(std::move(fd)), peer_(std::move(peer)) {}

  // Waits for room, up to some seconds. kUnavailable: the connection is lost.
  absl::Status Send(const std::string& line);
  // The other end is told that nothing more will be sent.
  void EndSending() const;
  // A line without its end; none while no whole one has come. Never waits. kUnavailable: the
  // connection is lost; kInvalidArgument: a line is longer than kLineMax.
  absl::StatusOr<std::optional<std::string>> Receive();
  // Until something can be received, the connection is lost, or time is over.
  void Wait(std::chrono::milliseconds max) const;
  // The IP address of the other end.
  const std::string& peer() const { return peer_; }

 private:
  OwnedFd fd_;
  std::string peer_;
  std::string received_;  // and not yet taken
  size_t searched_ = 0;   // of received_: has no end of a line
};

class LineListener {
 public:
  // Port 0: any. kUnavailable: the port cannot be had; kInvalidArgument: no such address.
  static absl::StatusOr<LineListener> Open(const HostPort& at);

  // A connection that has come, if one has. Never waits.
  std::optional<LineSocket> Accept();
  void Wait(std::chrono::milliseconds max) const;
  uint16_t port() const { return port_; }

 private:
  LineListener(OwnedFd fd, uint16_t port) : fd_(std::move(fd)), port_(port) {}

  OwnedFd fd_;
  uint16_t port_;
};

}  // namespace weir
