// What goes wrong before the first frame: one sentence each, with the remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "tests/nic_drivers/peer_process.h"

namespace weir {
namespace {

using testing::HasSubstr;

DeviceOptions Named(const std::string& device) {
  DeviceOptions options;
  options.device = device;
  options.address = "10.0.0.1/24";
  return options;
}

std::string ErrorOf(const DeviceOptions& options) {
  const auto device = OpenDevice(options);
  return device.ok() ? "it opened" : std::string(device.status().message());
}

TEST(OpenDeviceTest, ANameIsAPciAddressOrAVirtualDevice) {
  EXPECT_THAT(ErrorOf(Named("dpdk:eth0")), HasSubstr("write a PCI address"));
  EXPECT_THAT(ErrorOf(Named("ib:mlx5_0")), HasSubstr("dpdk:"));
}

TEST(OpenDeviceTest, UnknownDevicesAreNamed) {
  EXPECT_THAT(ErrorOf(Named("dpdk:net_nosuch0")), HasSubstr("no driver of that name"));
  EXPECT_THAT(ErrorOf(Named("dpdk:0000:fe:1f.7")), HasSubstr("there is no PCI device"));
  EXPECT_THAT(ErrorOf(Named("dpdk:net_af_packet0")), HasSubstr("iface="));
  EXPECT_THAT(ErrorOf(Named("dpdk:net_af_packet0,iface=nosuch0")),
              HasSubstr("no interface nosuch0"));
}

TEST(OpenDeviceTest, AnArgumentThatDpdkDoesNotKnowIsNamed) {
  DeviceOptions options = Named("dpdk:net_ring0");
  options.arguments = {"--nonsense"};
  EXPECT_THAT(ErrorOf(options), HasSubstr("nonsense"));
}

TEST(OpenDeviceTest, LaterArgumentsComeTooLate) {
  auto first = OpenDevice(Named("dpdk:net_ring0"));
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_THAT(ErrorOf(Named("dpdk:net_ring0")), HasSubstr("open already"));
  DeviceOptions options = Named("dpdk:net_ring1");
  options.arguments = {"-m", "128"};
  EXPECT_THAT(ErrorOf(options), HasSubstr("with the first device"));
  options.arguments.clear();
  auto second = OpenDevice(options);
  ASSERT_TRUE(second.ok()) << second.status().message();
}

TEST(OpenDeviceTest, AClosedDeviceOpensAgain) {
  for (int i = 0; i < 3; ++i) {
    auto device = OpenDevice(Named("dpdk:net_ring0"));
    ASSERT_TRUE(device.ok()) << device.status().message();
  }
}

TEST(OpenDeviceTest, AFilePrefixHasOneUser) {
  DeviceOptions options = Named("dpdk:net_ring0");
  options.arguments = {"--file-prefix=weir_test_" + std::to_string(getpid())};
  PeerProcess peer([&](const PeerProcess::Wanted&) {
    // Too early is as good as too late: whoever comes second is told.
    const Deadline deadline(20);
    std::string error = "it opened";
    while (error == "it opened" && !deadline.passed()) {
      sched_yield();
      error = ErrorOf(options);
    }
    return error.find("file prefix") != std::string::npos ? "" : error;
  });
  auto device = OpenDevice(options);
  ASSERT_TRUE(device.ok()) << device.status().message();
  peer.Go();
  EXPECT_EQ(peer.Wait(), 0);
  device->reset();
  const char* base = geteuid() == 0 ? "/var/run" : std::getenv("XDG_RUNTIME_DIR");
  std::filesystem::remove_all((base == nullptr ? std::string("/tmp") : base) + "/dpdk/weir_test_" +
                              std::to_string(getpid()));
}

// An ordinary user with a /tmp of its own, where another user was first. Leaves nothing behind.
std::string BecomeNobody() {
  constexpr uid_t kNobody = 65534;
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", "/tmp", "tmpfs", 0, "mode=1777") != 0 || mkdir("/tmp/dpdk", 0700) != 0) {
    return "no /tmp of its own can be had";
  }
  unsetenv("XDG_RUNTIME_DIR");
  if (setresgid(kNobody, kNobody, kNobody) != 0) return "the group cannot be changed";
  return setresuid(kNobody, kNobody, kNobody) == 0 ? "" : "the user cannot be changed";
}

// Runs `work` so; false: this process cannot.
bool AsNobody(const std::function<std::string()>& work) {
  if (geteuid() != 0) return false;
  PeerProcess trial([](const PeerProcess::Wanted&) { return BecomeNobody(); });
  trial.Go();
  if (trial.Wait() != 0) return false;
  PeerProcess peer([&work](const PeerProcess::Wanted&) {
    const std::string problem = BecomeNobody();
    return problem.empty() ? work() : problem;
  });
  peer.Go();
  EXPECT_EQ(peer.Wait(), 0);
  return true;
}

TEST(OpenDeviceTest, AMissingPermissionIsNamed) {
  const bool done = AsNobody([]() -> std::string {
    const std::string error = ErrorOf(Named("dpdk:net_af_packet0,iface=lo"));
    return error.find("cap_net_raw") != std::string::npos ? "" : error;
  });
  if (!done) GTEST_SKIP() << "only root, with mounts of its own, can become another user";
}

TEST(OpenDeviceTest, FilesOfAnotherUsersDpdkDoNotStandInTheWay) {
  const bool done = AsNobody([]() -> std::string {
    const std::string error = ErrorOf(Named("dpdk:net_ring0"));
    return error == "it opened" ? "" : error;
  });
  if (!done) GTEST_SKIP() << "only root, with mounts of its own, can become another user";
}

TEST(OpenDeviceTest, BadAddressesAndMtusAreNamed) {
  DeviceOptions options = Named("dpdk:net_ring0");
  options.address = "10.0.0.300/24";
  EXPECT_THAT(ErrorOf(options), HasSubstr("10.0.0.300"));
  options = Named("dpdk:net_ring0");
  options.mtu = 20'000;
  EXPECT_THAT(ErrorOf(options), HasSubstr("give one from"));
  options = Named("dpdk:net_ring0");
  options.neighbours = {{"10.0.0.2", "nonsense"}};
  EXPECT_THAT(ErrorOf(options), HasSubstr("no MAC address"));
  options = Named("dpdk:net_ring0");
  options.gateway = "fd00::1";
  EXPECT_THAT(ErrorOf(options), HasSubstr("IP version"));
}

TEST(OpenDeviceTest, WhatIsAssumedIsSaid) {
  DeviceOptions options = Named("dpdk:net_ring0");
  options.queues = 64;
  auto device = OpenDevice(options);
  ASSERT_TRUE(device.ok()) << device.status().message();
  EXPECT_THAT((*device)->features(), testing::Contains(HasSubstr("assumed")));
  EXPECT_THAT((*device)->warnings(), testing::Contains(HasSubstr("queue pairs, not the 64")));
  EXPECT_EQ((*device)->caps().line_rate, Gbps(100));
}

}  // namespace
}  // namespace weir
