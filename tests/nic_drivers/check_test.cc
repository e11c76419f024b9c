// weir nic check: what it says of ports that work, and that it names what is wrong with others.
#include "testbed/nic/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nic_drivers/dpdk/ring_pair.h"
#include "testbed/nic/exchange.h"
#include "testbed/nic/matrix.h"
#include "tests/support/faulty_device.h"

namespace weir {
namespace {

using testing::HasSubstr;

CheckOptions RingOptions() {
  CheckOptions options{.label = "rings"};
  options.a.device = options.b.device = "ring";
  options.a.address = "10.0.0.1/24";
  options.b.address = "10.0.0.2/24";
  options.frames = 500;
  options.first_frame_max = std::chrono::milliseconds(100);
  return options;
}

// Rings, with the faults of each side around them.
CheckHosts Rings(const PortFaults& a = PortFaults(), const PortFaults& b = PortFaults()) {
  return HostsHere(
      [a, b](const DeviceOptions& first,
             const DeviceOptions& second) -> absl::StatusOr<DevicePair> {
        auto pair = OpenRingPair(first, second);
        if (!pair.ok()) return pair.status();
        return DevicePair{std::make_unique<FaultyDevice>(std::move(pair->first), a),
                          std::make_unique<FaultyDevice>(std::move(pair->second), b)};
      },
      {});
}

std::string Failures(const CheckOptions& options, CheckHosts hosts) {
  const absl::StatusOr<CheckReport> report = RunChecks(options, std::move(hosts), {});
  if (!report.ok()) return std::string(report.status().message());
  std::string text;
  for (const CheckOutcome& o : report->outcomes) {
    if (o.result == CheckResult::kFailed) text += o.name + ": " + o.text + "\n";
  }
  return text;
}

std::string FrameFailures(const PortFaults& a, const PortFaults& b) {
  CheckOptions options = RingOptions();
  options.only = {"frames"};
  return Failures(options, Rings(a, b));
}

TEST(NicCheckTest, APairThatWorksPassesAllThatItCan) {
  const absl::StatusOr<CheckReport> report = RunChecks(RingOptions(), Rings(), {});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->Count(CheckResult::kFailed), 0u) << CheckMarkdown(*report);
  EXPECT_EQ(report->Count(CheckResult::kSkipped), 4u) << CheckMarkdown(*report);
  EXPECT_EQ(report->outcomes.size(), CheckNames().size());

