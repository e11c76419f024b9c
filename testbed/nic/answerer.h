// The process of a check over two hosts that is told what to do with its device: it answers one
// checker (RemoteHost) after the other.
//
// The first request says hello and names the version of Weir; the answer names ours and the device.
// These members are the same in every version, so that each side can name the other's. Then come
// requests of HostCommands, and "bye". Whatever else comes, or does not come, ends that checker's
// turn: the device is closed, and the next one is waited for.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "testbed/nic/check.h"
#include "testbed/nic/host_commands.h"
#include "testbed/nic/line_socket.h"

namespace weir {

class Answerer {
 public:
  struct Config {
    DeviceOptions device{};
    DeviceOpener open{};
    // A peer that has not said hello, and a checker that says nothing, for so long are let go.
    std::chrono::milliseconds hello_max{5'000};
    std::chrono::milliseconds silence_max{120'000};
  };
  Answerer(LineListener listener, Config config)
      : listener_(std::move(listener)), config_(std::move(config)) {}

  // One turn: polls the device, answers what has come. Waits for a moment while no device is open.
  void Step();
  // What happened since the last call, one line each.
  std::vector<std::string> TakeNews() { return std::exchange(news_, {}); }
  uint16_t port() const { return listener_.port(); }
  // Checkers that said hello and have gone; of these, those that said that they were done.
  uint32_t ended() const { return ended_; }
  uint32_t done() const { return done_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Checker {
    LineSocket socket;
    Clock::time_point heard = Clock::now();
    std::unique_ptr<HostCommands> commands{};  // once it said hello
  };
  // Was told why, and has a moment to read it.
  struct Leaving {
    LineSocket socket;
    Clock::time_point until{};
  };

  void AcceptOthers();
  void SeeOff();
  void Handle(const std::string& line);
  void Greet(const nlohmann::json& hello);
  absl::Status Reply(const nlohmann::json& reply);
  // `told`: what the checker is told as its last answer; null: nothing.
  void End(const std::string& why, const nlohmann::json& told);
  void Leave(LineSocket socket, const nlohmann::json& told);

  LineListener listener_;
  Config config_;
  std::optional<Checker> checker_;
  std::vector<Leaving> leaving_;
  Clock::time_point looked_{};  // for others
  std::vector<std::string> news_;
  uint32_t ended_ = 0, done_ = 0;
};

}  // namespace weir
