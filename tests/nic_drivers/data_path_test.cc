// What the data path does not do once it is set up: allocate, lock, call the kernel.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <thread>

#include "cc_algos/registry.h"
#include "datapath/endpoint.h"
#include "datapath/poll_loop.h"
#include "lb_policies/registry.h"
#include "nic_drivers/dpdk/ring_pair.h"
#define WEIR_DEFINE_NO_ALLOC
#include "tests/support/no_alloc.h"

namespace {
thread_local int64_t locks = 0;
std::atomic<int64_t> system_calls{0};
std::atomic<int> last_call{-1};

void CountCall(int, siginfo_t* info, void*) {
  system_calls.fetch_add(1);
  last_call.store(info->si_syscall);
}

// From here on every system call of this thread is counted, and does nothing, but those that end
// it.
bool WatchSystemCalls() {
  struct sigaction action = {};
  action.sa_sigaction = CountCall;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(SIGSYS, &action, nullptr) != 0) return false;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),  // the sign that watching is over
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
}  // namespace

// Stands before the library's, for DPDK's libraries, too.
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock next = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return next(mutex);
}

namespace weir {
namespace {

struct Counts {
  int64_t allocations = 0;
  int64_t locks = 0;
  uint64_t packets = 0;
};

class DataPathTest : public testing::TestWithParam<const CcEntry*> {};

TEST_P(DataPathTest, NeitherAllocatesNorLocksNorCallsTheKernel) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers call the kernel themselves";
#endif
  const bool one_path = GetParam()->one_path_because != nullptr;
  Binding binding{.cc = GetParam(), .lb = FindLb(one_path ? "ecmp" : "reps")};
  binding.cc_config = binding.cc->defaults();
  binding.lb_config = binding.lb->defaults();
  DeviceOptions options[2];
  options[0].address = "10.0.0.1/24";
  options[1].address = "10.0.0.2/24";
  options[0].mtu = options[1].mtu = 4400;
  auto devices = OpenRingPair(options[0], options[1]);
  ASSERT_TRUE(devices.ok()) << devices.status().message();
  NicDevice* device[2] = {devices->first.get(), devices->second.get()};
  std::unique_ptr<Endpoint> endpoint[2];
  for (int side = 0; side < 2; ++side) {
    EndpointConfig config;
    config.address = device[side]->address();
    config.binding = &binding;
    config.credit = binding.cc->receiver_half;
    config.credit_config = binding.cc_config;
    config.line_rate = Gbps(100);
    config.base_rtt = Micros(20);
    config.rto_min = Millis(20);
    for (const Signal s : kAllSignals) config.signals = config.signals | s;  // any algorithm's
    endpoint[side] = *Endpoint::Create(config);
  }
  std::vector<std::byte> from(1 << 20, std::byte{5});
  std::vector<std::byte> to(1 << 20);
  ASSERT_TRUE(device[0]->RegisterMemory(from.data(), from.size()).ok());
  const uint32_t region = *endpoint[1]->RegisterRegion(to.data(), to.size());
  NicPort* port[2] = {&device[0]->queue(0), &device[1]->queue(0)};
  const WireId id = *endpoint[0]->Connect(port[0]->Now(), device[1]->address(), binding);

  int under_way = 0;
  const auto turn = [&] {
    if (endpoint[0]->Find(id)->established() && under_way < 2) {
      const WriteRequest write{.data = from.data(), .length = 1 << 20, .region = region};
      if (endpoint[0]->PostWrite(port[0]->Now(), id, write).ok()) ++under_way;
    }
    for (int side = 0; side < 2; ++side) {
      PollOnce(*port[side], *endpoint[side]);
      Completion c;
      while (endpoint[side]->PollCompletion(c)) under_way -= c.event == Event::kSent ? 1 : 0;
    }
  };
  Counts counts;
  std::thread thread([&] {
    device[0]->EnterThread();
    const auto run = [&](uint64_t packets) {  // bounded by turns, since the clock may be a call
      const uint64_t goal = endpoint[1]->counters().data_packets_received + packets;
      for (int i = 0; i < 50'000'000; ++i) {
        if (endpoint[1]->counters().data_packets_received >= goal) return;
        turn();
      }
    };
    run(20'000);  // connections, pools and caches are filled
    if (!WatchSystemCalls()) return;
    const NoAlloc quiet;
    const int64_t locks_before = locks;
    const uint64_t packets_before = endpoint[1]->counters().data_packets_received;
    run(50'000);
    counts.allocations = quiet.count();
    counts.locks = locks - locks_before;
    counts.packets = endpoint[1]->counters().data_packets_received - packets_before;
    const int64_t calls = system_calls.load();
    if (getppid() != -1) counts.packets = 0;  // nothing was watched after all
    system_calls.store(calls);
    syscall(SYS_exit, 0);  // any other end would be counted
  });
  thread.join();
  EXPECT_GE(counts.packets, 50'000u);
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.locks, 0);
  EXPECT_EQ(system_calls.load(), 0) << "the last was number " << last_call.load();
}

std::vector<const CcEntry*> Entries() {
  std::vector<const CcEntry*> entries;
  for (const CcEntry& entry : AllCc()) entries.push_back(&entry);
  return entries;
}
INSTANTIATE_TEST_SUITE_P(Registry, DataPathTest, testing::ValuesIn(Entries()),
                         [](const auto& entry) {
                           std::string name = entry.param->name;
                           std::replace(name.begin(), name.end(), '+', '_');
                           return name;
                         });

}  // namespace
}  // namespace weir
