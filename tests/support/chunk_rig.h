// Two chunk endpoints over the model of queue pairs.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "cc_algos/registry.h"
#include "datapath/offload/chunk_endpoint.h"
#include "lb_policies/registry.h"
#include "tests/support/queue_pair_model.h"

namespace weir {

inline Binding ChunkBinding(const CcEntry& cc, const LbEntry& lb, uint32_t paths) {
  return {
      .cc = &cc, .cc_config = cc.defaults(), .lb = &lb, .lb_config = lb.defaults(), .paths = paths};
}
inline Binding ChunkBinding(const char* cc, const char* lb, uint32_t paths = 4) {
  return ChunkBinding(*FindCc(cc), *FindLb(lb), paths);
}

class ChunkRig {
 public:
  using Model = QueuePairModel;

  explicit ChunkRig(const Binding& binding, const Model::Config& model_config = {},
                    ChunkEndpointConfig config = {})
      : binding_(binding), model(model_config) {
    config.binding = &binding_;
    if (config.base_rtt == Duration(0)) config.base_rtt = 2 * model_config.delay;
    for (int side = 0; side < 2; ++side) {
      auto endpoint = ChunkEndpoint::Create(model.port(side), config);
      WEIR_CHECK(endpoint.ok());
      ends_[side] = *std::move(endpoint);
    }
  }

  ChunkEndpoint& a() { return *ends_[0]; }
  ChunkEndpoint& b() { return *ends_[1]; }
  const ChunkSender& sender() { return *a().Find(id); }

  // One more connection of A to B, open. `id` is the latest.
  void Open() {
    const int before = Count(0, Event::kOpened);
    auto connected = a().Connect(model.now(), {}, binding_);
    ASSERT_TRUE(connected.ok()) << connected.status().message();
    id = *connected;
    Run([&] { return Count(0, Event::kOpened) > before; });
    ASSERT_EQ(Count(0, Event::kOpened), before + 1);
  }
  void Write(uint32_t length, uint64_t address = 0, const std::byte* data = nullptr) {
    const absl::Status status = a().PostWrite(
        model.now(), id,
        {.data = data, .length = length, .address = address, .notify = true, .cookie = ++cookies});
    ASSERT_TRUE(status.ok()) << status.message();
  }
  // Until `done`, or nothing more can happen, or the time is up.
  template <class Done>
  void Run(Done&& done, Duration most = Seconds(60)) {
    const Time end = model.now() + most;
    while (!done()) {
      bool busy = true;
      while (busy) {
        busy = false;
        for (int side = 0; side < 2; ++side) {
          if (ends_[side]->Turn(model.now()) > 0) busy = true;
          Completion c;
          while (ends_[side]->PollCompletion(c)) completions[side].push_back(c);
        }
        model.Advance(model.now());
      }
      if (done()) return;
      const Time next =
          std::min({model.next(), a().NextWakeup(model.now()), b().NextWakeup(model.now()), end});
      if (next == Time::Never() || model.now() >= end) return;
      model.Advance(std::max(next, model.now()));
    }
  }
  void RunFor(Duration time) {
    Run([] { return false; }, time);
  }
  int Count(int side, Event event) const {
    int n = 0;
    for (const Completion& c : completions[side]) n += c.event == event ? 1 : 0;
    return n;
  }
  bool Ended(int side) const {
    return Count(side, Event::kFailed) + Count(side, Event::kClosed) > 0;
  }

 private:
  Binding binding_;

 public:
  QueuePairModel model;
  WireId id{};
  uint64_t cookies = 0;
  std::vector<Completion> completions[2];

 private:
  std::unique_ptr<ChunkEndpoint> ends_[2];
};

}  // namespace weir
