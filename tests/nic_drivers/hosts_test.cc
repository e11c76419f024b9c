// Two processes, `weir serve` and `weir perf`, and what happens when one of them or the link goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "tests/support/program.h"

namespace weir {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

bool Shell(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The two sides of a link, as arguments of the program.
class Hosts : public testing::Test {
 protected:
  std::vector<std::string> Serve() const {
    return server_prefix_ +
           std::vector<std::string>{WEIR_PROGRAM, "serve",     "--idle-sleep", "--size-max",
                                    "1MiB",       "--address", "10.9.0.2/24",  "--device"} +
           std::vector<std::string>{server_device_};
  }
  std::vector<std::string> Perf(const std::vector<std::string>& more,
                                const std::string& test = "bw") const {
    return std::vector<std::string>{WEIR_PROGRAM,  "perf",         test,
                                    "10.9.0.2",    "--idle-sleep", "--address",
                                    "10.9.0.1/24", "--device",     client_device_} +
           more;
  }
  // A transfer on its way: 30 seconds of it.
  void StartTransfer() {
    server_ = std::make_unique<Program>(Serve());
    ASSERT_TRUE(server_->Prints("listening")) << server_->output();
    client_ = std::make_unique<Program>(Perf({"-D", seconds_, "-s", "64KiB", "-t", "16"}));
    ASSERT_TRUE(client_->Prints("#bytes")) << client_->output();
    // Its first connection has been accepted and measures.
    Let(1);
  }
  // Lets the two go on for a while; nothing is asserted about what they do in it.
  static void Let(int seconds) {
    Program clock({"sleep", std::to_string(seconds)});
    EXPECT_EQ(clock.Wait(), 0);
  }
  void ExpectAnotherTransfer() {
    Program again(Perf({"-n", "100", "-s", "64KiB"}));
    EXPECT_EQ(again.Wait(), 0) << again.output();
  }

  std::vector<std::string> server_prefix_;
  std::string server_device_;
  std::string client_device_;
  std::string seconds_ = "30";
  std::unique_ptr<Program> server_;
  std::unique_ptr<Program> client_;
};

class MemifHosts : public Hosts {
 protected:
  void SetUp() override {
    const std::string common =
        absl::StrFormat(",socket-abstract=no,socket=/tmp/weir_hosts_%d.sock", getpid());
    server_device_ = "dpdk:net_memif0,role=server" + common;
    client_device_ = "dpdk:net_memif0,role=client" + common;
  }
  void TearDown() override { fs::remove(absl::StrFormat("/tmp/weir_hosts_%d.sock", getpid())); }
};

// A veth pair between this process's network and another's.
class VethHosts : public Hosts {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    if (!Shell("ip -V")) GTEST_SKIP() << "iproute2 is not installed";
    if (unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "no network namespaces here";
    other_ = std::make_unique<Program>(
        std::vector<std::string>{"unshare", "-n", "sh", "-c", "echo there; exec sleep 600"});
    ASSERT_TRUE(other_->Prints("there"));
    const std::string pid = std::to_string(other_->pid());
    ASSERT_TRUE(Shell("ip link add wa type veth peer name wb netns " + pid));
    ASSERT_TRUE(Shell("ip link set wa up"));
    ASSERT_TRUE(Shell("nsenter -t " + pid + " -n ip link set wb up"));
    server_prefix_ = {"nsenter", "-t", pid, "-n"};
    server_device_ = "dpdk:net_af_packet0,iface=wb";
    client_device_ = "dpdk:net_af_packet0,iface=wa";
  }
  std::unique_ptr<Program> other_;
};

TEST_F(MemifHosts, PerfPrintsTheColumnsOfPerftest) {
  Program server(Serve());
  ASSERT_TRUE(server.Prints("listening")) << server.output();
  Program bandwidth(Perf({"-n", "200", "--report_gbits"}));
  EXPECT_EQ(bandwidth.Wait(), 0) << bandwidth.output();
  EXPECT_THAT(bandwidth.output(), HasSubstr("BW average[Gb/sec]   MsgRate[Mpps]"));
  EXPECT_THAT(bandwidth.output(), HasSubstr("nscc over reps"));

  const std::string file = absl::StrFormat("/tmp/weir_perf_%d.json", getpid());
  Program latency(Perf({"-n", "200", "-s", "8B", "--json", file}, "lat"));
  EXPECT_EQ(latency.Wait(), 0) << latency.output();
  EXPECT_THAT(latency.output(), HasSubstr("99.9% percentile[usec]"));
  const nlohmann::json json = nlohmann::json::parse(std::ifstream(file));
  fs::remove(file);
  EXPECT_EQ(json["schema"], "weir.perf/1");
  const auto& result = json["results"][0];
  EXPECT_EQ(result["n_iterations"], 200);
  EXPECT_GT(result["t_min"], 0.0);
  EXPECT_LE(result["t_min"], result["t_typical"]);
  EXPECT_LE(result["t_typical"], result["percentile_99"]);
  EXPECT_LE(result["percentile_99"], result["percentile_99.9"]);
  EXPECT_LE(result["percentile_99.9"], result["t_max"]);

  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  EXPECT_THAT(server.output(), HasSubstr("left: 0 connections, 0 buffers"));
}

TEST_F(VethHosts, PerfRunsOverAfXdp) {
  server_device_ = "dpdk:net_af_xdp0,iface=wb";
  client_device_ = "dpdk:net_af_xdp0,iface=wa";
  Program server(Serve());
  if (!server.Prints("listening")) {
    GTEST_SKIP() << "AF_XDP does not work here: " << server.output();
  }
  for (const char* test : {"bw", "lat"}) {
    Program perf(Perf({"-n", "200", "-s", "4KiB"}, test));
    EXPECT_EQ(perf.Wait(), 0) << perf.output();
    EXPECT_THAT(perf.output(), HasSubstr("nscc over reps"));
  }
}

// The interface has the MAC address of the device behind it, and a bridge would keep its frames, so
// each gets another as soon as the device has started.
TEST_F(VethHosts, PerfRunsOverTap) {
  ASSERT_TRUE(Shell("ip link add br0 type bridge && ip link set br0 up"));
  const auto join = [](const std::string& interface, int host) {
    return std::vector<std::string>{
        "sh", "-c",
        absl::StrFormat("until ip link show %s up | grep %s; do sleep 0.05; done; "
                        "ip link set %s address 02:00:00:00:00:%02d && ip link set %s master br0",
                        interface, interface, interface, host, interface)};
  };
  server_prefix_ = {};
  server_device_ = "dpdk:net_tap0,iface=tapb";
  client_device_ = "dpdk:net_tap0,iface=tapa";
  Program server_joins(join("tapb", 2));
  Program server(Serve());
  if (!server.Prints("listening")) GTEST_SKIP() << "TAP does not work here: " << server.output();
  EXPECT_EQ(server_joins.Wait(), 0);
  for (const char* test : {"bw", "lat"}) {
    Program client_joins(join("tapa", 1));
    Program perf(Perf({"-n", "200", "-s", "4KiB"}, test));
    EXPECT_EQ(perf.Wait(), 0) << perf.output();
    EXPECT_THAT(perf.output(), HasSubstr("nscc over reps"));
  }
}

TEST_F(VethHosts, AKilledServerIsNoticedWithItsCauseAndCanBeReplaced) {
  StartTransfer();
  server_->Signal(SIGKILL);
  EXPECT_EQ(client_->Wait(30), 1) << client_->output();
  EXPECT_THAT(client_->output(), HasSubstr("the peer stopped answering"));
  Program next(Serve());
  ASSERT_TRUE(next.Prints("listening")) << next.output();
  ExpectAnotherTransfer();
}

TEST_F(VethHosts, AKilledClientLeavesNothingAtTheServer) {
  StartTransfer();
  client_->Signal(SIGKILL);
  EXPECT_TRUE(server_->Prints("the peer stopped answering", 30)) << server_->output();
  ExpectAnotherTransfer();
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0);
  EXPECT_THAT(server_->output(), HasSubstr("left: 0 connections, 0 buffers"));
}

TEST_F(VethHosts, AServerThatStopsForSecondsIsWaitedFor) {
  seconds_ = "5";
  StartTransfer();
  server_->Signal(SIGSTOP);
  Let(2);
  server_->Signal(SIGCONT);
  EXPECT_EQ(client_->Wait(30), 0) << client_->output();
}

TEST_F(VethHosts, ALinkThatGoesDownAndUpIsSurvived) {
  seconds_ = "5";
  StartTransfer();
  ASSERT_TRUE(Shell("ip link set wa down"));
  Let(1);
  ASSERT_TRUE(Shell("ip link set wa up"));
  EXPECT_EQ(client_->Wait(30), 0) << client_->output();
}

// The peer answers again, but does not know the connection.
TEST_F(VethHosts, ARestartedServerSaysThatItDoesNotKnowUs) {
  StartTransfer();
  server_->Signal(SIGKILL);
  server_ = std::make_unique<Program>(Serve());
  ASSERT_TRUE(server_->Prints("listening")) << server_->output();
  EXPECT_EQ(client_->Wait(30), 1) << client_->output();
  EXPECT_THAT(client_->output(), HasSubstr("the peer does not know this connection"));
  ExpectAnotherTransfer();
}

TEST(HostsTest, NobodyThereIsAnErrorWithItsReason) {
  Program perf({WEIR_PROGRAM, "perf", "bw", "10.9.0.2", "--address", "10.9.0.1/24", "--device",
                "dpdk:net_null0"});
  EXPECT_EQ(perf.Wait(), 1) << perf.output();
  EXPECT_THAT(perf.output(), HasSubstr("10.9.0.2"));
}

TEST(HostsTest, EveryConnectionTakesPart) {
  const std::string file = absl::StrFormat("/tmp/weir_perf_%d.json", getpid());
  Program perf({WEIR_PROGRAM, "perf", "bw", "ring", "-q", "40", "-n", "400", "-w", "40", "-s",
                "8KiB", "--idle-sleep", "--json", file});
  EXPECT_EQ(perf.Wait(), 0) << perf.output();
  const nlohmann::json json = nlohmann::json::parse(std::ifstream(file));
  fs::remove(file);
  ASSERT_EQ(json["results"][0]["connections"].size(), 40u);
  for (const auto& connection : json["results"][0]["connections"]) {
    EXPECT_GE(connection["packets"], 11) << connection["remote"];  // and the greeting
  }
}

TEST(HostsTest, MoreMessagesAtOnceThanThereIsRoomForAreRefused) {
  Program perf({WEIR_PROGRAM, "perf", "bw", "ring", "-q", "1000", "-t", "2000"});
  EXPECT_EQ(perf.Wait(), 1);
  EXPECT_THAT(perf.output(), HasSubstr("at most 16384"));
}

TEST(HostsTest, BothEndsInOneProcessOverRings) {
  Program perf({WEIR_PROGRAM, "perf", "bw", "ring", "-n", "500", "--idle-sleep", "--cc", "dctcp",
                "--lb", "oblivious"});
  EXPECT_EQ(perf.Wait(), 0) << perf.output();
  EXPECT_THAT(perf.output(), HasSubstr("dctcp over oblivious"));
}

}  // namespace
}  // namespace weir
