// The application's interface, over two devices in one process.
#include "nic_drivers/host/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>

#include "cc_algos/registry.h"
#include "lb_policies/registry.h"
#include "nic_drivers/dpdk/ring_pair.h"

namespace weir {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;

Binding Bind(const char* cc, const char* lb) {
  Binding b{.cc = FindCc(cc), .lb = FindLb(lb)};
  b.cc_config = b.cc->defaults();
  b.lb_config = b.lb->defaults();
  return b;
}

// Two contexts, wired to each other.
class ContextTest : public testing::Test {
 protected:
  void Open(ContextOptions a = {}, ContextOptions b = {}) {
    a.device.address = "10.0.0.1/24";
    b.device.address = "10.0.0.2/24";
    for (ContextOptions* o : {&a, &b}) {
      o->device.mtu = 4200;
      o->device.queues = o->workers;
      o->idle_sleep = true;  // a small machine runs both sides and this thread
      o->listen = true;
    }
    auto pair = OpenRingPair(a.device, b.device);
    ASSERT_TRUE(pair.ok()) << pair.status().message();
    for (auto [options, device, context] :
         {std::tuple(&a, &pair->first, &a_), std::tuple(&b, &pair->second, &b_)}) {
      auto opened = Context::Open(*options, std::move(*device));
      ASSERT_TRUE(opened.ok()) << opened.status().message();
      *context = *std::move(opened);
    }
  }
  // The next completion of `event`; others are kept.
  Completion Next(Context& context, Event event) {
    std::vector<Completion>& seen = seen_[&context];
    const auto deadline = steady_clock::now() + std::chrono::seconds(20);
    while (steady_clock::now() < deadline) {
      const auto found = std::find_if(seen.begin(), seen.end(),
                                      [event](const Completion& c) { return c.event == event; });
      if (found != seen.end()) {
        const Completion completion = *found;
        seen.erase(found);
        return completion;
      }
      Completion some[16];
      const size_t n = context.Poll(some);
      seen.insert(seen.end(), some, some + n);
      if (n == 0) std::this_thread::yield();
    }
    ADD_FAILURE() << "no such completion: " << static_cast<int>(event);
    return {};
  }
  WireId Connect(const Binding* binding = nullptr) {
    const absl::StatusOr<WireId> id = a_->Connect("10.0.0.2", binding);
    if (!id.ok()) {
      ADD_FAILURE() << id.status().message();
      return {};
    }
    EXPECT_EQ(Next(*a_, Event::kOpened).connection, *id);
    return *id;
  }

  std::unique_ptr<Context> a_, b_;
  std::map<Context*, std::vector<Completion>> seen_;
};

std::vector<std::byte> Pattern(size_t size) {
  std::vector<std::byte> out(size);
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<std::byte>(i * 131 >> 3);
  return out;
}

TEST_F(ContextTest, SendsAndWritesArriveWhole) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const WireId id = Connect();
  const WireId there = Next(*b_, Event::kAccepted).connection;
  const std::vector<std::byte> data = Pattern(1'000'003);
  ASSERT_TRUE(a_->RegisterMemory(const_cast<std::byte*>(data.data()), data.size()).ok());

  std::vector<std::byte> received(data.size());
  const auto capacity = static_cast<uint32_t>(received.size());
  ASSERT_TRUE(
      b_->PostReceive(there, {.data = received.data(), .capacity = capacity, .cookie = 7}).ok());
  ASSERT_TRUE(a_->PostSend(id, {.data = data.data(), .length = capacity, .cookie = 8}).ok());
  EXPECT_EQ(Next(*b_, Event::kReceived).cookie, 7u);
  EXPECT_EQ(Next(*a_, Event::kSent).cookie, 8u);
  EXPECT_EQ(received, data);

  std::vector<std::byte> written(data.size() + 5);
  const absl::StatusOr<uint32_t> region = b_->OpenRegion(written.data(), written.size());
  ASSERT_TRUE(region.ok());
  ASSERT_TRUE(a_->PostWrite(id, {.data = data.data(),
                                 .length = capacity,
                                 .region = *region,
                                 .address = 5,
                                 .notify = true})
                  .ok());
  EXPECT_EQ(Next(*b_, Event::kReceived).bytes, capacity);
  Next(*a_, Event::kSent);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), written.begin() + 5));
  EXPECT_EQ(a_->device().counters().tx_copied, 0u);
}

