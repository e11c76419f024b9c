#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "datapath/api/rng.h"
#include "testbed/fabric/topology.h"

namespace weir {
namespace {

using testing::HasSubstr;

std::string ReadTopo(const std::string& name) {
  std::ifstream in(std::string(WEIR_SOURCE_DIR "/testbed/data/topo/") + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A valid fabric: 4 hosts on 2 leaves, 2 spines.
const char kSmall[] =
    "Nodes 4\nTiers 2\nPodsize 4\n"
    "Tier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 500\n"
    "Tier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nDownlink_Latency_ns 700\n";

// kSmall with the first `from` replaced.
std::string Small(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  return text.replace(text.find(from), from.size(), to);
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseTopo(text, "a.topo").status().message());
}

struct Expected {
  const char* file;
  size_t hosts;
  size_t leaves;
  size_t uppers;
  size_t cores;
  size_t cables;
  Rate rate;
};

class ShippedTopo : public testing::TestWithParam<Expected> {};

TEST_P(ShippedTopo, HasTheCountsItsNumbersSay) {
  const Expected& want = GetParam();
  const absl::StatusOr<Topology> topology = ParseTopo(ReadTopo(want.file), want.file);
  ASSERT_TRUE(topology.ok()) << topology.status();
  const auto tier = [&](uint8_t t) {
    return static_cast<size_t>(std::ranges::count(topology->tier, t));
  };
  EXPECT_EQ(topology->hosts, want.hosts);
  EXPECT_EQ(tier(0), want.hosts);
  EXPECT_EQ(tier(1), want.leaves);
  EXPECT_EQ(tier(2), want.uppers);
  EXPECT_EQ(tier(3), want.cores);
  EXPECT_EQ(topology->links.size(), 2 * want.cables);
  for (const LinkShape& link : topology->links) {
    ASSERT_EQ(link.rate, want.rate);
    ASSERT_EQ(link.delay, Micros(1));
  }
  // Connected, over the longest way: 4 links with two tiers, 6 with three.
  const Routes routes(*topology);
  EXPECT_EQ(routes.Hops(0, topology->hosts - 1), want.cores == 0 ? 4u : 6u);
}

INSTANTIATE_TEST_SUITE_P(
    Files, ShippedTopo,
    testing::Values(
        // Leaves = nodes / Radix_Down; spines = Radix_Up; cables = nodes + leaves * spines.
        Expected{"leaf_spine_tiny.topo", 32, 4, 2, 0, 32 + 4 * 2, Gbps(100)},
        Expected{"leaf_spine_1024.topo", 1024, 32, 32, 0, 1024 + 32 * 32, Gbps(100)},
        Expected{"leaf_spine_1024_oversub.topo", 1024, 32, 8, 0, 1024 + 32 * 8, Gbps(100)},
        Expected{"leaf_spine_8192_400g.topo", 8192, 128, 64, 0, 8192 + 128 * 64, Gbps(400)},
        Expected{"ls128_400.topo", 128, 8, 16, 0, 128 + 8 * 16, Gbps(400)},
        Expected{"ls128_100.topo", 128, 8, 16, 0, 128 + 8 * 16, Gbps(100)},
        Expected{"ls32_400.topo", 32, 4, 8, 0, 32 + 4 * 8, Gbps(400)},
        // 8 pods of 4 leaves and 4 aggregation switches; cores = 4 * Radix_Up of tier 1.
        Expected{"fat_tree_128_1os.topo", 128, 32, 32, 16, 128 + 32 * 4 + 32 * 4, Gbps(100)},
        Expected{"fat_tree_128_4os.topo", 128, 32, 32, 4, 128 + 32 * 4 + 32 * 1, Gbps(100)},
        // 16 pods of 8 and 8; 8 * 8 cores.
        Expected{"fat_tree_1024_1os.topo", 1024, 128, 128, 64, 1024 + 128 * 8 + 128 * 8,
                 Gbps(200)}),
    [](const auto& test) {
      std::string name = test.param.file;
      std::ranges::replace(name, '.', '_');
      return name;
    });

TEST(TopoFileTest, ATiersDownlinkIsTheUplinkOfTheTierBelow) {
  const absl::StatusOr<Topology> topology = ParseTopo(kSmall, "a.topo");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->links[0].rate, Gbps(100));  // host to leaf: tier 0
  EXPECT_EQ(topology->links[0].delay, Nanos(500));
  EXPECT_EQ(topology->links.back().rate, Gbps(200));  // spine to leaf: tier 1
  EXPECT_EQ(topology->links.back().delay, Nanos(700));
}

TEST(TopoFileTest, SwitchLatencyAddsToTheLinksIntoTheSwitch) {
  const absl::StatusOr<Topology> topology =
      ParseTopo(Small("Radix_Up 2", "Radix_Up 2\nSwitch_Latency_ns 30"), "a.topo");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->links[0].delay, Nanos(500 + 30));  // host to leaf
  EXPECT_EQ(topology->links[1].delay, Nanos(500));       // leaf to host
  EXPECT_EQ(topology->links.back().delay, Nanos(700 + 30));
}

TEST(TopoFileTest, ABundleSpreadsTheUplinksOverFewerSpines) {
  const absl::StatusOr<Topology> topology =
      ParseTopo(Small("200\nRadix_Down 2", "200\nRadix_Down 4\nBundle 2"), "a.topo");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->nodes(), 4u + 2 + 1);  // 2 uplinks in bundles of 2: one spine
  EXPECT_EQ(topology->links.size(), 2 * (4u + 2 * 2));
}

