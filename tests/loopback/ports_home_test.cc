// Experiments over devices, here two that rings join: real time, real ports, real threads, and no
// model of a fabric. Nothing depends on how fast the machine is.
#ifdef WEIR_HAS_DPDK

#include "testbed/live/ports_home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testbed/experiment/experiment.h"
#include "testbed/experiment/read_result.h"
#include "testbed/experiment/report.h"
#include "testbed/experiment/runner.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kPair = R"(
[fabric]
topology = "single_bottleneck"
senders = 1
rate = "100Gbps"
[[ports]]
name = "ring"
address = "10.94.0.1/24"
mtu = 4400
[[ports]]
name = "ring"
address = "10.94.0.2/24"
mtu = 4400
[traffic]
type = "permutation"
size = "200kB"
[run]
home = "ports"
time_scale = 0.001
time_limit = "20ms"
)";

std::string With(const std::string& cc, const std::string& lb) {
  return std::string(kPair) + "[[arms]]\ncc = \"" + cc + "\"\nlb = \"" + lb + "\"\n";
}

RunResult RunIt(const std::string& text, const std::vector<std::string>& sets = {}) {
  const absl::StatusOr<Experiment> e = ParseExperiment(text, "test", sets);
  EXPECT_TRUE(e.ok()) << e.status();
  return e.ok() ? RunArm(*e, e->arms[0], 1) : RunResult();
}

TEST(PortsHomeTest, AnExperimentRunsOverTwoDevices) {
  for (const auto& [cc, lb] :
       {std::pair("dcqcn", "ecmp"), std::pair("rccc", "oblivious"), std::pair("nscc", "reps")}) {
    const RunResult r = RunIt(With(cc, lb));
    EXPECT_TRUE(r.finished) << cc;
    for (const std::string& text : r.warnings) ADD_FAILURE() << cc << ": " << text;
    for (const std::string& text : r.breaches) ADD_FAILURE() << cc << ": " << text;
    EXPECT_EQ(r.counters.data_bytes_received, 2u * 200'000) << cc;
    // At 100 Gb/s on the experiment's clock, which a host is a few packets ahead of.
    EXPECT_GE(r.makespan, Bytes(180'000) / Gbps(100)) << cc;
    ASSERT_TRUE(r.real_time.has_value()) << cc;
    EXPECT_EQ(r.real_time->time_scale, 0.001) << cc;
    EXPECT_GT(r.real_time->seconds, 0) << cc;
  }
}

TEST(PortsHomeTest, WhatOnlyAModelledFabricTellsIsAbsentAndNotZero) {
  const RunResult r = RunIt(With("nscc", "reps"));
  ASSERT_TRUE(r.finished);
  EXPECT_FALSE(r.fabric.has_value());
  EXPECT_FALSE(r.real_time->fabric.has_value());
  const std::string table = ResultTable({r});
  EXPECT_THAT(table, Not(HasSubstr("peak queue"))) << table;
  EXPECT_THAT(table, HasSubstr("longest gap hosts")) << table;
  const nlohmann::json json = ToJson(r);
  EXPECT_TRUE(json.at("fabric").is_null() && json.at("queue_peak_bytes").is_null());
  const absl::StatusOr<RunResult> read = ReadRun(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(read->fabric.has_value());
}

TEST(PortsHomeTest, APortThatIsTooSlowIsNamedWithARemedy) {
  const RunResult r = RunIt(With("nscc", "reps"), {"run.time_scale=1", "fabric.rate=400Gbps"});
  EXPECT_FALSE(r.finished);
  ASSERT_EQ(r.warnings.size(), 1u);
  EXPECT_THAT(r.warnings[0], HasSubstr("ring carries 100Gbps of the 400Gbps"));
  EXPECT_THAT(r.warnings[0], HasSubstr("run.time_scale=0.25"));
}

TEST(PortsHomeTest, AnMtuThatIsTooSmallIsNamedWithARemedy) {
  const RunResult r = RunIt(With("nscc", "reps"), {"ports.0.mtu=1500", "ports.1.mtu=1500"});
  EXPECT_FALSE(r.finished);
  ASSERT_EQ(r.warnings.size(), 1u);
  EXPECT_THAT(r.warnings[0], HasSubstr("transport.payload"));
}

TEST(PortsHomeTest, AnAddressOfTheOtherIpVersionIsNamedWithARemedy) {
  const RunResult r = RunIt(With("nscc", "reps"), {"transport.ip=v6"});
  EXPECT_FALSE(r.finished);
  ASSERT_EQ(r.warnings.size(), 1u);
  EXPECT_THAT(r.warnings[0], HasSubstr("set transport.ip=v4"));
}

TEST(PortsHomeTest, ARingWithOneEndIsRefused) {
  const RunResult r = RunIt(With("nscc", "reps"), {"ports.1.name=dpdk:net_null0"});
  EXPECT_FALSE(r.finished);
  ASSERT_EQ(r.warnings.size(), 1u);
  EXPECT_THAT(r.warnings[0], HasSubstr("a ring has two ends"));
}

}  // namespace
}  // namespace weir

#endif  // WEIR_HAS_DPDK