// The payload is seen in the port's buffers, on the endpoint's thread, before its completion.
TEST_F(ContextTest, AMessageIsTakenInPlace) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const WireId id = Connect();
  const WireId there = Next(*b_, Event::kAccepted).connection;
  const std::vector<std::byte> data = Pattern(300'001);
  std::vector<std::byte> taken(data.size());
  const auto take = [](void* argument, uint64_t offset, const void* bytes, size_t size) {
    std::memcpy(static_cast<std::byte*>(argument) + offset, bytes, size);
  };
  const auto capacity = static_cast<uint32_t>(data.size());
  ASSERT_TRUE(
      b_->PostReceive(there, {.capacity = capacity, .in_place = {take, taken.data()}}).ok());
  ASSERT_TRUE(a_->PostSend(id, {.data = data.data(), .length = capacity}).ok());
  EXPECT_EQ(Next(*b_, Event::kReceived).bytes, capacity);
  EXPECT_EQ(taken, data);
}

TEST_F(ContextTest, TwoConnectionsShowTheirOwnAlgorithms) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const Binding one = Bind("dcqcn", "ecmp");
  const Binding other = Bind("swift", "oblivious");
  const WireId first = Connect(&one);
  const WireId second = Connect(&other);
  const auto active = [this](WireId id) {
    const absl::StatusOr<ConnectionInfo> info = a_->Describe(id);
    return info.ok() ? info->algorithm + "/" + info->policy : std::string(info.status().message());
  };
  EXPECT_EQ(active(first), "dcqcn/ecmp");
  EXPECT_EQ(active(second), "swift/oblivious");
  ASSERT_TRUE(a_->Rebind(second, Bind("dctcp", "oblivious")).ok());
  EXPECT_EQ(active(second), "dctcp/oblivious");
  EXPECT_EQ(a_->Connections().size(), 2u);
}

TEST_F(ContextTest, SeveralWorkersShareTheConnections) {
  ASSERT_NO_FATAL_FAILURE(Open({.workers = 2}, {.workers = 2}));
  ASSERT_EQ(a_->workers(), 2u);
  ASSERT_EQ(b_->workers(), 2u);
  const absl::StatusOr<uint32_t> region = b_->OpenRegion(nullptr, 1 << 20);
  ASSERT_TRUE(region.ok());
  std::set<uint32_t> workers;
  for (int i = 0; i < 8; ++i) {
    const WireId id = Connect();
    workers.insert(id.worker());
    ASSERT_TRUE(a_->PostWrite(id, {.length = 100'000, .region = *region}).ok());
    EXPECT_EQ(Next(*a_, Event::kSent).connection, id);
  }
  EXPECT_EQ(workers.size(), 2u);
}

TEST_F(ContextTest, EveryFailureReachesTheCallerWithItsCause) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const absl::StatusOr<WireId> nowhere = a_->Connect("10.0.0.77");
  EXPECT_THAT(std::string(nowhere.status().message()), HasSubstr("10.0.0.77"));
  EXPECT_THAT(std::string(a_->Connect("10.0.0").status().message()), HasSubstr("10.0.0"));

  const WireId id = Connect();
  const WireId there = Next(*b_, Event::kAccepted).connection;
  ASSERT_TRUE(b_->Abort(there).ok());
  EXPECT_EQ(Next(*b_, Event::kFailed).cause, Cause::kAborted);
  EXPECT_EQ(Next(*a_, Event::kFailed).cause, Cause::kAbortedByPeer);
  ASSERT_TRUE(a_->PostWrite(id, {.length = 8, .cookie = 3}).ok());
  const Completion rejected = Next(*a_, Event::kRejected);
  EXPECT_EQ(rejected.cookie, 3u);
  EXPECT_EQ(rejected.cause, Cause::kNotOpen);
  const absl::StatusOr<ConnectionInfo> last = a_->Describe(id);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->state, ConnectionState::kFree);
  EXPECT_EQ(last->algorithm, "nscc");
}

TEST_F(ContextTest, APeerThatIsGoneNeverAnswers) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_TRUE(a_->Close(Connect()).ok());
  EXPECT_EQ(Next(*a_, Event::kClosed).cause, Cause::kNone);
  b_.reset();
  ASSERT_TRUE(a_->Connect("10.0.0.2").ok());  // its MAC address is known by now
  EXPECT_EQ(Next(*a_, Event::kFailed).cause, Cause::kNeverAnswered);
}

