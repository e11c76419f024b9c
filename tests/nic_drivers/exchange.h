// Two endpoints exchange messages of many sizes over two devices, and every byte is checked.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cc_algos/registry.h"
#include "datapath/endpoint.h"
#include "datapath/nic_device.h"
#include "datapath/poll_loop.h"
#include "lb_policies/registry.h"

namespace weir {

// Real time, for bounds on how long a test may take; never for waiting.
class Deadline {
 public:
  explicit Deadline(int seconds) : at_(Clock::now() + std::chrono::seconds(seconds)) {}
  bool passed() const { return Clock::now() >= at_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point at_;
};

inline std::byte PatternByte(uint32_t seed, size_t i) {
  return static_cast<std::byte>((seed * 131 + i * 7 + i / 251) & 0xFF);
}

// One side. The client connects and sends its messages; the server answers with its own when it has
// them all; the client closes.
class Side {
 public:
  struct Options {
    bool client = false;
    bool registered = true;  // payload leaves memory that the device knows
    bool content = true;     // false: payload whose bytes do not matter
    uint32_t large = 3 << 20;
  };
  Side(NicDevice& device, const Options& options) : device_(device), options_(options) {
    binding_.cc = FindCc("dctcp");
    binding_.cc_config = binding_.cc->defaults();
    binding_.lb = FindLb("reps");
    binding_.lb_config = binding_.lb->defaults();
    EndpointConfig config;
    config.address = device.address();
    config.binding = &binding_;
    config.line_rate = device.caps().line_rate;
    // Processes that share cores answer late.
    config.base_rtt = Micros(200);
    config.rto_min = Millis(20);
    config.open_timeout = Seconds(10);
    config.retries_max = 20;
    const uint32_t headers =
        DataOverhead(device.address().v6, InBand::kTelemetry) - kEthernetBytes - kFcsBytes;
    config.payload_max = static_cast<uint16_t>(device.caps().mtu - headers);
    endpoint_ = *Endpoint::Create(config);
    const uint32_t payload = config.payload_max;
    sizes_ = {0, 1, 100, payload - 1, payload, payload + 1, 10 * payload, 1 << 20, options.large};
    for (const uint32_t size : sizes_) bytes_ += size;
    out_.resize(bytes_ + 1);
    in_.resize(bytes_ + 1);
    size_t at = 0;
    for (uint32_t i = 0; i < sizes_.size(); ++i) {
      for (uint32_t k = 0; k < sizes_[i]; ++k) out_[at + k] = PatternByte(Seed(i, true), k);
      at += sizes_[i];
    }
    if (!options_.registered) return;
    const absl::Status status = device_.RegisterMemory(out_.data(), out_.size());
    if (!status.ok()) problem_ = std::string(status.message());
  }

  // One turn; false when nothing is left to do.
  bool Turn(const NetAddress* peer = nullptr) {
    if (ended() || deadline_.passed()) {
      if (!ended()) problem_ = "out of time: " + Progress();
      return false;
    }
    NicPort& port = device_.queue(0);
    if (options_.client && !connected_ && peer != nullptr) Connect(port.Now(), *peer);
    Poll();
    Completion completion;
    while (endpoint_->PollCompletion(completion)) Handle(port.Now(), completion);
    return true;
  }
  void Poll() {
    for (uint32_t q = 1; q < device_.queues(); ++q) PollOther(device_.queue(q));
    if (PollOnce(device_.queue(0), *endpoint_) == 0) sched_yield();
  }
  bool ended() const { return closed_ || !problem_.empty(); }
  const std::string& problem() const { return problem_; }
  const Endpoint& endpoint() const { return *endpoint_; }
  const std::vector<std::byte>& memory() const { return out_; }
  std::byte* memory_base() { return out_.data(); }

 private:
  uint32_t Seed(uint32_t i, bool ours) const { return i + (options_.client == ours ? 0 : 1000); }

  std::string Progress() const {
    char text[200];
    const Counters& c = endpoint_->counters();
    std::snprintf(text, sizeof text, "%s, %zu sent, %zu received of %zu, bad frames %lu",
                  opened_ ? "open" : "not open", sent_, received_, sizes_.size(),
                  static_cast<unsigned long>(c.bad_frames + c.bad_checksums));
    return text;
  }

  void PollOther(NicPort& port) {
    Frame frames[kBurst];
    const auto got = std::span(frames, port.RxBurst(frames));
    port.Release(got);
  }

