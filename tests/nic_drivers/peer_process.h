// A second process that runs the other side of a test.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "nic_drivers/address_text.h"
#include "nic_drivers/registry.h"
#include "tests/nic_drivers/exchange.h"

namespace weir {

// Forked at once, before DPDK starts in either process; works when told to. Gone with this object.
class PeerProcess {
 public:
  using Wanted = std::function<bool()>;
  // `work` returns its problem or ""; it goes on while it is wanted. With a network of its own it
  // sees no interface of ours.
  explicit PeerProcess(const std::function<std::string(const Wanted&)>& work,
                       bool own_network = false) {
    if (pipe(go_) != 0) std::abort();
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ != 0) {
      close(go_[0]);
      return;
    }
    close(go_[1]);
    if (own_network && unshare(CLONE_NEWNET) != 0) _exit(2);
    char byte;
    if (read(go_[0], &byte, 1) != 1) _exit(2);  // the test gave up
    const std::string problem = work([this] {
      pollfd end = {.fd = go_[0], .events = POLLIN, .revents = 0};
      return poll(&end, 1, 0) == 0;
    });
    if (!problem.empty()) std::fprintf(stderr, "peer: %s\n", problem.c_str());
    std::fflush(nullptr);
    // As a process ends that was not forked from a test: DPDK's files go, too.
    std::exit(problem.empty() ? 0 : 1);
  }
  ~PeerProcess() {
    Stop();
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  pid_t pid() const { return pid_; }
  void Go() {
    if (write(go_[1], "g", 1) != 1) std::abort();
  }
  void Stop() {
    if (go_[1] >= 0) close(go_[1]);
    go_[1] = -1;
  }
  // Its exit code; -1 when it does not end in time.
  int Wait() {
    Stop();
    const Deadline deadline(60);
    int status = 0;
    while (!deadline.passed()) {
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      sched_yield();
    }
    return -1;
  }

 private:
  int go_[2] = {-1, -1};
  pid_t pid_ = 0;
};

// Opens a device and runs one side on it; the problem or "".
struct SideRun {
  DeviceOptions device;
  Side::Options side{};
  std::string peer{};                                    // of the client
  PeerProcess::Wanted wanted{};                          // of the server: it answers while it is
  std::function<std::string(const NicDevice&)> check{};  // at the end
  std::function<bool()> opened{};
};
inline std::string RunSide(const SideRun& run) {
  auto device = OpenDevice(run.device);
  if (!device.ok()) return std::string(device.status().message());
  if (run.opened && !run.opened()) return "the network could not be set up";
  NetAddress remote;
  if (run.side.client) remote = *ParseIp(run.peer);
  Side side(**device, run.side);
  while (side.Turn(run.side.client ? &remote : nullptr)) {
  }
  // The last acknowledgement may be lost, and then the peer asks again.
  const Deadline deadline(30);
  while (run.wanted && run.wanted() && !deadline.passed()) side.Poll();
  if (!side.problem().empty() || !run.check) return side.problem();
  return run.check(**device);
}

}  // namespace weir
