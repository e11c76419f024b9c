// What one acknowledgement costs each algorithm, at 400 Gb/s line rate, and its state.
#include <benchmark/benchmark.h>

#include <string>

#include "cc_algos/registry.h"

namespace weir {
namespace {

constexpr FlowInfo kFlow = {.mtu = Bytes(4158),
                            .line_rate = Gbps(400),
                            .base_rtt = Micros(12),
                            .trimming = true,
                            .seed = 1};
constexpr int64_t kAcksPerRound = 144;  // one BDP of full packets

// Feeds acknowledgements of one full packet each, and reads the allowance back.
void Acknowledge(benchmark::State& state, const CcEntry& entry, Bytes marked, Duration rtt) {
  CcSlot cc(entry, kFlow);
  AckSample ack{.now = Time(1'000'000),
                .newly_acked = kFlow.mtu,
                .newly_marked = marked,
                .in_flight = kFlow.bdp(),
                .rtt = rtt,
                .limit = Limit::kWindow};
  int64_t left = kAcksPerRound;
  for (auto _ : state) {
    ack.now = ack.now + Nanos(83);
    if (--left == 0) {
      left = kAcksPerRound;
      ++ack.round;
    }
    cc->OnAck(ack);
    benchmark::DoNotOptimize(cc->allowance());
  }
  state.counters["state_bytes"] = static_cast<double>(entry.state_bytes);
}

void CleanAck(benchmark::State& state, const CcEntry& entry) {
  Acknowledge(state, entry, Bytes(0), kFlow.base_rtt);
}

void MarkedAck(benchmark::State& state, const CcEntry& entry) {
  Acknowledge(state, entry, kFlow.mtu, 2 * kFlow.base_rtt);
}

// A packet is sent: for the algorithms that want to know.
void Send(benchmark::State& state, const CcEntry& entry) {
  CcSlot cc(entry, kFlow);
  SendSample send{.now = Time(1'000'000), .size = kFlow.mtu, .in_flight = kFlow.bdp()};
  for (auto _ : state) {
    send.now = send.now + Nanos(83);
    cc->OnSend(send);
    benchmark::DoNotOptimize(cc->allowance());
  }
}

// A grant of the receiver half, with 64 senders waiting.
void NextGrant(benchmark::State& state, const CcEntry& entry) {
  CreditScheduler* scheduler = entry.receiver_half->create({.mtu = kFlow.mtu,
                                                            .line_rate = kFlow.line_rate,
                                                            .base_rtt = kFlow.base_rtt,
                                                            .connections = 64},
                                                           entry.defaults());
  CreditFlow flow = 0;
  Time now{0};
  for (auto _ : state) {
    scheduler->OnDemand(now, flow, MiB(1));
    flow = (flow + 1) % 64;
    const Grant grant = scheduler->NextGrant(now);
    benchmark::DoNotOptimize(grant);
    now = grant.again;
  }
  delete scheduler;
}

const bool kRegistered = [] {
  for (const CcEntry& entry : AllCc()) {
    const std::string suffix = std::string("/") + entry.name;
    benchmark::RegisterBenchmark(("CleanAck" + suffix).c_str(), CleanAck, entry);
    benchmark::RegisterBenchmark(("MarkedAck" + suffix).c_str(), MarkedAck, entry);
    if ((entry.events & kCcSend) != 0) {
      benchmark::RegisterBenchmark(("Send" + suffix).c_str(), Send, entry);
    }
    if (entry.receiver_half != nullptr) {
      benchmark::RegisterBenchmark(("NextGrant" + suffix).c_str(), NextGrant, entry);
    }
  }
  return true;
}();

}  // namespace
}  // namespace weir
