// What the answering host and its checker do about peers that are not what they should be.
#ifdef WEIR_HAS_UDP

#include "testbed/nic/answerer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/nic/host_json.h"
#include "tests/nic_drivers/answer_thread.h"
#include "tests/support/run_weir.h"

namespace weir {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

std::string ConnectError(const HostPort& to, const RemoteHost::Patience& patience = {}) {
  const auto host = RemoteHost::Dial(to, patience);
  return host.ok() ? "none" : std::string(host.status().message());
}

// The other host is free and in order.
void ExpectAnswers(const AnswerThread& other) { EXPECT_EQ(ConnectError(other.at()), "none"); }

// A peer of RemoteHost that says one line and waits until it is left.
class FakeAnswerer {
 public:
  explicit FakeAnswerer(const std::string& line)
      : listener_(*LineListener::Open({.host = "127.0.0.1", .port = 0})), thread_([this, line] {
          std::optional<LineSocket> socket;
          while (!(socket = listener_.Accept())) listener_.Wait(milliseconds(100));
          RawPeer checker(*std::move(socket));
          (void)checker.Hear();
          if (!line.empty()) checker.Say(line);
          while (checker.Hear() != "closed") {
          }
        }) {}
  ~FakeAnswerer() { thread_.join(); }

  HostPort at() const { return {.host = "127.0.0.1", .port = listener_.port()}; }

