#include "nic_drivers/neighbours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "nic_drivers/neighbour_frames.h"

namespace weir {
namespace {

using testing::HasSubstr;
using Frame = std::vector<std::byte>;

constexpr MacAddress kMacA = {2, 0, 0, 0, 0, 0xA};
constexpr MacAddress kMacB = {2, 0, 0, 0, 0, 0xB};

NetAddress Host(const std::string& ip, const MacAddress& mac = {}) {
  NetAddress address = *ParseIp(ip);
  address.mac = mac;
  return address;
}

Frame Question(const NetAddress& self, const NetAddress& target) {
  Frame frame(kNeighbourFrame);
  frame.resize(WriteQuestion(self, target, frame.data()));
  return frame;
}

struct Read {
  NeighbourNews news;
  Frame answer;
};
Read ReadBy(const NetAddress& self, const Frame& frame) {
  Frame answer(kNeighbourFrame);
  const NeighbourNews news = ReadNeighbourFrame(self, frame, kEthernetBytes, answer.data());
  answer.resize(news.answer);
  return {news, answer};
}

class EitherFamily : public testing::TestWithParam<bool> {
 protected:
  NetAddress a_ = Host(GetParam() ? "fd00::a" : "10.0.0.10", kMacA);
  NetAddress b_ = Host(GetParam() ? "fd00::b" : "10.0.0.11", kMacB);
  NetAddress c_ = Host(GetParam() ? "fd00::c" : "10.0.0.12", kMacB);
};
INSTANTIATE_TEST_SUITE_P(Both, EitherFamily, testing::Bool(),
                         [](const auto& family) { return family.param ? "IPv6" : "IPv4"; });

TEST_P(EitherFamily, AQuestionIsAnsweredAndBothLearn) {
  const Read at_b = ReadBy(b_, Question(a_, b_));
  EXPECT_TRUE(at_b.news.valid);
  ASSERT_TRUE(at_b.news.learned);
  EXPECT_EQ(at_b.news.neighbour, a_);
  ASSERT_FALSE(at_b.answer.empty());
  const Read at_a = ReadBy(a_, at_b.answer);
  ASSERT_TRUE(at_a.news.learned);
  EXPECT_EQ(at_a.news.neighbour, b_);
  EXPECT_TRUE(at_a.answer.empty());
}

TEST_P(EitherFamily, AQuestionForAnotherHostIsNotAnswered) {
  const Read at_c = ReadBy(c_, Question(a_, b_));
  EXPECT_TRUE(at_c.news.valid);
  EXPECT_FALSE(at_c.news.learned);
  EXPECT_TRUE(at_c.answer.empty());
}

// Whatever is cut off or changed, nothing outside the frame is read (the sanitizers look) and what
// is damaged is not believed.
TEST_P(EitherFamily, DamagedFramesAreHarmless) {
  const Frame question = Question(a_, b_);
  for (size_t size = 0; size < question.size(); ++size) {
    const Frame part(question.begin(), question.begin() + static_cast<ptrdiff_t>(size));
    ReadBy(b_, part);
  }
  if (!GetParam()) return;  // ARP has no checksum
  for (size_t i = kEthernetBytes + 8; i < question.size(); ++i) {
    Frame damaged = question;
    damaged[i] ^= std::byte{0x10};
    EXPECT_FALSE(ReadBy(b_, damaged).news.valid) << "byte " << i;
  }
}

TEST(NeighbourFramesTest, AnArpRequestIsThatOfRfc826) {
  const Frame frame = Question(Host("10.0.0.10", kMacA), Host("10.0.0.11"));
  ASSERT_EQ(frame.size(), 60u);  // padded to Ethernet's shortest frame
  const uint8_t want[42] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2,  0, 0, 0,
                            0,    0xA,  8,    6,                                // Ethernet
                            0,    1,    8,    0,    6,    4,    0,  1,          // a request
                            2,    0,    0,    0,    0,    0xA,  10, 0, 0, 10,   // who asks
                            0,    0,    0,    0,    0,    0,    10, 0, 0, 11};  // for whom
  for (size_t i = 0; i < sizeof want; ++i) EXPECT_EQ(frame[i], std::byte{want[i]}) << i;
}

TEST(NeighbourFramesTest, ASolicitationGoesToTheGroupOfItsTarget) {
  const Frame frame = Question(Host("fd00::a", kMacA), Host("fd00::12:3456"));
  ASSERT_EQ(frame.size(), 86u);
  const uint8_t mac[6] = {0x33, 0x33, 0xFF, 0x12, 0x34, 0x56};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(frame[i], std::byte{mac[i]});
  EXPECT_EQ(frame[14 + 7], std::byte{255});   // hop limit
  EXPECT_EQ(frame[14 + 40], std::byte{135});  // solicitation
}

class NeighboursTest : public testing::Test {
 protected:
  Neighbours Make(const std::string& gateway = "") {
    DeviceOptions options;
    options.address = "10.0.0.10/24";
    options.gateway = gateway;
    options.neighbours = {{"10.0.0.99", "02:00:00:00:00:63"}};
    return *Neighbours::Create(*ParseSubnet(options.address), options);
  }
  absl::Status Resolve(Neighbours& n, Time now, const std::string& ip) {
    remote_ = Host(ip);
    ask_.reset();
    return n.Resolve(now, remote_, ask_);
  }
  NetAddress remote_;
  std::optional<NetAddress> ask_;
};

TEST_F(NeighboursTest, AsksUntilSomebodyAnswers) {
  Neighbours n = Make();
  EXPECT_TRUE(absl::IsUnavailable(Resolve(n, Time(0), "10.0.0.11")));
  ASSERT_TRUE(ask_.has_value());
  EXPECT_EQ(IpText(*ask_), "10.0.0.11");
  EXPECT_TRUE(absl::IsUnavailable(Resolve(n, Time(1), "10.0.0.11")));
  EXPECT_FALSE(ask_.has_value()) << "asked already";
  n.Learn(Host("10.0.0.11", kMacB));
  EXPECT_TRUE(Resolve(n, Time(2), "10.0.0.11").ok());
  EXPECT_EQ(remote_.mac, kMacB);
}

TEST_F(NeighboursTest, GivesUpAfterAllTriesAndStartsAnewLater) {
  Neighbours n = Make();
  Time now(0);
  for (int i = 0; i < Neighbours::kTries; ++i) {
    EXPECT_TRUE(absl::IsUnavailable(Resolve(n, now, "10.0.0.11")));
    EXPECT_TRUE(ask_.has_value()) << i;
    now = now + Neighbours::kAgain;
  }
  EXPECT_TRUE(absl::IsNotFound(Resolve(n, now, "10.0.0.11")));
  EXPECT_FALSE(ask_.has_value());
  now = now + Neighbours::kGone;
  EXPECT_TRUE(absl::IsUnavailable(Resolve(n, now, "10.0.0.11")));
  EXPECT_TRUE(ask_.has_value());
}

TEST_F(NeighboursTest, ANeighbourOfTheUserIsNotAskedForAndNotLearnedOver) {
  Neighbours n = Make();
  n.Learn(Host("10.0.0.99", kMacB));
  EXPECT_TRUE(Resolve(n, Time(0), "10.0.0.99").ok());
  EXPECT_EQ(MacText(remote_.mac), "02:00:00:00:00:63");
}

TEST_F(NeighboursTest, WhatIsNotOnTheLinkGoesToTheGateway) {
  Neighbours with = Make("10.0.0.1");
  EXPECT_TRUE(absl::IsUnavailable(Resolve(with, Time(0), "192.168.1.1")));
  EXPECT_EQ(IpText(*ask_), "10.0.0.1");
  with.Learn(Host("10.0.0.1", kMacA));
  EXPECT_TRUE(Resolve(with, Time(1), "192.168.1.1").ok());
  EXPECT_EQ(remote_.mac, kMacA);
  EXPECT_EQ(IpText(remote_), "192.168.1.1");

  Neighbours without = Make();
  const absl::Status status = Resolve(without, Time(0), "192.168.1.1");
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("gateway"));
}