TEST(TopoFileTest, CommentsTabsCaseAndLineEndsDoNotMatter) {
  std::string text = "# made by hand\r\n\r\n" + Small("Nodes 4\n", "nodes\t4 # four\r\n");
  text.pop_back();
  const absl::StatusOr<Topology> topology = ParseTopo(text, "a.topo");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->hosts, 4u);
}

TEST(TopoFileTest, ErrorsNameFileLineFindingAndRemedy) {
  EXPECT_EQ(ErrorOf(Small("Radix_Up 2", "Radix_Sideways 2")),
            "a.topo:7: unknown key \"Radix_Sideways\" in tier 0; it takes Downlink_speed_Gbps "
            "Radix_Down Radix_Up Downlink_Latency_ns Switch_Latency_ns Oversubscribed Bundle, "
            "then \"Tier\"");
  EXPECT_EQ(ErrorOf(Small("200\nRadix_Down 2", "200\nRadix_Down 3")),
            "a.topo:11: Radix_Down 3 of tier 1 does not match 2 leaves of a pod below with Bundle "
            "1; write \"Radix_Down 2\"");
  EXPECT_EQ(ErrorOf(Small("Nodes 4", "Nodes four")),
            "a.topo:1: Nodes is \"four\"; write a whole number from 1 to 1048576");
}

