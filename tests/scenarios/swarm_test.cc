// Whole networks under faults, one for each seed: whatever happens on the way, every message
// arrives once and intact, every completion comes once, and nothing is left over.
//
// WEIR_SWARM_SEEDS=1000 runs more of them; WEIR_SWARM_FIRST=17 begins with seed 17.
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "tests/support/agenda.h"
#include "tests/support/swarm_pair.h"
#include "tests/support/swarm_plan.h"

namespace weir {
namespace {

constexpr uint32_t kNobody = 0xFFFF'FFFF;
// Long after the last fault and every back-off, yet bounded.
constexpr Time kTidyUp = Time(0) + Seconds(20);
constexpr Time kLimit = Time(0) + Seconds(60);
constexpr uint64_t kEventsMax = 30'000'000;

class Swarm {
 public:
  explicit Swarm(const SwarmPlan& plan)
      : plan_(plan), rng_(Mix64(plan.seed)), world_(plan.topology, plan.world), agenda_(world_) {
    world_.OnCompletion([this](uint32_t host, const Completion& c) { OnCompletion(host, c); });
    AddHosts();
    agenda_.Add(plan_.faults, kFaultsEnd);
    AddPairs();
    if (plan_.ending == Ending::kVanish) {
      After(Micros(600), [this] { Vanish(rng_.Below(plan_.topology.hosts)); });
    }
    agenda_.At(kTidyUp, [this] { CloseAll(); });
  }

  // Empty, or the first thing that went wrong.
  std::string Run() {
    while (!AllEnded() && world_.Step(kLimit) && world_.events() < kEventsMax) {
    }
    if (!AllEnded()) Fail(absl::StrFormat("not all has ended at %d ns", world_.now().nanos()));
    world_.RunFor(Seconds(1));  // what is still on its way
    for (const SwarmPair& pair : pairs_) CheckPair(pair);
    CheckRest();
    return failure_;
  }
  uint64_t digest() const { return world_.digest(); }

 private:
  void Fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }
  Endpoint& EndpointOf(const SwarmSide& side) { return world_.endpoint(side.host); }
  bool Live(const SwarmSide& side) const {
    return side.host != vanished_ && world_.endpoint(side.host).Find(side.id) != nullptr;
  }
  // Its application knows of the connection.
  bool Usable(const SwarmSide& side) const { return side.opened > 0 && Live(side); }
  void After(Duration most, std::function<void()> action) {
    const Duration wait(rng_.Below(static_cast<uint32_t>(most.count()) + 1));
    agenda_.At(world_.now() + wait, std::move(action));
  }

  // --- Setting up ---

  const Binding* AnyBinding() {
    return &bindings_.emplace_back(
        DrawBinding(rng_, plan_.endpoint.signals, *plan_.endpoint.credit));
  }

  void AddHosts() {
    for (uint32_t h = 0; h < plan_.topology.hosts; ++h) {
      EndpointConfig config = plan_.endpoint;
      config.binding = AnyBinding();
      world_.AddHost(h, config);
    }
  }

  void AddPairs() {
    const uint32_t hosts = plan_.topology.hosts;
    for (uint32_t i = 0; i < plan_.connections; ++i) {
      SwarmPair& pair = pairs_.emplace_back(rng_, plan_.endpoint.payload_max);
      pair.sides[0].host = rng_.Below(hosts);
      pair.sides[1].host = (pair.sides[0].host + 1 + rng_.Below(hosts - 1)) % hosts;
      for (int s : {0, 1}) {
        std::vector<std::byte>& memory = pair.lanes[1 - s].memory();
        pair.sides[s].region =
            *EndpointOf(pair.sides[s]).RegisterRegion(memory.data(), memory.size());
      }
      After(Micros(300), [this, &pair] { Connect(pair); });
    }
  }

  void Connect(SwarmPair& pair) {
    SwarmSide& side = pair.sides[0];
    const absl::StatusOr<WireId> id =
        EndpointOf(side).Connect(world_.now(), world_.AddressOf(pair.sides[1].host), *AnyBinding());
    if (!id.ok()) return Fail(std::string(id.status().message()));
    side.id = *id;
    owner_[{side.host, id->value}] = {&pair, 0};
    world_.Kick(side.host);
  }

  // --- Under way ---