  const nlohmann::json json = CheckJson(*report);
  EXPECT_EQ(json["schema"], "weir.nic_check/1");
  EXPECT_EQ(json["devices"][0]["driver"], "net_ring");
  EXPECT_EQ(json["checks"].size(), report->outcomes.size());
  const absl::StatusOr<std::string> matrix = MatrixMarkdown({json});
  ASSERT_TRUE(matrix.ok()) << matrix.status().message();
  EXPECT_THAT(*matrix, HasSubstr("| rings | passed |"));
  EXPECT_THAT(*matrix, HasSubstr("the two can only be opened together"));
  EXPECT_FALSE(MatrixMarkdown({nlohmann::json{{"schema", "other"}}}).ok());
}

TEST(NicCheckTest, AMatrixHasTheColumnsOfAllReportsAndEveryRowHasThem) {
  const auto report = [](const char* driver, const char* ability, const char* check) {
    return nlohmann::json{{"schema", "weir.nic_check/1"},
                          {"label", driver},
                          {"devices",
                           {{{"driver", driver},
                             {"queues_max", 1},
                             {"mtu_max_bytes", 1500},
                             {"abilities", {{{"name", ability}, {"offered", true}}}}}}},
                          {"checks", {{{"name", check}, {"result", "passed"}, {"text", ""}}}}};
  };
  const absl::StatusOr<std::string> matrix =
      MatrixMarkdown({report("one", "flow rules", "link"), report("two", "inline", "frames")});
  ASSERT_TRUE(matrix.ok()) << matrix.status().message();
  EXPECT_THAT(*matrix, HasSubstr("| driver | queue pairs | MTU | flow rules | inline |"));
  EXPECT_THAT(*matrix, HasSubstr("| one | 1 | 1500 | yes | - |"));
  EXPECT_THAT(*matrix, HasSubstr("| two | 1 | 1500 | - | yes |"));
  EXPECT_THAT(*matrix, HasSubstr("| pair | link | frames |"));
  EXPECT_THAT(*matrix, HasSubstr("| two |  | passed |"));
}

TEST(NicCheckTest, AWrongMtuOnOneSideIsNamed) {
  CheckOptions options = RingOptions();
  options.a.mtu = 1500;
  options.b.mtu = 4000;
  options.only = {"MTU"};
  EXPECT_THAT(Failures(options, Rings()), HasSubstr("the MTU of A is 1500 bytes, that of B 4000"));
}

TEST(NicCheckTest, AWrongMtuBetweenIsMeasured) {
  // 1014 bytes of frame are 1000 of packet.
  EXPECT_THAT(FrameFailures({}, {.longest = 1014}),
              HasSubstr("A to B: packets of up to 1000 bytes arrive, longer ones do not"));
}

TEST(NicCheckTest, AFilterOfOneDirectionIsNamed) {
  EXPECT_THAT(FrameFailures({.deaf = true}, {}),
              HasSubstr("no frame arrives from B to A, while from A to B they do"));
}

TEST(NicCheckTest, ADeadWireIsNamed) {
  EXPECT_THAT(FrameFailures({.mute = true}, {.mute = true}),
              HasSubstr("no frame arrives either way"));
}

TEST(NicCheckTest, OnePercentOfLossIsMeasured) {
  // 1500 frames, and 8 of the first that got through: 15 of them are hundredth ones.
  EXPECT_THAT(FrameFailures({}, {.loses_every = 100}),
              HasSubstr("A to B: 1.00 % of frames are lost (15 of 1500); no device counts them"));
}

TEST(NicCheckTest, LostCompletionsAreNamed) {
  EXPECT_THAT(FrameFailures({.completions_max = 700}, {}),
              HasSubstr("its completions are lost; the driver is at fault"));
}

TEST(NicCheckTest, LengthsThatMakeNoSenseAreNamed) {
  EXPECT_THAT(FrameFailures({}, {.stretches_every = 50}),
              HasSubstr("says that a received frame has 2"));
  EXPECT_THAT(FrameFailures({}, {.cuts_every = 50}),
              HasSubstr("arrive with another length or content"));
}

TEST(NicCheckTest, DamageIsNamed) {
  EXPECT_THAT(FrameFailures({}, {.spoils_every = 50}),
              HasSubstr("arrive with another length or content"));
}

TEST(NicCheckTest, AClockThatRunsBackIsNamed) {
  EXPECT_THAT(FrameFailures({.clock_back_every = 97}, {}),
              HasSubstr("A to B: the sender's port has a clock that ran back by "));
  CheckOptions options = RingOptions();
  options.only = {"messages"};
  EXPECT_THAT(Failures(options, Rings({}, {.clock_back_every = 97})),
              HasSubstr("a port's clock ran backwards"));
}

// --- Endpoints over ports that lie or fail ---

struct FaultCase {
  const char* name;
  PortFaults client, server;
  const char* ends_with;  // part of the problem; nullptr: every byte arrives
};

class FaultyPortTest : public testing::TestWithParam<FaultCase> {};

TEST_P(FaultyPortTest, NeitherCrashesNorHangs) {
  const FaultCase& fault = GetParam();
  const CheckOptions options = RingOptions();
  const CheckHosts hosts = Rings(fault.client, fault.server);
  const absl::Status opened = hosts.open(options.a, options.b);
  ASSERT_TRUE(opened.ok()) << opened.message();
  ExchangeOptions exchange{.plugins = {{"dctcp", "reps"}}, .large = 200'000};
  exchange.patience = Millis(200);
  exchange.open_timeout = Millis(500);
  exchange.retries_max = 4;
  const ExchangeResult result = RunExchange(*hosts.a, *hosts.b, exchange);
  if (fault.ends_with == nullptr) {
    EXPECT_EQ(result.problem, "");
  } else {
    EXPECT_THAT(result.problem, HasSubstr(fault.ends_with));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, FaultyPortTest,
    testing::Values(
        FaultCase{"ShortBursts", {.burst_max = 1}, {.burst_max = 3}, nullptr},
        FaultCase{"Loss", {.loses_every = 50}, {.loses_every = 50}, nullptr},
        FaultCase{"NoBuffersNowAndThen", {.empty_every = 3}, {.empty_every = 2}, nullptr},
        FaultCase{"FramesCut", {.cuts_every = 40}, {.cuts_every = 40}, nullptr},
        FaultCase{"FramesStretched", {.stretches_every = 40}, {.stretches_every = 40}, nullptr},
        FaultCase{"ClockRunsBack", {.clock_back_every = 7}, {.clock_back_every = 11}, nullptr},
        FaultCase{"OnlyShortFrames", {.longest = 700}, {.longest = 700}, nullptr},
        FaultCase{"LostCompletions", {.completions_max = 60}, {}, "stopped answering"},
        FaultCase{"NoBuffersAtAll", {.empty_every = 1}, {}, "never answered"},
        FaultCase{"Mute", {.mute = true}, {}, "never answered"},
        FaultCase{"Deaf", {.deaf = true}, {}, "never answered"}),
    [](const auto& fault) { return fault.param.name; });

}  // namespace
}  // namespace weir
