// A second process that runs the other side of a test.
#pragma once

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
  // `work` returns its problem or "". With a network of its own it sees no interface of ours.
  explicit PeerProcess(const std::function<std::string()>& work, bool own_network = false) {
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
    const std::string problem = work();
    if (!problem.empty()) std::fprintf(stderr, "peer: %s\n", problem.c_str());
    std::fflush(nullptr);
    // As a process ends that was not forked from a test: DPDK's files go, too.
    std::exit(problem.empty() ? 0 : 1);
  }
  ~PeerProcess() {
    close(go_[1]);
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
  // Its exit code; -1 when it does not end in time.
  int Wait() {
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

// Opens a device and runs one side on it; the problem or "". `peer` only for the client.
inline std::string RunSide(const DeviceOptions& options, Side::Options side,
                           const std::string& peer = "",
                           const std::function<std::string(const NicDevice&)>& after = {}) {
  auto device = OpenDevice(options);
  if (!device.ok()) return std::string(device.status().message());
  NetAddress remote;
  if (side.client) remote = *ParseIp(peer);
  std::string problem;
  {
    Side it(**device, side);
    while (it.Turn(side.client ? &remote : nullptr)) {
    }
    problem = it.problem();
  }
  if (problem.empty() && after) problem = after(**device);
  return problem;
}

}  // namespace weir
