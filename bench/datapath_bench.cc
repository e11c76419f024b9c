// Cost of the datapath on DPDK ring devices, and a round trip over memif, each figure beside a
// yardstick of the same run: what testpmd needs to forward a packet, memcpy, a bare echo on the
// same ports.
//
// Sender and receiver take turns on one core, so the time of a packet is the work of both. Without
// dpdk-testpmd the first yardstick is left out. bench/datapath_bench [seconds a figure]
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cc_algos/registry.h"
#include "datapath/endpoint.h"
#include "datapath/poll_loop.h"
#include "lb_policies/registry.h"
#include "nic_drivers/dpdk/ring_pair.h"
#include "nic_drivers/registry.h"

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;
double InSeconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

double g_seconds = 0.5;

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "datapath_bench: %s\n", why.c_str());
  std::exit(1);
}

Binding Bind(const char* cc, const char* lb) {
  Binding b{.cc = FindCc(cc), .lb = FindLb(lb)};
  b.cc_config = b.cc->defaults();
  b.lb_config = b.lb->defaults();
  return b;
}

using Devices = std::array<std::unique_ptr<NicDevice>, 2>;

std::array<DeviceOptions, 2> Options() {
  std::array<DeviceOptions, 2> options;
  options[0].address = "10.0.0.1/24";
  options[1].address = "10.0.0.2/24";
  for (DeviceOptions& o : options) {
    o.mtu = 4400;
    o.line_rate = Gbps(1000);  // the processor is the limit
  }
  return options;
}

Devices Rings() {
  const auto [a, b] = Options();
  auto devices = OpenRingPair(a, b);
  if (!devices.ok()) Die(std::string(devices.status().message()));
  return {std::move(devices->first), std::move(devices->second)};
}

// Shared memory as between two processes, here with both ends in one.
Devices Memif() {
  auto options = Options();
  const std::string socket =
      "socket-abstract=no,socket=/tmp/weir_bench_memif" + std::to_string(getpid()) + ".sock";
  options[0].device = "dpdk:net_memif0,role=client," + socket;
  options[1].device = "dpdk:net_memif1,role=server," + socket;
  Devices devices;
  for (const int side : {1, 0}) {  // the server first
    auto device = OpenDevice(options[side]);
    if (!device.ok()) Die(std::string(device.status().message()));
    devices[side] = *std::move(device);
  }
  const Clock::time_point limit = Clock::now() + std::chrono::seconds(10);
  while (!devices[0]->link_up() || !devices[1]->link_up()) {
    if (Clock::now() > limit) Die("memif's ends did not find each other");
  }
  return devices;
}

// Two endpoints on a pair of devices.
class Bench {
 public:
  Bench(const Binding& binding, uint32_t connections, Devices devices = Rings())
      : binding_(binding), devices_(std::move(devices)) {
    for (int side = 0; side < 2; ++side) {
      EndpointConfig c;
      c.address = devices_[side]->address();
      c.binding = &binding_;
      c.line_rate = Gbps(1000);
      c.base_rtt = Micros(20);
      c.rto_min = Millis(50);
      c.connections_max = connections;
      c.tx_messages_max = std::max(4096u, 2 * connections);
      c.rx_messages_max = 4096;
      c.completions_max = 65536;
      c.tx_pages_max = std::max(4096u, 2 * connections);
      c.open_timeout = Seconds(60);
      for (const Signal s : kAllSignals) c.signals = c.signals | s;  // any algorithm's
      endpoints_[side] = *Endpoint::Create(c);
    }
  }

  NicPort& port(int side) { return devices_[side]->queue(0); }
  NicDevice& device(int side) { return *devices_[side]; }
  Endpoint& operator[](int side) { return *endpoints_[side]; }
  const std::vector<WireId>& ids() const { return ids_; }