TEST_F(ContextTest, ClosingAContextTellsThePeerAndLeavesNothing) {
  ASSERT_NO_FATAL_FAILURE(Open());
  constexpr int kConnections = 200;  // more than an endpoint can abort in one turn
  for (int i = 0; i < kConnections; ++i) Connect();
  a_.reset();
  for (int i = 0; i < kConnections; ++i) {
    EXPECT_EQ(Next(*b_, Event::kFailed).cause, Cause::kAbortedByPeer);
  }
  EXPECT_TRUE(b_->Connections().empty());
  EXPECT_EQ(b_->device().counters().buffers_in_use, 0u);
}

TEST(ContextOptionsTest, AFileSaysAllOfIt) {
  const absl::StatusOr<ContextOptions> options = ParseContext(R"(
schema = 1
[device]
name = "dpdk:net_memif0"
address = "10.0.0.1/24"
vlan = 7
neighbours = { "10.0.0.2" = "02:00:00:00:00:02" }
[engine]
workers = 2
cores = [1, 3]
[network]
base_rtt = "12us"
payload = "4096B"
[connections]
listen = true
cc = "swift"
lb = "ecmp"
cc_params = { base_target = "30us" }
)",
                                                              "host.toml");
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(options->device.vlan, 7);
  EXPECT_EQ(options->device.neighbours.size(), 1u);
  EXPECT_EQ(options->cores, (std::vector<int>{1, 3}));
  EXPECT_EQ(options->base_rtt, Micros(12));
  EXPECT_STREQ(options->binding.cc->name, "swift");
  EXPECT_TRUE(options->listen);
}

TEST(ContextOptionsTest, TheFileInTheDocumentationIsOne) {
  std::ifstream in(WEIR_SOURCE_DIR "/docs/hosts.md");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const size_t begin = text.find("```toml\n") + 8;
  const absl::StatusOr<ContextOptions> options =
      ParseContext(text.substr(begin, text.find("```", begin) - begin), "hosts.md");
  ASSERT_TRUE(options.ok()) << options.status().message();
  // It says what is the default anyway, where there is one.
  const ContextOptions none;
  EXPECT_EQ(options->base_rtt, none.base_rtt);
  EXPECT_EQ(options->rto_min, none.rto_min);
  EXPECT_EQ(options->open_timeout, none.open_timeout);
  EXPECT_EQ(options->patience, none.patience);
  EXPECT_EQ(options->keepalive, none.keepalive);
  EXPECT_EQ(options->connections_max, none.connections_max);
  EXPECT_EQ(options->messages_max, none.messages_max);
  EXPECT_EQ(options->regions_max, none.regions_max);
}

TEST(ContextOptionsTest, AMistakeIsNamedWithItsPlace) {
  const auto message = [](const std::string& text) {
    return std::string(ParseContext(text, "host.toml").status().message());
  };
  EXPECT_THAT(message("[device]\naddress = \"10.0.0.1/24\"\n"), HasSubstr("name: is missing"));
  EXPECT_THAT(message("[device]\nname = \"dpdk:x\"\naddress = \"1.1.1.1/8\"\n[engine]\nworker = 2"),
              HasSubstr("host.toml:5"));
  EXPECT_THAT(message("[device]\nname = \"dpdk:x\"\naddress = \"1.1.1.1/8\"\n[connections]\ncc = "
                      "\"swft\""),
              HasSubstr("swift"));
  EXPECT_THAT(message("= 3"), HasSubstr("host.toml:1"));
}

}  // namespace
}  // namespace weir