  void OnOpened(SwarmPair& pair) {
    SwarmSide& there = pair.sides[1];
    there.id = EndpointOf(pair.sides[0]).Find(pair.sides[0].id)->peer;
    owner_[{there.host, there.id.value}] = {&pair, 1};
    if (EndpointOf(there).Find(there.id) == nullptr) return;  // gone already
    Begin(pair, 0);
    if (plan_.rebinds) After(Micros(500), [this, &pair] { Rebind(pair); });
    if (plan_.ending == Ending::kAbort && rng_.Chance(0.5)) {
      After(Micros(500), [this, &pair] { Abort(pair); });
    }
    CloseIfDone(pair);
  }

  // What side `s` has to do as soon as it knows of the connection.
  void Begin(SwarmPair& pair, int s) {
    const Duration late_sends = rng_.Chance(0.5) ? Duration(0) : Micros(400);
    const Duration late_receives = rng_.Chance(0.6) ? Duration(0) : Micros(800);
    for (size_t i = 0; i < pair.lanes[s].size(); ++i) {
      After(late_sends, [this, &pair, s] { PostSend(pair, s); });
    }
    for (size_t i = 0; i < pair.lanes[1 - s].size(); ++i) {
      After(late_receives, [this, &pair, s] { PostReceive(pair, 1 - s); });
    }
  }

  void PostSend(SwarmPair& pair, int s) {
    SwarmSide& side = pair.sides[s];
    if (!Usable(side) || pair.closing) return;
    if (!pair.lanes[s].PostNext(world_.now(), EndpointOf(side), side.id,
                                pair.sides[1 - s].region)) {
      return agenda_.At(world_.now() + Micros(20), [this, &pair, s] { PostSend(pair, s); });
    }
    world_.Kick(side.host);
  }
  // For what side `s` sends.
  void PostReceive(SwarmPair& pair, int s) {
    SwarmSide& side = pair.sides[1 - s];
    if (!Usable(side) || pair.closing) return;
    if (!pair.lanes[s].PostNextReceive(world_.now(), EndpointOf(side), side.id)) {
      return agenda_.At(world_.now() + Micros(20), [this, &pair, s] { PostReceive(pair, s); });
    }
    world_.Kick(side.host);
  }

  void Rebind(SwarmPair& pair) {
    SwarmSide& side = pair.sides[rng_.Below(2)];
    if (!Usable(side)) return;
    const absl::Status status = EndpointOf(side).Rebind(world_.now(), side.id, *AnyBinding());
    if (!status.ok() && status.code() != absl::StatusCode::kFailedPrecondition) {
      Fail(std::string(status.message()));
    }
    world_.Kick(side.host);
    After(Micros(300), [this, &pair] { Rebind(pair); });
  }

  void Abort(SwarmPair& pair) {
    SwarmSide& side = pair.sides[rng_.Below(2)];
    if (!Usable(side)) return;
    pair.aborted = true;
    if (!EndpointOf(side).Abort(world_.now(), side.id).ok()) Fail("abort refused");
    world_.Kick(side.host);
  }

  void Vanish(uint32_t host) {
    vanished_ = host;
    world_.Stall(host, Time::Never());
  }

  void CloseIfDone(SwarmPair& pair) {
    if (pair.closing || !pair.done()) return;
    pair.closing = true;
    const uint32_t who = rng_.Below(3);  // 2: both at once
    for (const int s : {0, 1}) {
      if (who != 2 && who != static_cast<uint32_t>(s)) continue;
      After(who == 2 ? Duration(0) : Micros(50), [this, &pair, s] { Close(pair.sides[s]); });
    }
  }
  void Close(SwarmSide& side) {
    if (!Live(side)) return;
    if (!Usable(side)) return After(Micros(100), [this, &side] { Close(side); });
    const Connection* c = EndpointOf(side).Find(side.id);
    if (plan_.ending == Ending::kClose && c->sender.in_flight() != Bytes(0)) {
      Fail("all is acknowledged, yet something is in flight");
    }
    if (!EndpointOf(side).Close(world_.now(), side.id).ok()) Fail("close refused");
    world_.Kick(side.host);
  }
  // After an abort or a peer's end nobody else would.
  void CloseAll() {
    for (SwarmPair& pair : pairs_) {
      if (plan_.ending == Ending::kClose && !AllEnded()) Fail(Describe(pair));
      for (SwarmSide& side : pair.sides) Close(side);
    }
  }

