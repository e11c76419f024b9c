// Threads and rings, over a port that leads nowhere.
#include "nic_drivers/host/engine.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "cc_algos/registry.h"
#include "lb_policies/registry.h"

namespace weir {
namespace {

using std::chrono::steady_clock;

class NowherePort final : public NicPort {
 public:
  Time Now() override {
    return Time(0) + Duration(std::chrono::nanoseconds(steady_clock::now() - start_).count());
  }
  const PortCaps& caps() const override { return caps_; }
  size_t RxBurst(std::span<Frame>) override { return 0; }
  void Release(std::span<const Frame>) override {}
  size_t TxFrames(std::span<Frame> out) override {
    for (size_t i = 0; i < out.size(); ++i) out[i] = {.data = room_[i].data()};
    return out.size();
  }
  void TxBurst(std::span<const Frame>) override {}

 private:
  steady_clock::time_point start_ = steady_clock::now();
  PortCaps caps_{.line_rate = Gbps(100)};
  std::array<std::array<std::byte, kFrameHeaderRoom>, kBurst> room_;
};

class EngineTest : public testing::Test {
 protected:
  void Start(EngineConfig config, uint32_t messages = 16) {
    auto engine = Engine::Create(config);
    ASSERT_TRUE(engine.ok());
    engine_ = *std::move(engine);
    binding_ = {.cc = FindCc("none"), .lb = FindLb("ecmp")};
    binding_.cc_config = binding_.cc->defaults();
    binding_.lb_config = binding_.lb->defaults();
    EndpointConfig endpoint;
    endpoint.address = NetAddress::V4(0x0A00'0001, 1);
    endpoint.binding = &binding_;
    endpoint.line_rate = Gbps(100);
    endpoint.base_rtt = Micros(10);
    endpoint.tx_messages_max = messages;
    channel_ = &engine_->Add(port_, *Endpoint::Create(endpoint), 0);
    ASSERT_TRUE(engine_->Start().ok());
  }
  // The next completion; ends the test's patience after a while.
  Completion Next() {
    Completion c;
    const auto deadline = steady_clock::now() + std::chrono::seconds(10);
    while (channel_->PollCompletions({&c, 1}) == 0 && steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    return c;
  }

  NowherePort port_;
  Binding binding_;
  std::unique_ptr<Engine> engine_;
  Channel* channel_ = nullptr;
};

TEST_F(EngineTest, CallsRunOnTheEndpointsThreadUntilItStops) {
  ASSERT_NO_FATAL_FAILURE(Start({}));
  std::thread::id running;
  channel_->Call([&](Time, Endpoint&) { running = std::this_thread::get_id(); });
  EXPECT_NE(running, std::this_thread::get_id());
  engine_->Stop();
  channel_->Call([&](Time, Endpoint&) { running = std::this_thread::get_id(); });
  EXPECT_EQ(running, std::this_thread::get_id());
}

TEST_F(EngineTest, WhatAnEndpointCannotTakeComesBackWithItsCookieAndCause) {
  ASSERT_NO_FATAL_FAILURE(Start({}));
  ASSERT_TRUE(channel_->Post({.connection = {5}, .request = SendRequest{.cookie = 77}}));
  const Completion c = Next();
  EXPECT_EQ(c.event, Event::kRejected);
  EXPECT_EQ(c.cause, Cause::kNotOpen);
  EXPECT_EQ(c.cookie, 77u);
}

TEST_F(EngineTest, AFullRingSaysSo) {
  ASSERT_NO_FATAL_FAILURE(Start({.ring = 4}));
  engine_->Stop();
  int posted = 0;
  while (posted < 100 && channel_->Post({.connection = {5}, .request = ReceiveRequest{}})) ++posted;
  EXPECT_EQ(posted, 4);
}

TEST_F(EngineTest, TimeIsIdleWhileNothingMovesAndGapsAreSeen) {
  ASSERT_NO_FATAL_FAILURE(Start({}));
  // A poll that takes two milliseconds.
  channel_->Call([](Time, Endpoint&) {
    const auto end = steady_clock::now() + std::chrono::milliseconds(2);
    while (steady_clock::now() < end) {
    }
  });
  channel_->Call([](Time, Endpoint&) {});  // the turn of the first is over
  engine_->Stop();
  const PollStats stats = engine_->stats(0);
  const double two_ms = 1.9e-3 * stats.cycles_per_second;
  EXPECT_GE(static_cast<double>(stats.longest_gap_cycles), two_ms);
  EXPECT_GE(static_cast<double>(stats.busy_cycles), two_ms);
  EXPECT_GT(stats.idle_cycles, 0u);
}

TEST_F(EngineTest, AnIdleThreadThatSleepsStillAnswers) {
  ASSERT_NO_FATAL_FAILURE(Start({.idle_sleep = true}));
  for (int i = 0; i < 100; ++i) channel_->Call([](Time, Endpoint&) {});
  EXPECT_FALSE(Engine::Create({.threads = Engine::kThreadsMax + 1}).ok());
}

}  // namespace
}  // namespace weir
