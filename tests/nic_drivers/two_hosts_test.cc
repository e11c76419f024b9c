// weir nic check over two hosts: the second one is a thread or a process of its own, and all that
// is said goes over TCP.
#ifdef WEIR_HAS_UDP

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "testbed/nic/check.h"
#include "testbed/nic/matrix.h"
#include "tests/nic_drivers/answer_thread.h"
#include "tests/support/program.h"

namespace weir {
namespace {

using testing::HasSubstr;

CheckOptions Loopback() {
  CheckOptions options{.label = "two hosts"};
  options.a = LoopbackDevice(1);
  options.b = LoopbackDevice(2);
  options.frames = 200;
  options.first_frame_max = std::chrono::milliseconds(100);
  return options;
}

absl::StatusOr<CheckReport> CheckWith(const HostPort& at, const CheckOptions& options,
                                      const DeviceOpener& open_a = OpenDevice) {
  absl::StatusOr<std::unique_ptr<RemoteHost>> b = RemoteHost::Dial(at, {});
  if (!b.ok()) return b.status();
  return RunChecks(options, HostsWith(*std::move(b), open_a), {});
}

// What frames show over two hosts with these faults.
std::string FrameFailure(const PortFaults& a, const PortFaults& b) {
  const AnswerThread other(AnswerThread::Loopback(b));
  CheckOptions options = Loopback();
  options.only = {"frames"};
  const auto report = CheckWith(other.at(), options, OpenerWith(a));
  if (!report.ok()) return "no report: " + std::string(report.status().message());
  return report->outcomes.front().text;
}

TEST(TwoHostsTest, EveryCheckComesOutAsOnOneHost) {
  const AnswerThread other;
  const auto two = CheckWith(other.at(), Loopback());
  ASSERT_TRUE(two.ok()) << two.status();
  other.AwaitEnded(1);
  const auto one = RunChecks(Loopback(), HostsHere(OpenPair, OpenDevice), {});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(two->Count(CheckResult::kFailed), 0u) << CheckMarkdown(*two);
  EXPECT_EQ(other.done(), 1u);
  ASSERT_EQ(two->outcomes.size(), one->outcomes.size());
  for (size_t i = 0; i < one->outcomes.size(); ++i) {
    EXPECT_EQ(two->outcomes[i].name, one->outcomes[i].name);
    EXPECT_EQ(two->outcomes[i].result, one->outcomes[i].result) << two->outcomes[i].name;
    EXPECT_EQ(two->outcomes[i].text, one->outcomes[i].text) << two->outcomes[i].name;
  }
  const auto matrix = MatrixMarkdown({CheckJson(*two)});
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_THAT(*matrix, HasSubstr("| two hosts | passed |"));
}

TEST(TwoHostsTest, TheReportSaysWhereEachDeviceIs) {
  const AnswerThread other;
  CheckOptions options = Loopback();
  options.only = {"link"};
  const auto report = CheckWith(other.at(), options);
  ASSERT_TRUE(report.ok()) << report.status();
  const HostFacts here = ThisHost();
  const nlohmann::json json = CheckJson(*report);
  ASSERT_EQ(json["devices"].size(), 2u);
  for (const nlohmann::json& device : json["devices"]) {
    EXPECT_EQ(device["host"], here.system);
    EXPECT_EQ(device["version"], here.version);
    EXPECT_EQ(device["driver"], "udp_virtual");
  }
  EXPECT_THAT(CheckMarkdown(*report),
              HasSubstr("  - host: " + here.system + "; Weir " + here.version));
}

TEST(TwoHostsTest, AWrongMtuOnOneSideIsNamed) {
  const AnswerThread other;
  CheckOptions options = Loopback();
  options.a.mtu = 1500;
  options.b.mtu = 4000;
  options.only = {"MTU"};
  const auto report = CheckWith(other.at(), options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->outcomes.front().text,
              HasSubstr("the MTU of A is 1500 bytes, that of B 4000"));
}

TEST(TwoHostsTest, AWrongMtuBetweenIsMeasured) {
  // 1014 bytes of frame are 1000 of packet.
  EXPECT_THAT(FrameFailure({}, {.longest = 1014}),
              HasSubstr("A to B: packets of up to 1000 bytes arrive, longer ones do not"));
}

TEST(TwoHostsTest, AFilterOfEitherDirectionIsNamed) {
  EXPECT_THAT(FrameFailure({}, {.deaf = true}),
              HasSubstr("no frame arrives from A to B, while from B to A they do"));
  EXPECT_THAT(FrameFailure({}, {.mute = true}),
              HasSubstr("no frame arrives from B to A, while from A to B they do"));
}

TEST(TwoHostsTest, OnePercentOfLossIsMeasured) {
  // 8 first frames and 3 * 200 more: 6 of these are hundredth ones.
  EXPECT_THAT(FrameFailure({}, {.loses_every = 100}),
              HasSubstr("A to B: 1.00 % of frames are lost (6 of 600); no device counts them"));
  EXPECT_THAT(FrameFailure({.loses_every = 100}, {}),
              HasSubstr("B to A: 1.00 % of frames are lost (6 of 600); no device counts them"));
}

TEST(TwoHostsTest, WhatTheOtherHostsPortBreaksIsNamed) {
  EXPECT_THAT(FrameFailure({}, {.clock_back_every = 97}),
              HasSubstr("A to B: the receiver's port has a clock that ran back by "));
  EXPECT_THAT(FrameFailure({}, {.completions_max = 100}),
              HasSubstr("B to A: the sender's port lends no frames any more"));
}

TEST(TwoHostsTest, WhatADeviceAnswersArrivesWithItsCodeAndWords) {
  const AnswerThread other;
  auto b = RemoteHost::Dial(other.at(), {});
  ASSERT_TRUE(b.ok()) << b.status();
  RemoteHost& host = **b;
  EXPECT_EQ(host.options().device, "udp:lo");
  EXPECT_EQ(host.options().address, LoopbackDevice(2).address);
  DeviceOptions vlan = host.options();
  vlan.vlan = 42;
  const absl::Status refused = host.Open(vlan);
  EXPECT_TRUE(absl::IsUnimplemented(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("ip link add link lo"));
  ASSERT_TRUE(host.Open(host.options()).ok());
  EXPECT_TRUE(host.link_up());
  EXPECT_FALSE(host.gone());
  EXPECT_TRUE(absl::IsUnimplemented(host.SetLink(true)));
  NetAddress own = host.Look().address;
  const auto mac = std::exchange(own.mac, {});
  ASSERT_TRUE(host.Resolve(own).ok());
  EXPECT_EQ(own.mac, mac);
  host.Close();
  const auto chunks = host.OpenInRdmaMode(host.options());
  EXPECT_TRUE(absl::IsUnimplemented(chunks.status()));
  EXPECT_THAT(std::string(chunks.status().message()), HasSubstr("weir nic check A B"));
}

TEST(TwoHostsTest, WhereADoesNotOpenAgainTheNextChecksStillRun) {
  const AnswerThread other;
  CheckOptions options = Loopback();
  options.only = {"closed and reopened", "jumbo frames"};
  int opened = 0;
  const auto report =
      CheckWith(other.at(), options,
                [&](const DeviceOptions& o) -> absl::StatusOr<std::unique_ptr<NicDevice>> {
                  if (++opened == 2) return absl::UnavailableError("not now");
                  return OpenDevice(o);
                });
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->outcomes[0].text, "it does not open again: not now");
  EXPECT_EQ(report->outcomes[1].result, CheckResult::kPassed) << report->outcomes[1].text;
}

// --- Hosts that go away ---

// The program, on a port of its own choice.
class AnswerProgram {
 public:
  explicit AnswerProgram(const std::vector<std::string>& more = {}) : program_(Arguments(more)) {
    EXPECT_TRUE(program_.Prints("listening on 127.0.0.1:"));
    const std::string text = program_.output();
    const std::string start = "listening on ";
    at_ = *ParseHostPort(text.substr(start.size(), text.find('\n') - start.size()), 1);
  }
  const HostPort& at() const { return at_; }
  Program& program() { return program_; }