  void OnCompletion(uint32_t host, const Completion& c) {
    const auto it = owner_.find({host, c.connection.value});
    if (it == owner_.end()) return;  // a connection that a repeated open has made
    auto [pair, s] = it->second;
    SwarmSide& side = pair->sides[s];
    if (side.ended > 0) return Fail("a completion after the end");
    switch (c.event) {
      case Event::kOpened:
        if (++side.opened > 1 || s == 1) return Fail("opened twice");
        return OnOpened(*pair);
      case Event::kAccepted:
        if (++side.opened > 1 || s == 0) return Fail("accepted twice");
        return Begin(*pair, 1);
      case Event::kSent:
        if (!pair->lanes[s].NoteSent(c)) return Fail("wrong completion of a message sent");
        return CloseIfDone(*pair);
      case Event::kReceived:
        if (!pair->lanes[1 - s].NoteReceived(c)) return Fail("wrong completion of a receive");
        return CloseIfDone(*pair);
      case Event::kClosed:
      case Event::kFailed:
        ++side.ended;
        side.end = c;
        return;
      case Event::kRejected:
        return Fail("rejected without a channel");
    }
  }

  // --- Looking back ---

  bool AllEnded() const {
    for (const SwarmPair& pair : pairs_) {
      const bool opened = pair.sides[0].id.value != 0 || pair.sides[0].host == vanished_;
      if (!opened || Live(pair.sides[0]) || Live(pair.sides[1])) return false;
    }
    return true;
  }

  void CheckPair(const SwarmPair& pair) {
    for (const Lane& lane : pair.lanes) {
      const size_t wrong = lane.FirstWrongByte();
      if (wrong != SIZE_MAX) Fail(absl::StrFormat("byte %d of a memory is wrong", wrong));
    }
    const bool touched = pair.sides[0].host == vanished_ || pair.sides[1].host == vanished_;
    if (pair.aborted || touched) return;
    if (!pair.done()) Fail(Describe(pair));
    for (const SwarmSide& side : pair.sides) {
      if (side.ended != 1 || side.end.event != Event::kClosed) Fail(Describe(pair));
    }
  }

  void CheckRest() {
    if (vanished_ == kNobody) {
      if (const std::string breach = world_.CheckQuiet(); !breach.empty()) Fail(breach);
      return;
    }
    if (const std::string breach = world_.CheckConservation(); !breach.empty()) Fail(breach);
    for (uint32_t h = 0; h < plan_.topology.hosts; ++h) {
      const Endpoint& e = world_.endpoint(h);
      if (h == vanished_) continue;
      if (e.connections() + e.tx_messages_used() + e.rx_messages_used() != 0) {
        Fail(absl::StrFormat("host %d still holds %d connections", h, e.connections()));
      }
    }
  }

  SwarmPlan plan_;
  Rng rng_;
  World world_;
  Agenda agenda_;
  std::deque<Binding> bindings_;
  std::deque<SwarmPair> pairs_;
  std::map<std::pair<uint32_t, uint32_t>, std::pair<SwarmPair*, int>> owner_;  // by host and id
  uint32_t vanished_ = kNobody;
  std::string failure_;
};

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(SwarmTest, EverythingArrivesOnceAndNothingIsLeft) {
  const uint64_t first = FromEnvironment("WEIR_SWARM_FIRST", 1);
  const uint64_t seeds = FromEnvironment("WEIR_SWARM_SEEDS", 40);
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    EXPECT_EQ(Swarm(DrawPlan(seed)).Run(), "") << "seed " << seed;
  }
}

TEST(SwarmTest, ASeedRepeatsItselfToTheLastBit) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Swarm once(DrawPlan(seed));
    Swarm again(DrawPlan(seed));
    once.Run();
    again.Run();
    EXPECT_EQ(once.digest(), again.digest()) << "seed " << seed;
  }
}

class EveryFault : public testing::TestWithParam<uint32_t> {};

TEST_P(EveryFault, IsSurvivedAlone) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SwarmPlan plan = DrawPlan(seed);
    Rng rng(seed);
    plan.ending = Ending::kClose;
    plan.faults = {DrawFault(rng, plan.topology, GetParam())};
    EXPECT_EQ(Swarm(plan).Run(), "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, EveryFault, testing::Range(0u, kFaultKinds),
                         [](const auto& kind) { return FaultName(kind.param); });

}  // namespace
}  // namespace weir
