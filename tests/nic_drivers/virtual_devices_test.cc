// Two processes over devices that need no NIC: shared memory, and the kernel's interfaces.
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_format.h"
#include "tests/nic_drivers/peer_process.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

bool HasPmd(const std::string& name) {
  std::error_code error;
  for (const char* base : {"/usr/lib/x86_64-linux-gnu/dpdk", "/usr/lib64/dpdk", "/usr/lib/dpdk"}) {
    for (const auto& entry : fs::recursive_directory_iterator(base, error)) {
      if (entry.path().filename() == "librte_net_" + name + ".so") return true;
    }
  }
  return false;
}

#define REQUIRE_PMD(name) \
  if (!HasPmd(name)) GTEST_SKIP() << "DPDK's driver net_" name " is not installed"

bool Shell(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

DeviceOptions Host(int host, const std::string& device, uint32_t mtu = 0) {
  DeviceOptions options;
  options.device = device;
  options.address = absl::StrFormat("10.1.0.%d/24", host);
  options.mtu = mtu;
  return options;
}

std::string Unique(const char* what) { return absl::StrFormat("%s%d", what, getpid()); }

TEST(DpdkMemifTest, TwoProcessesExchangeMessages) {
  REQUIRE_PMD("memif");
  const std::string socket = "/tmp/" + Unique("weir_memif_") + ".sock";
  const std::string common = ",id=1,socket-abstract=no,socket=" + socket;
  const auto run = [&](int host, const char* role) {
    return SideRun{
        .device = Host(host, absl::StrFormat("dpdk:net_memif0,role=%s%s", role, common), 4200)};
  };
  PeerProcess peer([&](const PeerProcess::Wanted& wanted) {
    SideRun server = run(2, "server");
    server.wanted = wanted;
    return RunSide(server);
  });
  peer.Go();
  SideRun client = run(1, "client");
  client.side.client = true;
  client.peer = "10.1.0.2";
  client.check = [](const NicDevice& device) -> std::string {
    return device.counters().tx_copied == 0 ? "" : "payload was copied";
  };
  EXPECT_EQ(RunSide(client), "");
  EXPECT_EQ(peer.Wait(), 0);
  fs::remove(socket);
}

// Network namespaces without names: they and all in them go with the processes.
class KernelDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    if (!Shell("ip -V")) GTEST_SKIP() << "iproute2 is not installed";
    if (unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "no network namespaces here";
  }
  // One end here, the other with the peer.
  void JoinByVeth(PeerProcess& peer, int mtu = 1500) {
    const Deadline deadline(10);
    const std::string other = absl::StrFormat("/proc/%d/ns/net", peer.pid());
    while (fs::read_symlink(other) == fs::read_symlink("/proc/self/ns/net") && !deadline.passed()) {
      sched_yield();
    }
    ASSERT_TRUE(Shell(absl::StrFormat(
        "ip link add wa mtu %d type veth peer name wb mtu %d netns %d", mtu, mtu, peer.pid())));
    ASSERT_TRUE(Shell("ip link set wa up"));
    ASSERT_TRUE(Shell(absl::StrFormat("nsenter -t %d -n ip link set wb up", peer.pid())));
    peer.Go();
  }

  // The same exchange over the two ends of a veth pair; `device` has %s for the interface.
  // `held`: frames sent whose buffers the device may keep until it sends again.
  void ExchangeOverVeth(const std::string& device, uint32_t mtu, bool in_place, int vlan = -1,
                        uint64_t held = 0, uint32_t queues = 1) {
    const auto named = [&](const std::string& interface) {
      std::string text = device;
      return text.replace(text.find("%s"), 2, interface);
    };
    const auto host = [&](int number, const char* interface) {
      DeviceOptions options = Host(number, named(interface), mtu);
      options.vlan = vlan;
      options.queues = queues;
      return options;
    };
    PeerProcess peer(
        [&](const PeerProcess::Wanted& wanted) {
          return RunSide({.device = host(2, "wb"), .wanted = wanted});
        },
        true);
    JoinByVeth(peer, mtu == 0 ? 1500 : static_cast<int>(mtu));
    const auto check = [&](const NicDevice& opened) -> std::string {
      const DeviceCounters c = opened.counters();
      if (in_place != (c.tx_copied == 0)) return absl::StrFormat("tx_copied is %d", c.tx_copied);
      if (opened.queues() != queues) return "queues are missing";
      if ((queues > 1) != (c.rx_steered > 0)) return absl::StrFormat("%d steered", c.rx_steered);
      if (c.buffers_in_use > held) return absl::StrFormat("%d buffers in use", c.buffers_in_use);
      return "";
    };
    EXPECT_EQ(RunSide({.device = host(1, "wa"),
                       .side = {.client = true},
                       .peer = "10.1.0.2",
                       .check = check}),
              "");
    EXPECT_EQ(peer.Wait(), 0);
  }
};

TEST_F(KernelDevices, AfPacketOverVethBetweenNamespaces) {
  REQUIRE_PMD("af_packet");
  ExchangeOverVeth("dpdk:net_af_packet0,iface=%s", 0, true);
}

TEST_F(KernelDevices, AfPacketWithJumboFrames) {
  REQUIRE_PMD("af_packet");
  ExchangeOverVeth("dpdk:net_af_packet0,iface=%s", 9000, true);
}

TEST_F(KernelDevices, AfPacketWithTagsThatTheDeviceWrites) {
  REQUIRE_PMD("af_packet");
  ExchangeOverVeth("dpdk:net_af_packet0,iface=%s", 0, true, 42);
}

// The kernel spreads flows over the queues as it likes; the driver mends it.
TEST_F(KernelDevices, AfPacketWithSeveralQueues) {
  REQUIRE_PMD("af_packet");
  ExchangeOverVeth("dpdk:net_af_packet0,iface=%s", 0, true, -1, 0, 3);
}

TEST_F(KernelDevices, AfXdpOverVethBetweenNamespaces) {
  REQUIRE_PMD("af_xdp");
  ExchangeOverVeth("dpdk:net_af_xdp0,iface=%s", 0, false, -1, 32);
}

TEST_F(KernelDevices, TwoTapsOnABridge) {
  REQUIRE_PMD("tap");
  ASSERT_TRUE(Shell("ip link add br0 type bridge && ip link set br0 up"));
  // The interface has the MAC address of the device behind it; a bridge would keep its frames.
  const auto join = [](const char* interface, int host) {
    return Shell(absl::StrFormat(
        "ip link set %s address 02:00:00:00:00:%02d && ip link set %s master br0 && "
        "ip link set %s up",
        interface, host, interface, interface));
  };
  PeerProcess peer([&](const PeerProcess::Wanted& wanted) {
    return RunSide({.device = Host(2, "dpdk:net_tap0,iface=tapb"), .wanted = wanted, .opened = [&] {
                      return join("tapb", 2);
                    }});
  });
  peer.Go();
  EXPECT_EQ(RunSide({.device = Host(1, "dpdk:net_tap0,iface=tapa"),
                     .side = {.client = true},
                     .peer = "10.1.0.2",
                     .opened = [&] { return join("tapa", 1); }}),
            "");
  EXPECT_EQ(peer.Wait(), 0);
}

}  // namespace
}  // namespace weir