  void Turn() {
    PollOnce(port(0), *endpoints_[0]);
    PollOnce(port(1), *endpoints_[1]);
  }
  // Opens that many; returns the longest turn, in seconds.
  double OpenAll(uint32_t connections) {
    Clock::duration longest{};
    uint32_t opened = 0;
    uint32_t asked = 0;
    const Clock::time_point limit = Clock::now() + std::chrono::seconds(60);
    while (opened < connections && Clock::now() < limit) {
      const Clock::time_point start = Clock::now();
      for (int i = 0; i < 16 && asked < connections && asked - opened < 512; ++i, ++asked) {
        NetAddress to = devices_[1]->address();
        absl::StatusOr<WireId> id = endpoints_[0]->Connect(port(0).Now(), to, binding_);
        if (!id.ok()) Die(std::string(id.status().message()));
        ids_.push_back(*id);
      }
      Turn();
      longest = std::max(longest, Clock::now() - start);
      Completion c;
      while (endpoints_[0]->PollCompletion(c)) {
        if (c.event != Event::kOpened) Die("a connection did not open");
        ++opened;
      }
      while (endpoints_[1]->PollCompletion(c)) {
      }
    }
    if (opened < connections) Die("not all connections opened");
    return InSeconds(longest);
  }

  struct Figures {
    double ns_a_packet = 0;
    double messages_a_second = 0;
    double bytes_a_second = 0;
  };
  // Writes of `length` bytes, `depth` on the way, over all connections in turn.
  Figures Stream(const std::byte* data, uint32_t length, uint32_t region, uint32_t depth) {
    uint32_t under_way = 0;
    size_t next = 0;
    uint64_t messages = 0;
    const auto turn = [&] {
      const Time now = port(0).Now();
      for (int i = 0; i < 32 && under_way < depth; ++i) {
        const WriteRequest write{.data = data, .length = length, .region = region};
        if (!endpoints_[0]->PostWrite(now, ids_[next++ % ids_.size()], write).ok()) break;
        ++under_way;
      }
      Turn();
      Completion c;
      while (endpoints_[0]->PollCompletion(c)) {
        if (c.event != Event::kSent) Die(std::string("a connection ended: ") + Name(c.cause));
        --under_way;
        ++messages;
      }
    };
    for (int i = 0; i < 20'000; ++i) turn();  // warm
    messages = 0;
    const uint64_t packets = endpoints_[1]->counters().data_packets_received;
    const Clock::time_point start = Clock::now();
    while (InSeconds(Clock::now() - start) < g_seconds) {
      for (int i = 0; i < 200; ++i) turn();
    }
    const double seconds = InSeconds(Clock::now() - start);
    const auto moved =
        static_cast<double>(endpoints_[1]->counters().data_packets_received - packets);
    const Figures figures{.ns_a_packet = seconds * 1e9 / moved,
                          .messages_a_second = static_cast<double>(messages) / seconds,
                          .bytes_a_second = static_cast<double>(messages) * length / seconds};
    while (under_way > 0) {
      Turn();
      Completion c;
      while (endpoints_[0]->PollCompletion(c)) --under_way;
    }
    return figures;
  }

 private:
  Binding binding_;
  Devices devices_;
  std::array<std::unique_ptr<Endpoint>, 2> endpoints_;
  std::vector<WireId> ids_;
};

// Nanoseconds in which testpmd forwards a packet from one null port to another; nothing if there is
// no testpmd.
std::optional<double> TestpmdNanos() {
  const std::string command =
      "timeout -s INT 4 dpdk-testpmd -l 0,1 --no-huge -m 128 --no-pci --file-prefix weirbench" +
      std::to_string(getpid()) +
      " --vdev net_null0 --vdev net_null1 -- --no-mlockall --total-num-mbufs=8192 --auto-start "
      "--stats-period 1 "
      "--forward-mode=io </dev/null 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  double best = 0;
  std::array<char, 512> line;
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) {
    const char* found = std::strstr(line.data(), "Rx-pps:");
    if (found != nullptr) best = std::max(best, std::atof(found + 7));
  }
  pclose(pipe);
  // Both ports' packets are forwarded by one core.
  return best > 0 ? std::optional(1e9 / (2 * best)) : std::nullopt;
}

