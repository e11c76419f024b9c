// A host that answers, in a thread of the test's, over the kernel's UDP sockets on the loopback
// interface; and addresses that no other test of this machine uses meanwhile.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_format.h"
#include "nic_drivers/registry.h"
#include "testbed/nic/answerer.h"
#include "testbed/nic/remote_host.h"
#include "tests/support/faulty_device.h"

namespace weir {

// `host`: 1 of A, 2 of B.
inline DeviceOptions LoopbackDevice(int host) {
  const int pid = getpid();
  DeviceOptions options;
  options.device = "udp:lo";
  options.address = absl::StrFormat("127.%d.%d.%d/8", 64 + (pid >> 8) % 64, pid & 255, host);
  return options;
}

inline DeviceOpener OpenerWith(const PortFaults& faults) {
  return [faults](const DeviceOptions& o) -> absl::StatusOr<std::unique_ptr<NicDevice>> {
    auto device = OpenDevice(o);
    if (!device.ok()) return device.status();
    return std::make_unique<FaultyDevice>(*std::move(device), faults);
  };
}

class AnswerThread {
 public:
  static Answerer::Config Loopback(const PortFaults& faults = PortFaults()) {
    return {.device = LoopbackDevice(2), .open = OpenerWith(faults)};
  }
  explicit AnswerThread(Answerer::Config config = Loopback())
      : answerer_(*LineListener::Open({.host = "127.0.0.1", .port = 0}), std::move(config)),
        thread_([this] { Run(); }) {}
  ~AnswerThread() {
    stop_ = true;
    thread_.join();
  }
  AnswerThread(const AnswerThread&) = delete;
  AnswerThread& operator=(const AnswerThread&) = delete;

  HostPort at() const { return {.host = "127.0.0.1", .port = answerer_.port()}; }
  // Until so many checkers have come and gone.
  void AwaitEnded(uint32_t count) const {
    while (ended_ < count) std::this_thread::yield();
  }
  uint32_t done() const { return done_; }

 private:
  void Run() {
    while (!stop_) {
      answerer_.Step();
      done_ = answerer_.done();
      ended_ = answerer_.ended();
    }
  }

  Answerer answerer_;
  std::atomic<bool> stop_{false};
  std::atomic<uint32_t> ended_{0}, done_{0};
  std::thread thread_;
};

// A peer that says what the test wants, line by line.
class RawPeer {
 public:
  explicit RawPeer(const HostPort& to)
      : socket_(*LineSocket::Connect(to, std::chrono::seconds(10))) {}
  explicit RawPeer(LineSocket socket) : socket_(std::move(socket)) {}

  void Say(const std::string& line) { EXPECT_TRUE(socket_.Send(line).ok()); }
  // The next line; "closed" when there will be none.
  std::string Hear() {
    while (true) {
      auto line = socket_.Receive();
      if (!line.ok()) return "closed";
      if (line->has_value()) return **line;
      socket_.Wait(std::chrono::seconds(1));
    }
  }
  std::string Ask(const std::string& line) {
    Say(line);
    return Hear();
  }

 private:
  LineSocket socket_;
};

inline std::string Hello(const std::string& version = WEIR_VERSION) {
  return nlohmann::json{{"do", "hello"}, {"version", version}}.dump();
}

}  // namespace weir
