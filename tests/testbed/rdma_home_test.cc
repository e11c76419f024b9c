// The RDMA mode as a home of experiments, over devices that answer at once.
#include "testbed/live/rdma_home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <queue>

#include "cc_algos/registry.h"
#include "lb_policies/registry.h"
#include "testbed/experiment/experiment.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

// Two of them are joined; what one posts is there at the other's next poll.
class PromptDevice final : public ChunkDevice, public ChunkPort {
 public:
  explicit PromptDevice(uint32_t ip) : address_(NetAddress::V4(ip, 0)) {
    caps_.line_rate = Gbps(100);
  }
  void Join(PromptDevice& other) { other_ = &other; }

  ChunkPort& port() override { return *this; }
  const NetAddress& address() const override { return address_; }
  absl::Status RegisterMemory(std::byte*, size_t) override { return absl::OkStatus(); }
  absl::StatusOr<uint32_t> RegisterRegion(std::byte*, size_t size) override {
    region_ = size;
    return uint32_t{0};
  }
  std::vector<std::string> features() const override { return {}; }

  // A step of the common clock with each look at it.
  Time Now() override { return *clock_ = *clock_ + Nanos(100); }
  const ChunkCaps& caps() const override { return caps_; }
  absl::StatusOr<LinkId> Open(const LinkRequest& request) override {
    const LinkId link = (*links_)++;
    Tell({.kind = ChunkEvent::Kind::kOpened, .link = link, .paths = request.paths});
    other_->Tell({.kind = ChunkEvent::Kind::kAccepted, .link = link, .paths = request.paths});
    return link;
  }
  void Close(LinkId) override {}
  bool Reads(const std::byte*, uint64_t) const override { return true; }
  uint64_t RegionSize(LinkId, uint32_t) const override { return other_->region_; }
  bool Post(LinkId link, PathId path, const Chunk& chunk) override {
    using Kind = ChunkEvent::Kind;
    Tell({.kind = Kind::kDone, .path = path, .link = link, .cookie = chunk.cookie});
    if (!chunk.tell) return true;
    other_->Tell({.kind = Kind::kArrived, .link = link, .word = chunk.word, .size = chunk.size});
    return true;
  }
  size_t Poll(std::span<ChunkEvent> out) override {
    size_t n = 0;
    for (; n < out.size() && !events_.empty(); ++n) {
      out[n] = events_.front();
      out[n].at = Now();
      events_.pop();
    }
    return n;
  }

 private:
  void Tell(const ChunkEvent& event) { events_.push(event); }

  NetAddress address_;
  ChunkCaps caps_;
  uint64_t region_ = 0;
  PromptDevice* other_ = nullptr;
  std::queue<ChunkEvent> events_;
  inline static std::shared_ptr<Time> clock_ = std::make_shared<Time>();
  inline static std::shared_ptr<LinkId> links_ = std::make_shared<LinkId>();
};

TEST(RdmaHomeTest, ConnectionsAndMessagesAreTheExperiments) {
  auto a = std::make_unique<PromptDevice>(1), b = std::make_unique<PromptDevice>(2);
  a->Join(*b);
  b->Join(*a);
  std::vector<std::unique_ptr<ChunkDevice>> devices;
  devices.push_back(std::move(a));
  devices.push_back(std::move(b));
  RdmaHome home(std::move(devices), {.region = 300'000, .rates = {Gbps(100), Gbps(100)}});
  const CcEntry* cc = FindCc("swift");
  const LbEntry* lb = FindLb("round_robin");
  const Binding binding{
      .cc = cc, .cc_config = cc->defaults(), .lb = lb, .lb_config = lb->defaults(), .paths = 4};
  EndpointConfig config;
  config.binding = &binding;
  config.base_rtt = Micros(5);
  for (const uint32_t host : {0u, 1u}) ASSERT_TRUE(home.AddHost(host, config, {}).ok());
  int received = 0, sent = 0, timers = 0;
  std::vector<WireId> accepted;
  home.on_completion = [&](uint32_t host, const Completion& c) {
    if (c.event == Event::kAccepted) {
      EXPECT_EQ(host, 1u);
      accepted.push_back(c.connection);
    }
    sent += c.event == Event::kSent ? 1 : 0;
    if (c.event != Event::kReceived) return;
    ++received;
    EXPECT_EQ(c.bytes, 300'000u);
    EXPECT_EQ(host, 1u);
  };
  home.on_timer = [&] { ++timers; };
  const auto first = home.Connect(0, 1, binding), second = home.Connect(0, 1, binding);
  ASSERT_TRUE(first.ok() && second.ok());
  home.RunUntil(home.now() + Micros(5));
  ASSERT_EQ(accepted.size(), 2u);
  EXPECT_EQ(home.OpenerOf(1, accepted[0])->id, *first);
  EXPECT_EQ(home.OpenerOf(1, accepted[1])->id, *second);
  EXPECT_FALSE(home.OpenerOf(0, accepted[1]).has_value());
  home.StartWatching();
  home.SetTimer(home.now() + Micros(1));
  for (const WireId id : {*first, *second}) {
    ASSERT_TRUE(home.PostWrite(0, id, {.length = 300'000, .notify = true}).ok());
  }
  EXPECT_FALSE(home.PostWrite(0, *first, {.length = 300'001}).ok());
  home.RunUntil(home.now() + Millis(1));
  EXPECT_EQ(sent, 2);
  EXPECT_EQ(received, 2);
  EXPECT_EQ(timers, 1);
  const Counters counters = home.TotalCounters();
  EXPECT_EQ(counters.data_packets_sent, 10u);  // 300,000 bytes are five chunks of 64 KiB
  EXPECT_EQ(counters.data_bytes_received, 600'000u);
  EXPECT_EQ(home.InFlight(0, *first), Bytes(0));
  EXPECT_GT(home.real_time()->seconds, 0);
}

constexpr char kExperiment[] = R"(
schema = 1
name = "two hosts"
[fabric]
topology = "single_bottleneck"
senders = 1
rate = "100Gbps"
[[ports]]
name = "verbs:rxe0"
[[ports]]
name = "verbs:rxe1"
[traffic]
type = "collective"
collective = "alltoall"
ranks = 2
size = "1MiB"
[[arms]]
name = "one"
cc = "swift"
lb = "power_of_two"
[run]
home = "rdma"
)";

TEST(RdmaHomeTest, WhatNeedsMoreThanCompletionsIsRefusedByName) {
  const auto error = [](const std::vector<std::string>& sets) {
    return std::string(ParseExperiment(kExperiment, "a.toml", sets).status().message());
  };
  EXPECT_EQ(error({}), "");
  EXPECT_THAT(error({"arms.0.cc=nscc"}), HasSubstr("nscc with power_of_two needs mark echo"));
  EXPECT_THAT(error({"arms.0.cc=rccc"}), HasSubstr("receiver credit"));
  EXPECT_THAT(error({"arms.0.lb=reps"}), HasSubstr("home = \"rdma\" does not give"));
  EXPECT_EQ(error({"transport.chunk=8KiB"}), "");
  for (const char* packets : {"payload=1408B", "retries=3", "rto_min=1ms"}) {
    EXPECT_THAT(error({std::string("transport.") + packets}), HasSubstr("is of packets"));
  }
  EXPECT_THAT(error({"transport.chunk=1B"}), HasSubstr("must be 1KiB to 4MiB"));
  EXPECT_THAT(error({"transport.chunk=8KiB", "run.home=ports"}), HasSubstr("is of the RDMA mode"));
}

}  // namespace
}  // namespace weir