double MemcpyBytesASecond(size_t block, size_t memory) {
  std::vector<std::byte> from(memory, std::byte{1});
  std::vector<std::byte> to(memory);
  uint64_t bytes = 0;
  const Clock::time_point start = Clock::now();
  while (InSeconds(Clock::now() - start) < g_seconds) {
    for (size_t at = 0; at + block <= memory; at += block, bytes += block) {
      std::memcpy(to.data() + at, from.data() + at, block);
    }
  }
  return static_cast<double>(bytes) / InSeconds(Clock::now() - start);
}

// Round trips of one frame between the two ports, no endpoint involved; ns.
double BareEcho(Bench& bench) {
  const FrameWriter there(bench.device(0).address(), bench.device(1).address(), 0);
  const FrameWriter back(bench.device(1).address(), bench.device(0).address(), 0);
  const ControlHeader h{.type = PacketType::kProbe};
  const auto send = [&](int side, const FrameWriter& writer) {
    std::array<Frame, 1> frame{};
    if (bench.port(side).TxFrames(frame) == 0) Die("no frame to send");
    frame[0].size = writer.Write(h, 0, frame[0].data);
    frame[0].cls = FrameClass::kControl;
    bench.port(side).TxBurst(frame);
  };
  const auto receive = [&](int side) {
    std::array<Frame, kBurst> frames;
    const size_t n = bench.port(side).RxBurst(frames);
    bench.port(side).Release(std::span(frames.data(), n));
    return n;
  };
  uint64_t trips = 0;
  const Clock::time_point start = Clock::now();
  while (InSeconds(Clock::now() - start) < g_seconds) {
    for (int i = 0; i < 100; ++i, ++trips) {
      send(0, there);
      while (receive(1) == 0) {
      }
      send(1, back);
      while (receive(0) == 0) {
      }
    }
  }
  return InSeconds(Clock::now() - start) * 1e9 / static_cast<double>(trips);
}

// Round trips of a message of 8 bytes, answered by another; ns.
double MessageEcho(Bench& bench) {
  static std::array<std::byte, 64> memory;
  Completion c;
  const WireId here = bench.ids()[0];
  const WireId there = bench[0].Find(here)->peer;
  uint64_t trips = 0;
  const auto post = [&](int side, WireId id) {
    const Time now = bench.port(side).Now();
    (void)bench[side].PostReceive(now, id, {.data = memory.data(), .capacity = 64});
  };
  const auto await = [&](int side) {
    while (true) {
      bench.Turn();
      while (bench[side].PollCompletion(c)) {
        if (c.event == Event::kReceived) return;
      }
    }
  };
  post(0, here);
  post(1, there);
  const Clock::time_point start = Clock::now();
  while (InSeconds(Clock::now() - start) < g_seconds) {
    for (int i = 0; i < 100; ++i, ++trips) {
      (void)bench[0].PostSend(bench.port(0).Now(), here, {.data = memory.data(), .length = 8});
      await(1);
      post(1, there);
      (void)bench[1].PostSend(bench.port(1).Now(), there, {.data = memory.data(), .length = 8});
      await(0);
      post(0, here);
    }
  }
  return InSeconds(Clock::now() - start) * 1e9 / static_cast<double>(trips);
}

double ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  double pages = 0;
  double resident = 0;
  in >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void Print(const char* what, double value, const char* unit, const std::string& beside) {
  std::printf("%-58s %10.2f %-7s %s\n", what, value, unit, beside.c_str());
  std::fflush(stdout);
}
std::string Times(double ratio, const char* of) {
  std::array<char, 128> text;
  std::snprintf(text.data(), text.size(), "%.2f x %s", ratio, of);
  return text.data();
}

