#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "datapath/api/rng.h"
#include "testbed/traffic/traffic.h"

namespace weir {
namespace {

using testing::HasSubstr;

std::string ReadMatrix(const std::string& name) {
  std::ifstream in(std::string(WEIR_SOURCE_DIR "/testbed/data/cm/") + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

absl::StatusOr<Traffic> Parse(const std::string& text) {
  return ParseConnectionMatrix(text, "dir/a.cm");
}

std::string ErrorOf(const std::string& text) { return std::string(Parse(text).status().message()); }

// The error of a matrix of four hosts and `flows` lines of traffic.
std::string ErrorOfFlows(int flows, const std::string& lines) {
  return ErrorOf("Nodes 4\nConnections " + std::to_string(flows) + "\n" + lines);
}

struct Expected {
  const char* file;
  uint32_t hosts;
  size_t transfers;
  size_t connections;
  size_t triggers;
  int64_t bytes;  // of every transfer
};

class ShippedMatrix : public testing::TestWithParam<Expected> {};

TEST_P(ShippedMatrix, HasTheCountsItsHeaderSays) {
  const Expected& want = GetParam();
  const absl::StatusOr<Traffic> traffic = ParseConnectionMatrix(ReadMatrix(want.file), want.file);
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(traffic->name, want.file);
  EXPECT_EQ(traffic->hosts, want.hosts);
  EXPECT_EQ(traffic->transfers.size(), want.transfers);
  EXPECT_EQ(traffic->connections.size(), want.connections);
  EXPECT_EQ(traffic->triggers.size(), want.triggers);
  for (const Transfer& transfer : traffic->transfers) {
    EXPECT_EQ(transfer.size, Bytes(want.bytes));
    EXPECT_LT(transfer.connection, traffic->connections.size());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, ShippedMatrix,
    testing::Values(
        Expected{"a2a32_256KB.cm", 32, 32 * 31, 32 * 31, 0, 256 * 1024},
        Expected{"alltoall_serial_16n.cm", 16, 16 * 15, 16 * 15, 16 * 14, 2'000'000},
        Expected{"bidir.cm", 16, 2, 2, 0, 2'000'000},
        Expected{"gen_random_incast_8192n_128c_0us_64Ms.cm", 8192, 128, 128, 0, 64 * 1024 * 1024},
        Expected{"gen_random_incast_8192n_32c_16us_1Ms.cm", 8192, 32, 32, 0, 1024 * 1024},
        Expected{"gen_random_incast_8192n_8c_0us_2Ms.cm", 8192, 8, 8, 0, 2 * 1024 * 1024},
        Expected{"incast.cm", 16, 15, 15, 0, 2'000'000},
        Expected{"incast32_4MB.cm", 128, 32, 32, 0, 4'000'000},
        Expected{"incast8_1MB.cm", 128, 8, 8, 0, 1'000'000},
        Expected{"incast_1024_100K.cm", 1024, 1023, 1023, 0, 100'000},
        Expected{"incast_128.cm", 128, 127, 127, 0, 2'000'000},
        Expected{"incast_collateral_128.cm", 128, 127, 127, 0, 2'000'000},
        Expected{"one.cm", 16, 1, 1, 0, 2'000'000}, Expected{"one_2MB.cm", 128, 1, 1, 0, 2'000'000},
        Expected{"outcast_incast.cm", 128, 21, 21, 0, 2'000'000},
        Expected{"perm_1024n_1024c_0u_2000000b.cm", 1024, 1024, 1024, 0, 2'000'000},
        Expected{"perm_128n_128c_2MB.cm", 128, 128, 128, 0, 2'000'000},
        Expected{"perm_16n_16c_2MB.cm", 16, 16, 16, 0, 2'000'000},
        Expected{"perm_32n_32c_2MB.cm", 32, 32, 32, 0, 2'000'000},
        Expected{"shift128_2MB.cm", 128, 128, 128, 0, 2'000'000},
        // Ten messages of one connection.
        Expected{"test_cr_1f10m10p.cm", 2, 10, 1, 0, 40'860}),
    [](const auto& test) {
      std::string name = test.param.file;
      std::ranges::replace(name, '.', '_');
      return name;
    });

TEST(ConnectionMatrixTest, EveryWordOfAFlowIsRead) {
  const absl::StatusOr<Traffic> traffic = Parse(
      "Nodes 4\nConnections 2\nTriggers 2\n"
      "0->1 id 7 start 5000 size 100 send_done_trigger 90 recv_done_trigger 30 prio 2\n"
      "2->3 trigger 30 size 4294967295\n"
      "trigger id 30 oneshot\ntrigger id 90 multishot count 3\n");
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(traffic->name, "a.cm");
  const Transfer& first = traffic->transfers[0];
  EXPECT_EQ(first.start, Nanos(5));  // 5000 ps
  EXPECT_EQ(first.label, 7u);
  EXPECT_EQ(first.after, kNoTrigger);
  EXPECT_EQ(first.on_sent, 1u);  // trigger 90 is the second
  EXPECT_EQ(first.on_received, 0u);
  EXPECT_EQ(traffic->triggers[1].count, 3u);
  EXPECT_TRUE(traffic->triggers[1].repeats);
  EXPECT_FALSE(traffic->triggers[0].repeats);
  const Transfer& second = traffic->transfers[1];
  EXPECT_EQ(second.after, 0u);
  EXPECT_EQ(second.size, Bytes(4294967295));  // the largest message
  EXPECT_EQ(second.label, 2u);                // without an id: its place
  EXPECT_EQ(traffic->connections[1].from, 2u);
  EXPECT_EQ(traffic->connections[1].to, 3u);
}

TEST(ConnectionMatrixTest, PicosecondsRoundDown) {
  const absl::StatusOr<Traffic> traffic =
      Parse("Nodes 4\nConnections 2\n0->1 start 999 size 1\n0->1 start 1000 size 1\n");
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(traffic->transfers[0].start, Nanos(0));
  EXPECT_EQ(traffic->transfers[1].start, Nanos(1));
}

TEST(ConnectionMatrixTest, OnlyMessagesShareAConnection) {
  const absl::StatusOr<Traffic> traffic = Parse(
      "Nodes 4\nConnections 6\n"
      "0->1 id 1 msg size 1\n0->1 id 1 size 1\n0->1 id 1 msg size 1\n"
      "0->1 id 2 msg size 1\n0->2 id 1 msg size 1\n0->1 id 1 size 1\n");
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  std::vector<uint32_t> connections;
  for (const Transfer& t : traffic->transfers) connections.push_back(t.connection);
  EXPECT_THAT(connections, testing::ElementsAre(0, 1, 0, 2, 3, 4));
}

TEST(ConnectionMatrixTest, BlankLinesCommentsAndCarriageReturnsDoNotMatter) {
  const absl::StatusOr<Traffic> traffic =
      Parse("# by hand\r\n\r\nNodes 4\r\nConnections 1\r\n\t0->1  start 0 size 5 # five\r\n\r\n");
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(traffic->transfers[0].size, Bytes(5));
}

TEST(ConnectionMatrixTest, ErrorsNameFileLineFindingAndRemedy) {
  EXPECT_EQ(ErrorOf("Nodes 4\nConnections 2\n0->1 size 5\n"),
            "dir/a.cm:2: Connections is 2, but 1 follow; write \"Connections 1\" or look for lost "
            "lines");
  EXPECT_EQ(ErrorOfFlows(1, "0->4 size 5\n"),
            "dir/a.cm:3: 0->4 with Nodes 4; hosts are numbered from 0 to 3");
  EXPECT_EQ(ErrorOfFlows(1, "0->1 size 4294967296\n"),
            "dir/a.cm:3: size is \"4294967296\"; write a whole number from 1 to 4294967295, and "
            "split what is larger into several flows");
}

TEST(ConnectionMatrixTest, FaultsBelongToTheExperiment) {
  EXPECT_THAT(ErrorOfFlows(1, "0->1 size 5\nfailure switch_type AGG switch_id 0 link_id 1\n"),
              HasSubstr("dir/a.cm:4: faults are not read from the matrix; describe them in the "
                        "experiment's [[faults]]"));
  EXPECT_THAT(ErrorOfFlows(1, "Failures 1\n0->1 size 5\n"), HasSubstr("[[faults]]"));
  EXPECT_TRUE(Parse("Nodes 4\nConnections 1\nFailures 0\n0->1 size 5\n").ok());
}

TEST(ConnectionMatrixTest, DamagedFlowsAreErrors) {
  EXPECT_THAT(ErrorOfFlows(1, "0->1 start 0\n"), HasSubstr("no size"));
  EXPECT_THAT(ErrorOfFlows(1, "0->1 size 0\n"), HasSubstr("size is \"0\""));
  EXPECT_THAT(ErrorOfFlows(1, "0->1 size\n"), HasSubstr("size is \"\""));
  EXPECT_THAT(ErrorOfFlows(1, "0->1 size -1\n"), HasSubstr("size is \"-1\""));
  EXPECT_THAT(ErrorOfFlows(1, "0->1 size 1 size 2\n"), HasSubstr("given twice"));
  EXPECT_THAT(ErrorOfFlows(1, "0->1 length 1\n"), HasSubstr("unknown word \"length\""));
  EXPECT_THAT(ErrorOfFlows(1, "0->0 size 1\n"), HasSubstr("sends to itself"));
  EXPECT_THAT(ErrorOfFlows(1, "0-> size 1\n"), HasSubstr("names no two hosts"));
  EXPECT_THAT(ErrorOfFlows(1, "->1 size 1\n"), HasSubstr("names no two hosts"));
  EXPECT_THAT(ErrorOfFlows(1, "0->1 msg size 1\n"), HasSubstr("msg without an id"));
  EXPECT_THAT(ErrorOfFlows(1, "0 1 size 1\n"), HasSubstr("starts no line of a matrix"));
}

TEST(ConnectionMatrixTest, DamagedHeadersAreErrors) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("no Nodes"));
  EXPECT_THAT(ErrorOf("Nodes 4\n"), HasSubstr("no Connections"));
  EXPECT_THAT(ErrorOf("Nodes 1\n"), HasSubstr("bad Nodes"));
  EXPECT_THAT(ErrorOf("Nodes\n"), HasSubstr("bad Nodes"));
  EXPECT_THAT(ErrorOf("Nodes 4\nNodes 4\n"), HasSubstr("line 1 has it"));
}

TEST(ConnectionMatrixTest, TriggersMustBeDefinedOnceAndCounted) {
  const std::string flow = "Triggers 1\n0->1 size 5 send_done_trigger 1\n";
  EXPECT_TRUE(Parse("Nodes 4\nConnections 1\n" + flow + "trigger id 1 oneshot\n").ok());
  EXPECT_THAT(ErrorOfFlows(1, flow), HasSubstr("Triggers is 1, but 0 follow"));
  EXPECT_THAT(ErrorOfFlows(1, flow + "trigger id 2 oneshot\n"),
              HasSubstr("dir/a.cm:4: send_done_trigger 1 is not defined"));
  EXPECT_THAT(ErrorOfFlows(1, flow + "trigger id 1 oneshot\ntrigger id 1 oneshot\n"),
              HasSubstr("defined twice"));
  EXPECT_THAT(ErrorOfFlows(1, flow + "trigger id 1 sometimes\n"), HasSubstr("not a trigger"));
  EXPECT_THAT(ErrorOfFlows(1, flow + "trigger id 1 barrier\n"), HasSubstr("has no count"));
  EXPECT_THAT(ErrorOfFlows(1, flow + "trigger id 1 barrier count 0\n"), HasSubstr("not a trigger"));
}

TEST(ConnectionMatrixTest, AFlowThatCanNeverStartIsAnError) {
  const std::string barrier = "trigger id 1 barrier count ";
  const std::string flows =
      "Triggers 1\n0->1 size 5 send_done_trigger 1\n1->2 size 5 recv_done_trigger 1\n"
      "2->3 trigger 1 size 5\n";
  EXPECT_EQ(ErrorOfFlows(3, flows + barrier + "2\n"), "");
  EXPECT_THAT(ErrorOfFlows(3, flows + barrier + "3\n"),
              HasSubstr("dir/a.cm:6: trigger 1 never starts this flow"));
  EXPECT_THAT(ErrorOfFlows(1, "Triggers 1\n0->1 trigger 1 size 5\ntrigger id 1 oneshot\n"),
              HasSubstr("never starts this flow"));
}

TEST(ConnectionMatrixTest, AFlowThatStartsItselfForEverIsAnError) {
  const std::string flows =
      "Triggers 1\n0->1 size 5 send_done_trigger 1\n1->2 trigger 1 size 5 send_done_trigger 1\n";
  EXPECT_EQ(ErrorOfFlows(2, flows + "trigger id 1 oneshot\n"), "");
  EXPECT_THAT(ErrorOfFlows(2, flows + "trigger id 1 multishot\n"), HasSubstr("without end"));
}

TEST(ConnectionMatrixTest, AnAvalancheOfRepeatsIsFoundBeforeItFillsMemory) {
  // 1000 flows that each start all of them again.
  std::string lines = "Triggers 1\n0->1 size 5 send_done_trigger 1\ntrigger id 1 multishot\n";
  for (int i = 0; i < 1000; ++i) lines += "1->2 trigger 1 size 5 send_done_trigger 1\n";
  EXPECT_THAT(ErrorOfFlows(1001, lines), HasSubstr("without end"));
}

TEST(ConnectionMatrixTest, DamagedFilesNeverCrash) {
  const std::string good = ReadMatrix("alltoall_serial_16n.cm").substr(0, 2400);
  ASSERT_FALSE(good.empty());
  for (size_t cut = 0; cut < good.size(); ++cut) (void)Parse(good.substr(0, cut));
  Rng rng(5);
  for (int i = 0; i < 3000; ++i) {
    std::string bad = ReadMatrix("test_cr_1f10m10p.cm");
    for (uint32_t flips = 1 + rng.Below(3); flips > 0; --flips) {
      bad[rng.Below(static_cast<uint32_t>(bad.size()))] = static_cast<char>(rng.Below(256));
    }
    const absl::StatusOr<Traffic> traffic = Parse(bad);
    if (traffic.ok()) {
      EXPECT_EQ(traffic->transfers.size(), 10u);
    } else {
      EXPECT_THAT(std::string(traffic.status().message()), HasSubstr("dir/a.cm:"));
    }
  }
}

}  // namespace
}  // namespace weir