 private:
  static std::vector<std::string> Arguments(const std::vector<std::string>& more) {
    std::vector<std::string> all = {
        WEIR_PROGRAM, "nic",         "answer",    "udp:lo",
        "--listen",   "127.0.0.1:0", "--address", LoopbackDevice(2).address};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Program program_;
  HostPort at_;
};

TEST(TwoHostsTest, ToAnswerOnceIsToEndWithTheCheck) {
  AnswerProgram answer({"--once"});
  CheckOptions options = Loopback();
  options.only = {"messages"};
  const auto report = CheckWith(answer.at(), options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->Count(CheckResult::kPassed), 1u) << CheckMarkdown(*report);
  EXPECT_EQ(answer.program().Wait(), 0);
  EXPECT_THAT(answer.program().output(), HasSubstr("127.0.0.1: the check is done"));
}

TEST(TwoHostsTest, ToAnswerOnceFailsWithACheckThatBreaksOff) {
  AnswerProgram answer({"--once"});
  {
    RawPeer checker(answer.at());
    ASSERT_THAT(checker.Ask(Hello()), HasSubstr("\"options\""));
  }
  EXPECT_EQ(answer.program().Wait(), 1);
  EXPECT_THAT(answer.program().output(), HasSubstr("127.0.0.1: the connection is lost"));
}

// The other host's process is gone when the check after `check` begins.
absl::Status StatusWhenTheOtherDiesAfter(const std::string& check, AnswerProgram& answer) {
  auto b = RemoteHost::Dial(answer.at(), {});
  if (!b.ok()) return b.status();
  const auto seen = [&](const CheckOutcome& outcome) {
    if (outcome.name != check) return;
    answer.program().Signal(SIGKILL);
    answer.program().Wait();
  };
  return RunChecks(Loopback(), HostsWith(*std::move(b), OpenDevice), seen).status();
}

TEST(TwoHostsTest, AnOtherHostThatDiesEndsWhateverCheckIsUnderWay) {
  for (const char* check : {"MTU", "link", "frames", "addresses", "messages"}) {
    AnswerProgram answer;
    const absl::Status status = StatusWhenTheOtherDiesAfter(check, answer);
    EXPECT_TRUE(absl::IsAborted(status)) << check << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(": the connection is lost: ")) << check;
  }
}

TEST(TwoHostsTest, AnOtherHostThatDiesInTheMidstOfMessagesEndsTheCheckWithTheCause) {
  AnswerProgram answer;
  CheckOptions options = Loopback();
  options.only = {"closed and reopened"};
  // A is opened for the second time while messages are on their way.
  int opened = 0;
  const auto report = CheckWith(answer.at(), options, [&](const DeviceOptions& o) {
    if (++opened == 2) answer.program().Signal(SIGKILL);
    return OpenDevice(o);
  });
  EXPECT_EQ(opened, 2);
  EXPECT_TRUE(absl::IsAborted(report.status())) << report.status();
  const std::string error(report.status().message());
  EXPECT_THAT(error, HasSubstr(answer.at().Text() + ": the connection is lost: "));
  EXPECT_THAT(error, HasSubstr("start the check again"));
}

TEST(TwoHostsTest, ACheckerThatDiesInTheMidstOfMessagesLeavesTheOtherHostToTheNext) {
  const AnswerThread other;
  {
    RawPeer checker(other.at());
    ASSERT_THAT(checker.Ask(Hello()), HasSubstr("\"options\""));
    const nlohmann::json open = {{"do", "open"}, {"options", ToJson(LoopbackDevice(2))}};
    ASSERT_THAT(checker.Ask(open.dump()), HasSubstr("\"code\":0"));
    const ExchangeOptions exchange{.plugins = {{"dctcp", "reps"}}};
    const nlohmann::json start = {
        {"do", "start exchange"}, {"options", ToJson(exchange)}, {"asks", false}};
    ASSERT_THAT(checker.Ask(start.dump()), HasSubstr("\"problem\":\"\""));
  }
  other.AwaitEnded(1);
  EXPECT_EQ(other.done(), 0u);
  // The device can only be opened if it was closed.
  CheckOptions options = Loopback();
  options.only = {"messages"};
  const auto report = CheckWith(other.at(), options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->Count(CheckResult::kPassed), 1u) << CheckMarkdown(*report);
  other.AwaitEnded(2);
  EXPECT_EQ(other.done(), 1u);
}

TEST(TwoHostsTest, ADeviceThatDoesNotOpenThereIsAnErrorWithItsCause) {
  Answerer::Config config = AnswerThread::Loopback();
  config.device.device = "udp:nosuch0";
  const AnswerThread other(config);
  const auto report = CheckWith(other.at(), Loopback());
  EXPECT_THAT(std::string(report.status().message()),
              HasSubstr("there is no network interface nosuch0"));
}

}  // namespace
}  // namespace weir

#endif  // WEIR_HAS_UDP