void Packets() {
  const Binding binding = Bind("none", "oblivious");
  Bench bench(binding, 4);
  bench.OpenAll(1);
  const uint32_t nowhere = *bench[1].RegisterRegion(nullptr, 1ull << 40);
  const double packet = bench.Stream(nullptr, 64 * 4096, nowhere, 16).ns_a_packet;
  const std::optional<double> testpmd = TestpmdNanos();
  Print("data packet of 4 KiB, nothing placed, both sides", packet, "ns",
        testpmd ? Times(packet / *testpmd, "a packet forwarded by testpmd; aim 8") : "no testpmd");
  if (testpmd) Print("testpmd, a packet from null port to null port", *testpmd, "ns", "");

  const double rate = bench.Stream(nullptr, 64, nowhere, 512).messages_a_second;
  Print("messages of 64 B, both sides on one core", rate / 1e6, "M/s", "aim 10");

  std::vector<std::byte> from(16 << 20, std::byte{1});
  std::vector<std::byte> to(16 << 20);
  if (!bench.device(0).RegisterMemory(from.data(), from.size()).ok()) Die("memory");
  const uint32_t region = *bench[1].RegisterRegion(to.data(), to.size());
  const double placed = bench.Stream(from.data(), 16 << 20, region, 4).bytes_a_second;
  const double copied = MemcpyBytesASecond(4096, 16 << 20);
  Print("payload placed, messages of 16 MiB", placed / 1e9, "GB/s",
        Times(placed / copied, "memcpy in pieces of 4 KiB; aim 0.8"));
}

void RoundTrips() {
  const auto measure = [](const char* what, Devices devices) {
    Bench bench(Bind("none", "oblivious"), 4, std::move(devices));
    bench.OpenAll(1);
    const double bare = BareEcho(bench);
    const double echo = MessageEcho(bench);
    Print(what, echo, "ns", Times(echo / bare, "a bare echo on the same ports"));
  };
  measure("round trip of an 8 B message over rings, one core", Rings());
  measure("round trip of an 8 B message over memif, one core", Memif());
}

void Algorithms() {
  for (const CcEntry& cc : AllCc()) {
    const char* policy = cc.one_path_because == nullptr ? "reps" : "ecmp";
    Bench bench(Bind(cc.name, policy), 4);
    if (cc.receiver_half != nullptr) continue;  // its receiver half paces grants to the line rate
    bench.OpenAll(1);
    const uint32_t nowhere = *bench[1].RegisterRegion(nullptr, 1ull << 40);
    const std::string what = std::string("the same packet with ") + cc.name + " over " + policy;
    Print(what.c_str(), bench.Stream(nullptr, 64 * 4096, nowhere, 16).ns_a_packet, "ns", "");
  }
}

// Messages of one packet are acknowledged one by one as soon as each has a connection of its own;
// longer ones are not.
void Connections(uint32_t message) {
  double first = 0;
  for (const uint32_t connections : {1u, 100u, 10'000u}) {
    const double before = ResidentBytes();
    Bench bench(Bind("none", "oblivious"), connections);
    const double empty = ResidentBytes();
    const double longest = bench.OpenAll(connections);
    const double open = ResidentBytes();
    const uint32_t nowhere = *bench[1].RegisterRegion(nullptr, 1ull << 40);
    const double packet = bench.Stream(nullptr, message, nowhere, 512 * 4096 / message).ns_a_packet;
    if (first == 0) first = packet;
    const std::string what = "packet of messages of " + std::to_string(message / 1024) + " KiB, " +
                             std::to_string(connections) + " connections";
    Print(what.c_str(), packet, "ns", Times(packet / first, "that of one; aim 2"));
    if (connections < 10'000 || message > 4096) continue;
    Print("  longest turn while they were opened", longest * 1e6, "us", "aim 1000");
    Print("  memory of an idle connection, a side", (open - before) / 2 / connections, "B",
          "aim 2048; of it at creation " +
              std::to_string(static_cast<int>((empty - before) / 2 / connections)));
    Print("  size of its state", sizeof(Connection), "B", "");
  }
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) {
  if (argc > 1) weir::g_seconds = std::atof(argv[1]);
  weir::Packets();
  weir::RoundTrips();
  weir::Algorithms();
  weir::Connections(4096);
  weir::Connections(65536);
  return 0;
}
