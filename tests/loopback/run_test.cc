// Whole runs in the loopback testbed: real time, real ports, real threads. Nothing here depends on
// how fast the machine is; what a busy machine spoils are figures, and none are looked at.
#ifdef WEIR_HAS_DPDK

#include <memory>
#include <string>
#include <vector>

#include "cc_algos/registry.h"
#include "gtest/gtest.h"
#include "lb_policies/registry.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/runner.h"
#include "testbed/loopback/loopback_home.h"

namespace weir {
namespace {

constexpr const char* kLeafSpine =
    "[fabric]\ntopology = \"leaf_spine\"\nleaves = 2\nhosts_per_leaf = 3\nspines = 2\n"
    "rate = \"100Gbps\"\n";

RunResult RunIt(const std::string& text, const std::vector<std::string>& sets = {}) {
  std::vector<std::string> all = {"run.home=loopback", "run.time_scale=0.001",
                                  "run.time_limit=20ms"};
  all.insert(all.end(), sets.begin(), sets.end());
  const absl::StatusOr<Experiment> e = ParseExperiment(text, "test", all);
  EXPECT_TRUE(e.ok()) << e.status();
  if (!e.ok()) return {};
  RunResult result = RunArm(*e, e->arms[0], 1);
  EXPECT_TRUE(result.finished);
  for (const std::string& warning : result.warnings) ADD_FAILURE() << warning;
  for (const std::string& breach : result.breaches) ADD_FAILURE() << breach;
  return result;
}

std::string Traffic(const std::string& type, const std::string& size, const std::string& cc,
                    const std::string& lb) {
  return std::string(kLeafSpine) + "[traffic]\ntype = \"" + type + "\"\nsize = \"" + size +
         "\"\n[[arms]]\ncc = \"" + cc + "\"\nlb = \"" + lb + "\"\n";
}

TEST(LoopbackRunTest, APermutationFinishesAndTheBooksBalance) {
  const RunResult r = RunIt(Traffic("permutation", "400kB", "nscc", "reps"));
  ASSERT_TRUE(r.real_time.has_value());
  EXPECT_EQ(r.real_time->time_scale, 0.001);
  EXPECT_FALSE(r.real_time->chosen_here);
  EXPECT_GE(r.real_time->host_threads, 1u);
  EXPECT_GT(r.real_time->seconds, 0);
  EXPECT_EQ(r.counters.data_bytes_received, 6u * 400'000);
  // 400 kB at 100 Gb/s, on the experiment's clock: no machine is faster.
  EXPECT_GE(r.makespan, Bytes(400'000) / Gbps(100));
}

TEST(LoopbackRunTest, AnIncastFinishesAndTheBooksBalance) {
  for (const char* cc : {"dcqcn", "rccc"}) {
    const RunResult r = RunIt(Traffic("incast", "200kB", cc, "oblivious"), {"traffic.senders=4"});
    EXPECT_EQ(r.counters.data_bytes_received, 4u * 200'000);
    EXPECT_GE(r.makespan, Bytes(4 * 200'000) / Gbps(100));
  }
}

TEST(LoopbackRunTest, IPv6AndTelemetryWorkToo) {
  const RunResult r = RunIt(Traffic("permutation", "100kB", "swift", "ecmp"),
                            {"transport.ip=v6", "fabric.telemetry=true"});
  EXPECT_EQ(r.counters.bad_frames + r.counters.bad_checksums, 0u);
}

TEST(LoopbackRunTest, RingStepsFollowEachOther) {
  const RunResult r = RunIt(Traffic("ring_all_reduce", "60kB", "nscc", "reps"));
  EXPECT_EQ(r.transfers.size(), 6u * 10);
}

TEST(LoopbackRunTest, ALinkGoesDownAndComesBack) {
  const RunResult r = RunIt(Traffic("permutation", "400kB", "nscc", "reps") +
                            "[[faults]]\nkind = \"link_down\"\nlink = \"leaf0-spine1\"\n"
                            "at = \"5us\"\nfor = \"60us\"\n");
  EXPECT_GT(r.fabric->stats.lost_by_fault, 0u);
}

TEST(LoopbackRunTest, AHostThatStandsStillKnowsIt) {
  const RunResult r = RunIt(Traffic("permutation", "400kB", "nscc", "reps") +
                            "[[faults]]\nkind = \"host_stall\"\nhost = 1\n"
                            "at = \"5us\"\nfor = \"200us\"\n");
  EXPECT_GT(r.counters.host_stalls, 0u);
  EXPECT_GE(r.makespan, Micros(200));
}

// --- Content ---

constexpr uint32_t kHosts = 4;
constexpr uint32_t kBytes = 150'001;  // and the last packet of each is short
constexpr Duration kLimit = Millis(50);

// Each host writes to each other; its memory holds what it sends, and room for what it gets.
class Content {
 public:
  explicit Content(const LoopbackConfig& config)
      : home_(LeafSpine({.leaves = 2, .hosts_per_leaf = 2, .spines = 2, .rate = Gbps(100)}),
              config),
        binding_{.cc = FindCc("nscc"), .lb = FindLb("reps")} {
    binding_.cc_config = binding_.cc->defaults();
    binding_.lb_config = binding_.lb->defaults();
    home_.on_completion = [this](uint32_t host, const Completion& c) { Note(host, c); };
    home_.on_timer = [] {};
    for (uint32_t host = 0; host < kHosts; ++host) {
      memory_.emplace_back(2 * kHosts * kBytes);
      for (uint32_t to = 0; to < kHosts; ++to) {
        for (uint32_t i = 0; i < kBytes; ++i) *Source(host, to, i) = Expected(host, to, i);
      }
      EndpointConfig c;
      c.binding = &binding_;
      c.base_rtt = Micros(10);
      c.trimming = config.switches.trimming;
      c.signals = c.signals | Signal::kTrimNotice;
      c.payload_crc = true;
      EXPECT_TRUE(home_.AddHost(host, c, {memory_[host].data(), memory_[host].size()}).ok());
    }
    EXPECT_TRUE(home_.Start().ok());
  }

  // Opens, writes, and closes; the first thing that went wrong, or empty.
  std::string Run(const std::vector<Fault>& faults) {
    for (uint32_t from = 0; from < kHosts; ++from) {
      for (uint32_t to = 0; to < kHosts; ++to) {
        if (to == from) continue;
        const absl::StatusOr<WireId> id = home_.Connect(from, to, binding_);
        if (!id.ok()) return std::string(id.status().message());
        links_.push_back({from, to, *id});
      }
    }
    if (!StepUntil(opened_)) return "not all opened";
    home_.StartFaults(faults, kLimit);
    for (const Link& link : links_) {
      const absl::Status posted = home_.PostWrite(link.from, link.id,
                                                  {.data = Source(link.from, link.to, 0),
                                                   .length = kBytes,
                                                   .address = (kHosts + link.from) * kBytes,
                                                   .notify = true});
      if (!posted.ok()) return std::string(posted.message());
    }
    if (!StepUntil(sent_)) return "not all was sent";
    if (!StepUntil(received_)) return "not all was received";
    for (const Link& link : links_) home_.Close(link.from, link.id);
    if (!StepUntil(closed_)) return "not all closed";
    if (!StepUntil(closed_there_)) return "not all peers closed";
    if (std::string wrong = FindWrongByte(); !wrong.empty()) return wrong;
    return home_.CheckQuiet();
  }
  LoopbackHome& home() { return home_; }

 private:
  struct Link {
    uint32_t from;
    uint32_t to;
    WireId id;
  };
  static std::byte Expected(uint32_t from, uint32_t to, uint32_t i) {
    return std::byte{static_cast<uint8_t>((i * 31 + i / 251 + from * 7 + to * 13) & 0xFF)};
  }
  std::byte* Source(uint32_t host, uint32_t to, uint32_t i) {
    return memory_[host].data() + size_t{to} * kBytes + i;
  }
  void Note(uint32_t host, const Completion& c) {
    switch (c.event) {
      case Event::kOpened:
        ++opened_;
        return;
      case Event::kSent:
        ++sent_;
        return;
      case Event::kReceived:
        ++received_;
        return;
      case Event::kClosed:
        ++(IsOurs(host, c.connection) ? closed_ : closed_there_);
        return;
      case Event::kAccepted:
        return;
      default:
        ADD_FAILURE() << Name(c.cause);
    }
  }
  bool IsOurs(uint32_t host, WireId id) const {
    return std::any_of(links_.begin(), links_.end(),
                       [&](const Link& link) { return link.from == host && link.id == id; });
  }
  bool StepUntil(const size_t& count) {
    const Time limit = home_.now() + kLimit;
    while (count < links_.size() && home_.Step(limit)) {
    }
    return count == links_.size();
  }
  std::string FindWrongByte() {
    for (const Link& link : links_) {
      const std::byte* got = memory_[link.to].data() + size_t{kHosts + link.from} * kBytes;
      for (uint32_t i = 0; i < kBytes; ++i) {
        if (got[i] == Expected(link.from, link.to, i)) continue;
        return "byte " + std::to_string(i) + " from host " + std::to_string(link.from) + " to " +
               std::to_string(link.to) + " is wrong";
      }
    }
    return "";
  }

  std::vector<std::vector<std::byte>> memory_;
  LoopbackHome home_;
  Binding binding_;
  std::vector<Link> links_;
  size_t opened_ = 0, sent_ = 0, received_ = 0, closed_ = 0, closed_there_ = 0;
};

LoopbackConfig ContentConfig() {
  LoopbackConfig config{.packet = Bytes(4096 + DataOverhead(false)),
                        .bdp = Gbps(100) * Micros(10),
                        .time_scale = 0.002};
  config.switches = {.queue_limit = Bytes(60'000), .trimming = true};
  return config;
}

TEST(LoopbackContentTest, EveryByteArrivesAndNothingIsLeft) {
  Content content(ContentConfig());
  EXPECT_EQ(content.Run({}), "");
}

TEST(LoopbackContentTest, EveryByteArrivesThroughDamage) {
  Content content(ContentConfig());
  const std::vector<Fault> faults = {
      {.kind = FaultKind::kImpairment,
       .impairment = {.loss = 0.01, .corruption = 0.02, .duplication = 0.02, .reordering = 0.02}}};
  EXPECT_EQ(content.Run(faults), "");
  const FabricStats& stats = content.home().fabric()->stats();
  EXPECT_GT(stats.lost_by_fault, 0u);
  EXPECT_GT(stats.corrupted, 0u);
  EXPECT_GT(stats.duplicated, 0u);
}

}  // namespace
}  // namespace weir

#endif  // WEIR_HAS_DPDK