 private:
  LineListener listener_;
  std::thread thread_;
};

// --- The checker's side ---

TEST(RemoteHostTest, AHostOfAnotherVersionIsRefusedAndBothVersionsAreNamed) {
  const FakeAnswerer other(json{{"host", {{"system", "x"}, {"version", "9.9.9"}}}}.dump());
  EXPECT_THAT(ConnectError(other.at()),
              HasSubstr(other.at().Text() + " runs Weir 9.9.9, and this is Weir " WEIR_VERSION));
}

TEST(RemoteHostTest, WhatIsNoAnswerIsNamedAndWhatToLookAt) {
  for (const char* line : {"HTTP/1.1 400 Bad Request", "[]", R"({"report":{"sent":-1}})"}) {
    const FakeAnswerer other(line);
    EXPECT_THAT(ConnectError(other.at()),
                AllOf(HasSubstr(other.at().Text()), HasSubstr("is that `weir nic answer`")))
        << line;
  }
  const FakeAnswerer other("{}");
  EXPECT_THAT(ConnectError(other.at()), HasSubstr("\"host\" is missing"));
}

TEST(RemoteHostTest, ALineWithoutAnEndIsGivenUpAtItsBound) {
  const FakeAnswerer other(std::string(kLineMax + 1, 'x'));
  EXPECT_THAT(ConnectError(other.at()), HasSubstr("a line is longer than 262144 bytes"));
}

TEST(RemoteHostTest, SilenceEndsAtItsBound) {
  const FakeAnswerer other("");
  EXPECT_THAT(ConnectError(other.at(), {.answer = milliseconds(50)}),
              HasSubstr("it has not answered for 50 ms"));
}

TEST(RemoteHostTest, WhereNobodyListensTheRemedyIsNamed) {
  // A port that was free a moment ago.
  const HostPort at{.host = "127.0.0.1",
                    .port = LineListener::Open({.host = "127.0.0.1", .port = 0})->port()};
  EXPECT_THAT(ConnectError(at), AllOf(HasSubstr(at.Text() + ": Connection refused"),
                                      HasSubstr("start `weir nic answer <device>` there")));
}

TEST(RemoteHostTest, OutOfReachNothingIsWaitedFor) {
  auto gone = std::make_unique<FakeAnswerer>(
      json{{"host", ToJson(ThisHost())}, {"options", ToJson(LoopbackDevice(2))}}.dump());
  auto connected = RemoteHost::Dial(gone->at(), {.answer = milliseconds(50)});
  ASSERT_TRUE(connected.ok()) << connected.status();
  RemoteHost& host = **connected;
  EXPECT_TRUE(host.reach().ok());
  (void)host.Look();  // has no answer
  EXPECT_TRUE(absl::IsDeadlineExceeded(host.reach()));
  const HostProgress progress = host.progress();
  EXPECT_TRUE(progress.stuck && progress.settled && progress.drained);
  EXPECT_EQ(progress.problem, host.reach().message());
  EXPECT_EQ(host.Open(host.options()), host.reach());
  NetAddress own;
  EXPECT_EQ(host.Resolve(own), host.reach());
  EXPECT_EQ(host.EndFrames().sent, 0u);
  connected->reset();
  gone.reset();
}

// --- The answering side ---

TEST(AnswererTest, ACheckerOfAnotherVersionLearnsOursAndIsLetGo) {
  const AnswerThread other;
  RawPeer checker(other.at());
  const json reply = json::parse(checker.Ask(Hello("9.9.9")));
  EXPECT_EQ(reply, (json{{"host", ToJson(ThisHost())}}));
  EXPECT_EQ(checker.Hear(), "closed");
  ExpectAnswers(other);
}

TEST(AnswererTest, NonsenseIsAnsweredWithWhatIsWrongAndTheNextCheckerIsAnswered) {
  const AnswerThread other;
  for (const auto& [line, words] :
       {std::pair<std::string, const char*>{"GET / HTTP/1.1", "is no JSON object"},
        {"[1]", "is no JSON object"},
        {R"({"do":7})", "\\\"do\\\" is no text"},
        {R"({"do":"open","version":"0.1.0"})", "is not \\\"hello\\\""},
        {R"({"do":"hello"})", "\\\"version\\\" is missing"},
        {std::string(kLineMax + 1, '['), "a line is longer than"}}) {
    RawPeer peer(other.at());
    EXPECT_THAT(peer.Ask(line), AllOf(HasSubstr("\"error\""), HasSubstr(words)))
        << line.substr(0, 40);
  }
  ExpectAnswers(other);
}

TEST(AnswererTest, ARequestThatMakesNoSenseEndsTheCheckAndNotTheProcess) {
  const AnswerThread other;
  for (const auto& [line, words] :
       {std::pair<std::string, const char*>{R"({"do":"dance"})", "there is no request"},
        {R"({"do":"look"})", "makes no sense as the device is now"},
        {R"({"do":"go on","frames":1})", "makes no sense as the device is now"},
        {R"({"do":"drain"})", "makes no sense as the device is now"},
        {R"({"do":"open","options":{"address":7}})", "\\\"device\\\" is missing"}}) {
    RawPeer checker(other.at());
    ASSERT_THAT(checker.Ask(Hello()), HasSubstr("\"options\""));
    EXPECT_THAT(checker.Ask(line), AllOf(HasSubstr("\"error\""), HasSubstr(words))) << line;
  }
  ExpectAnswers(other);
}

TEST(AnswererTest, WhatWouldNotFitTheDeviceIsRefused) {
  const AnswerThread other;
  const auto frames = [&](uint32_t packet, const json& peer) {
    return json{{"do", "start frames"},
                {"options", ToJson(FrameTrialOptions{.packet = packet, .count = 1})},
                {"peer", peer},
                {"sends", true}}
        .dump();
  };
  const json v4 = {{"ip", "127.0.0.1"}, {"mac", "02:00:00:00:00:01"}};
  const json v6 = {{"ip", "fd00::1"}, {"mac", "02:00:00:00:00:01"}};
  const uint32_t shortest = FramePacketMin(false);
  // The loopback interface's packets are larger than the driver's longest.
  for (const auto& [line, words] :
       {std::pair<std::string, const char*>{frames(shortest, v4), "\"report\""},
        {frames(9600, v4), "\"report\""},
        {frames(shortest - 1, v4), "packets that the device does not carry"},
        {frames(9601, v4), "packets that the device does not carry"},
        {frames(shortest, v6), "has an address of another version"}}) {
    RawPeer checker(other.at());
    ASSERT_THAT(checker.Ask(Hello()), HasSubstr("\"options\""));
    const json open = {{"do", "open"}, {"options", ToJson(LoopbackDevice(2))}};
    ASSERT_THAT(checker.Ask(open.dump()), HasSubstr("\"code\":0"));
    EXPECT_THAT(checker.Ask(line), HasSubstr(words)) << line;
    (void)checker.Ask(R"({"do":"bye"})");
  }
}

TEST(AnswererTest, ASecondCheckerIsToldWhoIsThere) {
  const AnswerThread other;
  RawPeer first(other.at());
  ASSERT_THAT(first.Ask(Hello()), HasSubstr("\"options\""));
  EXPECT_THAT(ConnectError(other.at()),
              HasSubstr("it is busy with a check from 127.0.0.1; wait until that has ended"));
  // The first one goes on.
  EXPECT_THAT(first.Ask(R"({"do":"report"})"), HasSubstr("\"report\""));
  EXPECT_EQ(first.Ask(R"({"do":"bye"})"), "{}");
  other.AwaitEnded(1);
  ExpectAnswers(other);
}

TEST(AnswererTest, SilenceBeforeAndAfterTheFirstWordIsBounded) {
  Answerer::Config config = AnswerThread::Loopback();
  config.hello_max = milliseconds(30);
  config.silence_max = milliseconds(60);
  const AnswerThread other(config);
  RawPeer mute(other.at());
  EXPECT_THAT(mute.Hear(), HasSubstr("nothing was heard for 30 ms"));
  RawPeer checker(other.at());
  ASSERT_THAT(checker.Ask(Hello()), HasSubstr("\"options\""));
  EXPECT_THAT(checker.Hear(), HasSubstr("nothing was heard for 60 ms"));
  ExpectAnswers(other);
}

TEST(HostCommandsTest, ACheckerHasNoSayInTheDeviceNorInArgumentsOfItsLibrary) {
  DeviceOptions own = LoopbackDevice(2), opened;
  own.arguments = {"--own"};
  own.neighbours = {{"10.0.0.1", "02:00:00:00:00:01"}};
  HostCommands commands(own, [&](const DeviceOptions& o) {
    opened = o;
    return absl::UnavailableError("not in this test");
  });
  const json reply = *commands.Do({{"do", "open"},
                                   {"options",
                                    {{"device", "udp:other"},
                                     {"arguments", {"-d", "/tmp/evil.so"}},
                                     {"address", "10.0.0.9/24"},
                                     {"gateway", "10.0.0.254"},
                                     {"queues", 3},
                                     {"mtu", 1400},
                                     {"vlan", 7},
                                     {"offloads", false}}}});
  EXPECT_EQ(reply["status"]["message"], "not in this test");
  EXPECT_EQ(opened.device, "udp:lo");
  EXPECT_EQ(opened.arguments, own.arguments);
  EXPECT_EQ(opened.neighbours, own.neighbours);
  EXPECT_EQ(opened.address, "10.0.0.9/24");
  EXPECT_EQ(opened.gateway, "10.0.0.254");
  EXPECT_EQ(opened.queues, 3u);
  EXPECT_EQ(opened.mtu, 1400u);
  EXPECT_EQ(opened.vlan, 7);
  EXPECT_FALSE(opened.offloads);
}

// --- What the program is asked for ---

TEST(NicCheckCommandTest, WhatMakesNoSenseTogetherIsRefused) {
  for (const auto& [arguments, words] :
       {std::pair{"udp:lo", "name a second device of this host, or another host (--with)"},
        {"udp:lo udp:lo --with 127.0.0.1", "and not both"},
        {"udp:lo --with 127.0.0.1:x", "the forms are"},
        {"ring --with 127.0.0.1", "a ring does not leave this process"},
        {"udp:lo --with 127.0.0.1 --address-b 10.0.0.1/24", "weir nic answer --address"}}) {
    const Outcome outcome = Weir(std::string("nic check ") + arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_THAT(outcome.text, HasSubstr(words)) << arguments;
  }
  EXPECT_THAT(Weir("nic answer nosuch:x").text, HasSubstr("nosuch:x"));
  EXPECT_THAT(Weir("nic answer udp:lo --listen 127.0.0.1:x").text, HasSubstr("the forms are"));
}

}  // namespace
}  // namespace weir

#endif  // WEIR_HAS_UDP