  void Connect(Time now, NetAddress peer) {
    const absl::Status status = device_.Resolve(peer);
    if (absl::IsUnavailable(status)) return;
    if (!status.ok()) {
      // Perhaps the other process has not begun yet: the deadline bounds it.
      return;
    }
    connected_ = true;
    const auto id = endpoint_->Connect(now, peer, binding_);
    if (!id.ok()) problem_ = std::string(id.status().message());
  }

  void Handle(Time now, const Completion& c) {
    switch (c.event) {
      case Event::kOpened:
      case Event::kAccepted:
        opened_ = true;
        id_ = c.connection;
        Receive(now);
        if (options_.client) Send(now);
        break;
      case Event::kSent:
        ++sent_;
        break;
      case Event::kReceived:
        Check(c);
        ++received_;
        if (!options_.client && received_ == sizes_.size()) Send(now);
        break;
      case Event::kClosed:
        closed_ = true;
        if (received_ < sizes_.size()) problem_ = "closed too early: " + Progress();
        break;
      default:
        problem_ = std::string("failed: ") + Name(c.cause) + ": " + Progress();
        break;
    }
    const bool all = received_ == sizes_.size() && sent_ == sizes_.size();
    if (options_.client && all && !closing_) {
      closing_ = true;
      (void)endpoint_->Close(now, id_);
    }
  }

  void Receive(Time now) {
    std::byte* at = in_.data();
    for (uint32_t i = 0; i < sizes_.size(); ++i) {
      const absl::Status status =
          endpoint_->PostReceive(now, id_, {.data = at, .capacity = sizes_[i], .cookie = i});
      if (!status.ok()) problem_ = std::string(status.message());
      at += sizes_[i];
    }
  }

  void Send(Time now) {
    const std::byte* at = out_.data();
    for (const uint32_t size : sizes_) {
      const absl::Status status =
          endpoint_->PostSend(now, id_, {.data = options_.content ? at : nullptr, .length = size});
      if (!status.ok()) problem_ = std::string(status.message());
      at += size;
    }
  }

  void Check(const Completion& c) {
    const auto i = static_cast<uint32_t>(c.cookie);
    if (c.bytes != sizes_[i]) problem_ = "a message has another length than the one sent";
    size_t at = 0;
    for (uint32_t k = 0; k < i; ++k) at += sizes_[k];
    for (uint32_t k = 0; k < sizes_[i]; ++k) {
      const std::byte want = options_.content ? PatternByte(Seed(i, false), k) : std::byte{0};
      if (in_[at + k] == want) continue;
      problem_ = "byte " + std::to_string(k) + " of message " + std::to_string(i) + " differs";
      return;
    }
  }

  NicDevice& device_;
  Options options_;
  Binding binding_;
  std::unique_ptr<Endpoint> endpoint_;
  std::vector<uint32_t> sizes_;
  size_t bytes_ = 0;
  std::vector<std::byte> out_, in_;
  WireId id_{};
  bool connected_ = false, opened_ = false, closing_ = false, closed_ = false;
  size_t sent_ = 0, received_ = 0;
  std::string problem_;
  Deadline deadline_{20};
};

// Both sides in turn, on this thread; the problem of either, or "".
inline std::string RunExchange(NicDevice& client, NicDevice& server, Side::Options options = {}) {
  options.client = true;
  Side a(client, options);
  options.client = false;
  Side b(server, options);
  while (!a.ended() || !b.ended()) {
    const bool more_a = a.Turn(&server.address());
    const bool more_b = b.Turn();
    if (!a.problem().empty() || !b.problem().empty()) break;
    if (!more_a && !more_b) break;
  }
  // Frames on their way refer to the memory until they are received.
  Deadline deadline(5);
  for (NicDevice* device : {&client, &server}) {
    Side& side = device == &client ? a : b;
    if (!options.registered) continue;
    while (!device->UnregisterMemory(side.memory_base()).ok() && !deadline.passed()) {
      Frame frames[kBurst];
      for (NicDevice* d : {&client, &server}) {
        for (uint32_t q = 0; q < d->queues(); ++q) {
          d->queue(q).Release(std::span(frames, d->queue(q).RxBurst(frames)));
        }
      }
    }
  }
  return a.problem() + b.problem();
}

}  // namespace weir