TEST_F(NeighboursTest, AnotherIpVersionAndItselfHaveNoWay) {
  Neighbours n = Make("10.0.0.1");
  EXPECT_TRUE(absl::IsNotFound(Resolve(n, Time(0), "fd00::1")));
  EXPECT_TRUE(absl::IsNotFound(Resolve(n, Time(0), "10.0.0.10")));
}

TEST(AddressTextTest, SubnetsAreReadAndContain) {
  const Subnet v4 = *ParseSubnet("10.0.0.1/20");
  EXPECT_TRUE(v4.Contains(Host("10.0.15.255")));
  EXPECT_FALSE(v4.Contains(Host("10.0.16.0")));
  const Subnet v6 = *ParseSubnet("fd00::1/64");
  EXPECT_TRUE(v6.Contains(Host("fd00::ffff:1")));
  EXPECT_FALSE(v6.Contains(Host("fd00:0:0:1::1")));
  EXPECT_FALSE(v6.Contains(Host("10.0.0.1")));
  EXPECT_EQ(ParseSubnet("10.0.0.1")->prefix, 32);
  for (const char* bad : {"", "10.0.0", "10.0.0.1/33", "10.0.0.1/x", "fd00::1/129", "host/24"}) {
    EXPECT_FALSE(ParseSubnet(bad).ok()) << bad;
  }
}

TEST(AddressTextTest, MacAddressesAreReadAsTheyAreWritten) {
  EXPECT_EQ(MacText(*ParseMac("02:0a:00:FF:00:01")), "02:0a:00:ff:00:01");
  for (const char* bad : {"", "02:00:00:00:00", "02:00:00:00:00:01:02", "02-00-00-00-00-01"}) {
    EXPECT_FALSE(ParseMac(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace weir
