// The RDMA mode over a model of queue pairs: bytes, order, window, rate, room.
#include <gtest/gtest.h>

#include <map>

#include "datapath/api/rng.h"
#define WEIR_DEFINE_NO_ALLOC  // for the whole program
#include "tests/support/chunk_rig.h"
#include "tests/support/no_alloc.h"

namespace weir {
namespace {

constexpr uint32_t kChunk = 64 * 1024;

std::vector<std::byte> Pattern(size_t size) {
  std::vector<std::byte> out(size);
  Rng rng(7);
  for (std::byte& b : out) b = static_cast<std::byte>(rng.Next());
  return out;
}

// `cc` with one parameter set.
Binding With(Binding binding, const char* parameter, double value) {
  for (const ParamSpec& p : binding.cc->params) {
    if (std::string_view(p.name) == parameter) p.set(binding.cc_config.data(), value);
  }
  return binding;
}
Binding Fixed(Bytes window, Rate rate, const char* lb = "round_robin") {
  Binding binding = ChunkBinding("none", lb);
  binding = With(binding, "window", static_cast<double>(window.count()));
  return With(binding, "rate", static_cast<double>(rate.count()));
}

TEST(ChunkTransferTest, EveryByteArrivesOnceAndEachMessageIsToldOnce) {
  for (const char* lb : {"ecmp", "round_robin", "oblivious", "random"}) {
    SCOPED_TRACE(lb);
    ChunkRig rig(ChunkBinding("swift", lb), {.content = true});
    // Paths of different speeds, so that chunks overtake each other.
    rig.Open();
    for (PathId p = 0; p < 4; ++p) rig.model.SetRate(p, Gbps(10 + 30 * p));
    const std::vector<std::byte> data = Pattern(1 << 20);
    const std::vector<uint32_t> sizes = {0,      1,          100,        kChunk - 1,
                                         kChunk, kChunk + 1, 3 * kChunk, 6 * kChunk};
    uint64_t at = 0;
    for (const uint32_t size : sizes) {
      rig.Write(size, at, data.data() + at);
      at += size;
    }
    rig.Run([&] { return rig.Count(0, Event::kSent) == 8 && rig.Count(1, Event::kReceived) == 8; });
    ASSERT_EQ(rig.Count(1, Event::kReceived), 8);
    ASSERT_EQ(rig.Count(0, Event::kSent), 8);
    EXPECT_EQ(std::memcmp(rig.model.memory(1), data.data(), at), 0);
    for (size_t i = 0; i < data.size(); ++i) {
      ASSERT_EQ(rig.model.written(1)[i], i < at ? 1 : 0) << "byte " << i;
    }
    // A notice names the message by its number and has its length.
    for (const Completion& c : rig.completions[1]) {
      if (c.event == Event::kReceived) {
        EXPECT_EQ(c.bytes, sizes[c.cookie]);
      }
    }
    EXPECT_EQ(rig.a().messages_used(), 0u);
    EXPECT_EQ(rig.a().chunks_used(), 0u);
  }
}

TEST(ChunkTransferTest, ManySmallMessagesStayWithinWhatTheReceiverCounts) {
  ChunkRig rig(Fixed(MiB(64), Gbps(100)), {.paths = 4});
  rig.Open();
  rig.model.SetRate(0, Mbps(1));  // the first of every four stays behind
  int sent = 0;
  for (; sent < 1000; ++sent) rig.Write(64);
  rig.Run([&] { return rig.Count(1, Event::kReceived) == sent || rig.Ended(0) || rig.Ended(1); });
  EXPECT_EQ(rig.Count(1, Event::kReceived), sent);
}

TEST(ChunkReceiverTest, NumbersGoOnWhereTheWordsWrap) {
  ChunkReceiver receiver;
  ChunkReceiver::Whole whole;
  // Each two change places on their way.
  for (uint32_t i = 0; i < 140'000; ++i) {
    const uint32_t number = i ^ 1;
    const ChunkWord word{.message = static_cast<uint16_t>(number), .chunks = 1};
    ASSERT_EQ(receiver.Add(word, 10, whole), ChunkReceiver::Result::kWhole);
    ASSERT_EQ(whole.message, number);
  }
}

TEST(ChunkTransferTest, TheWindowIsObeyedToTheByte) {
  // A chunk on the wire: 64 KiB in 16 packets of 62 bytes of headers.
  const Bytes chunk(kChunk + 16 * 62);
  for (const int64_t chunks : {1, 3, 7}) {
    ChunkRig rig(Fixed(chunks * chunk + Bytes(1), Rate(0)));
    rig.Open();
    rig.Write(1 << 20);
    Bytes most{};
    rig.Run([&] {
      if (rig.a().Find(rig.id) != nullptr) most = std::max(most, rig.sender().in_flight());
      return rig.Count(0, Event::kSent) == 1;
    });
    EXPECT_EQ(most, chunks * chunk);
  }
}

TEST(ChunkTransferTest, TheRateIsObeyedToTheNanosecond) {
  const Bytes chunk(kChunk + 16 * 62);
  const Rate rate = Gbps(5);
  ChunkRig rig(Fixed(MiB(64), rate));
  rig.Open();
  rig.Write(1 << 20);
  rig.Run([&] { return rig.Count(0, Event::kSent) == 1; });
  const auto& posted = rig.model.posted(0);
  ASSERT_EQ(posted.size(), 16u);
  // The first leaves at once; a pacer may run a microsecond ahead, once.
  for (size_t i = 1; i < posted.size(); ++i) {
    const Duration exact = (static_cast<int64_t>(i) * chunk) / rate;
    EXPECT_EQ(posted[i].at - posted[0].at, exact - Micros(1)) << "chunk " << i;
  }
}

TEST(ChunkTransferTest, AWindowBelowAChunkLetsOneOutAtATime) {
  ChunkRig rig(Fixed(Bytes(1000), Gbps(1)));
  rig.Open();
  rig.Write(5 * kChunk);
  Bytes most{};
  rig.Run([&] {
    most = std::max(most, rig.sender().in_flight());
    return rig.Count(0, Event::kSent) == 1;
  });
  EXPECT_EQ(most, rig.model.port(0).caps().SizeOnWire(kChunk));
  EXPECT_EQ(rig.Count(1, Event::kReceived), 1);
}

TEST(ChunkTransferTest, RoundRobinUsesAllPairsAlike) {
  ChunkRig rig(Fixed(MiB(64), Gbps(100)));
  rig.Open();
  rig.Write(1 << 20);
  rig.Run([&] { return rig.Count(0, Event::kSent) == 1; });
  std::map<PathId, int> used;
  for (const auto& p : rig.model.posted(0)) ++used[p.path];
  for (PathId path = 0; path < 4; ++path) EXPECT_EQ(used[path], 4);
}

TEST(ChunkTransferTest, AFullPairHoldsTheChunkAndNoneIsLost) {
  ChunkRig rig(Fixed(MiB(64), Rate(0)), {.depth = 2});
  rig.Open();
  for (int i = 0; i < 4; ++i) rig.Write(1 << 20);
  rig.Run([&] { return rig.Count(0, Event::kSent) == 4; });
  EXPECT_EQ(rig.Count(1, Event::kReceived), 4);
  EXPECT_GT(rig.a().counters().pair_full, 0u);
  std::map<PathId, int> used;
  for (const auto& p : rig.model.posted(0)) ++used[p.path];
  for (PathId path = 0; path < 4; ++path) EXPECT_EQ(used[path], 16);  // the policy's choices stand
}

TEST(ChunkTransferTest, FewerQueuePairsThanPathsAreUsedAsFarAsThereAre) {
  ChunkRig rig(ChunkBinding("swift", "round_robin", 64), {.paths_max = 3});
  rig.Open();
  EXPECT_EQ(rig.sender().paths(), 3u);
  rig.Write(1 << 20);
  rig.Run([&] { return rig.Count(0, Event::kSent) == 1; });
  EXPECT_EQ(rig.Count(1, Event::kReceived), 1);
}

TEST(ChunkTransferTest, BothSidesWriteAtOnce) {
  ChunkRig rig(ChunkBinding("swift", "oblivious"));
  rig.Open();
  const WireId other = rig.completions[1].front().connection;
  rig.Write(1 << 20);
  ASSERT_TRUE(rig.b().PostWrite(rig.model.now(), other, {.length = 300'000, .notify = true}).ok());
  rig.Run(
      [&] { return rig.Count(0, Event::kReceived) == 1 && rig.Count(1, Event::kReceived) == 1; });
  EXPECT_EQ(rig.Count(0, Event::kReceived), 1);
  EXPECT_EQ(rig.Count(1, Event::kReceived), 1);
}

// Answers everything at the next poll, from room it has.
class PromptPort final : public ChunkPort {
 public:
  PromptPort() {
    caps_.line_rate = Gbps(100);
    Tell({.kind = ChunkEvent::Kind::kOpened, .paths = 4});
  }
  Time Now() override { return now; }
  const ChunkCaps& caps() const override { return caps_; }
  absl::StatusOr<LinkId> Open(const LinkRequest& /*request*/) override { return LinkId{0}; }
  void Close(LinkId /*link*/) override {}
  bool Reads(const std::byte* /*data*/, uint64_t /*size*/) const override { return true; }
  uint64_t RegionSize(LinkId /*link*/, uint32_t /*region*/) const override { return 1 << 30; }
  bool Post(LinkId link, PathId path, const Chunk& chunk) override {
    Tell({.kind = ChunkEvent::Kind::kDone, .path = path, .link = link, .cookie = chunk.cookie});
    return true;
  }
  size_t Poll(std::span<ChunkEvent> out) override {
    size_t n = 0;
    for (; n < out.size() && taken_ < told_; ++n) {
      out[n] = events_[taken_++ % events_.size()];
      out[n].at = now;
    }
    return n;
  }
  Time now{};

 private:
  void Tell(const ChunkEvent& event) { events_[told_++ % events_.size()] = event; }
  ChunkCaps caps_;
  std::array<ChunkEvent, 8192> events_{};
  size_t told_ = 0, taken_ = 0;
};

TEST(ChunkTransferTest, NothingIsAllocatedOnceAConnectionIsOpen) {
  const Binding binding = ChunkBinding("swift", "power_of_two");
  const auto port = std::make_unique<PromptPort>();
  auto endpoint = ChunkEndpoint::Create(*port, {.base_rtt = Micros(4)});
  ASSERT_TRUE(endpoint.ok());
  const auto id = (*endpoint)->Connect(port->now, {}, binding);
  ASSERT_TRUE(id.ok());
  (*endpoint)->Turn(port->now);
  int sent = 0;
  const NoAlloc none;
  for (int i = 0; i < 100'000 && sent < 100; ++i) {
    if (i < 100) (void)(*endpoint)->PostWrite(port->now, *id, {.length = 1 << 20, .notify = true});
    (*endpoint)->Turn(port->now);
    Completion c;
    while ((*endpoint)->PollCompletion(c)) sent += c.event == Event::kSent ? 1 : 0;
    port->now = port->now + Micros(1);
  }
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(sent, 100);
}

TEST(ChunkTransferTest, ALatePollGivesNoRtt) {
  ChunkRig rig(ChunkBinding("swift", "ecmp"), {}, {.late_max = Micros(10)});
  rig.Open();
  rig.model.set_gap(Micros(10));
  rig.Write(kChunk);
  rig.Run([&] { return rig.Count(0, Event::kSent) == 1; });
  EXPECT_EQ(rig.a().counters().rtt_rejected, 0u);
  rig.model.set_gap(Micros(11));
  rig.Write(kChunk);
  rig.Run([&] { return rig.Count(0, Event::kSent) == 2; });
  EXPECT_EQ(rig.a().counters().rtt_rejected, 1u);
}

TEST(ChunkTransferTest, ABindingIsReplacedWithChunksOnTheirWay) {
  ChunkRig rig(ChunkBinding("swift", "oblivious", 4));
  rig.Open();
  for (int i = 0; i < 8; ++i) rig.Write(1 << 20);
  rig.RunFor(Micros(50));
  const Binding other = ChunkBinding("bbr", "round_robin", 2);
  ASSERT_TRUE(rig.a().Rebind(rig.model.now(), rig.id, other).ok());
  const size_t before = rig.model.posted(0).size();
  rig.Run([&] { return rig.Count(0, Event::kSent) == 8; });
  EXPECT_EQ(rig.Count(1, Event::kReceived), 8);
  ASSERT_GT(rig.model.posted(0).size(), before);
  for (size_t i = before; i < rig.model.posted(0).size(); ++i) {
    EXPECT_LT(rig.model.posted(0)[i].path, 2);
  }
}

}  // namespace
}  // namespace weir