TEST(TopoFileTest, MissingAndRepeatedLinesAreErrors) {
  EXPECT_THAT(ErrorOf(Small("Radix_Up 2\n", "")), HasSubstr("a.topo:4: tier 0 has no Radix_Up"));
  EXPECT_THAT(ErrorOf(Small("Podsize 4\n", "")), HasSubstr("the header has no Podsize"));
  EXPECT_THAT(ErrorOf(Small("Tiers 2\n", "")), HasSubstr("before \"Tiers\""));
  EXPECT_THAT(ErrorOf(Small("Tiers 2", "Tiers 3")), HasSubstr("Tiers is 3, but 2 follow"));
  EXPECT_THAT(ErrorOf(Small("Tier 1", "Tier 2")), HasSubstr("found \"Tier 2\" after 1 tiers of 2"));
  EXPECT_THAT(ErrorOf(Small("Podsize 4", "Nodes 4")), HasSubstr("Nodes is given again; line 1"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("the header has no Nodes"));
  EXPECT_THAT(ErrorOf(Small("Radix_Up 2", "Radix_Up")), HasSubstr("1 words"));
  EXPECT_THAT(ErrorOf(Small("Radix_Up 2", "Radix_Up 2\nQueue_Up 100")), HasSubstr("experiment"));
}

TEST(TopoFileTest, NumbersThatDoNotFitTogetherAreErrors) {
  EXPECT_THAT(ErrorOf(Small("Podsize 4", "Podsize 3")), HasSubstr("does not divide Nodes 4"));
  EXPECT_THAT(ErrorOf(Small("Podsize 4", "Podsize 2")), HasSubstr("two tiers are one pod"));
  EXPECT_THAT(ErrorOf(Small("Radix_Down 2", "Radix_Down 3")), HasSubstr("does not divide Podsize"));
  EXPECT_THAT(ErrorOf(Small("Downlink_Latency_ns 700", "Downlink_Latency_ns 700\nBundle 4")),
              HasSubstr("Radix_Up 2 of tier 0 is no multiple of Bundle 4"));
  EXPECT_THAT(ErrorOf(Small("Downlink_Latency_ns 700", "Downlink_Latency_ns 700\nRadix_Up 2")),
              HasSubstr("top tier"));
  EXPECT_THAT(ErrorOf(Small("Radix_Up 2", "Radix_Up 2\nBundle 2")), HasSubstr("one link"));
}

TEST(TopoFileTest, OversubscriptionMustBeWhatTheRadicesGive) {
  // 2 x 100 down, 2 x 200 up: no whole factor describes it, so it is left out.
  EXPECT_THAT(ErrorOf(Small("Radix_Up 2", "Radix_Up 2\nOversubscribed 1")),
              HasSubstr("a.topo:8: Oversubscribed 1 of tier 0, but its links carry 200 Gb/s down "
                        "and 400 up"));
  // 2 x 100 down, 1 x 200 up is 1:1.
  EXPECT_TRUE(ParseTopo(Small("Radix_Up 2", "Radix_Up 1\nOversubscribed 1"), "a.topo").ok());
}

TEST(TopoFileTest, NumbersAreBoundedFromBothSides) {
  EXPECT_THAT(ErrorOf(Small("Nodes 4", "Nodes 0")), HasSubstr("Nodes is \"0\""));
  EXPECT_THAT(ErrorOf(Small("Nodes 4", "Nodes -4")), HasSubstr("Nodes is \"-4\""));
  EXPECT_THAT(ErrorOf(Small("Nodes 4", "Nodes 99999999999999999999")), HasSubstr("Nodes is"));
  EXPECT_THAT(ErrorOf(Small("100", "100.5")), HasSubstr("Downlink_speed_Gbps is \"100.5\""));
  // 65536 leaves of one host with 65536 uplinks each would be 2^32 cables.
  std::string huge = Small("Nodes 4", "Nodes 65536");
  const auto swap = [&](const std::string& from, const std::string& to) {
    huge.replace(huge.find(from), from.size(), to);
  };
  swap("Podsize 4", "Podsize 65536");
  swap("Radix_Down 2\nRadix_Up 2", "Radix_Down 1\nRadix_Up 65536");
  swap("200\nRadix_Down 2", "200\nRadix_Down 65536");
  EXPECT_THAT(ErrorOf(huge), HasSubstr("cables; at most 4194304"));
}

TEST(TopoFileTest, DamagedFilesNeverCrash) {
  const std::string good = ReadTopo("fat_tree_128_4os.topo");
  ASSERT_FALSE(good.empty());
  for (size_t cut = 0; cut < good.size(); ++cut) {
    (void)ParseTopo(good.substr(0, cut), "a.topo");
  }
  Rng rng(11);
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    for (uint32_t flips = 1 + rng.Below(3); flips > 0; --flips) {
      bad[rng.Below(static_cast<uint32_t>(bad.size()))] = static_cast<char>(rng.Below(256));
    }
    const absl::StatusOr<Topology> topology = ParseTopo(bad, "a.topo");
    if (topology.ok()) {
      EXPECT_GT(topology->hosts, 0u);
    } else {
      EXPECT_THAT(std::string(topology.status().message()), HasSubstr("a.topo:"));
    }
  }
}

}  // namespace
}  // namespace weir
