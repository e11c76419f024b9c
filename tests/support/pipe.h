// Two endpoints joined by a wire of fixed rate and delay, in virtual time. A hook decides what
// becomes of each packet.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "datapath/endpoint.h"
#include "tests/support/no_alloc.h"
#include "tests/support/pipe_packet.h"

namespace weir {

// 12 us: twice the delay of the pipe, and some packets.
inline EndpointConfig PipeConfig(const Binding* binding = nullptr) {
  static const Binding kNone = Bind("none");
  EndpointConfig c;
  c.binding = binding == nullptr ? &kNone : binding;
  c.line_rate = Gbps(100);
  c.base_rtt = Micros(12);
  return c;
}

class Pipe {
 public:
  static constexpr Rate kRate = Gbps(100);
  static constexpr Duration kDelay = Micros(5);

  explicit Pipe(const EndpointConfig& a = PipeConfig(), const EndpointConfig& b = PipeConfig()) {
    sides_[0] = Make(a, 0);
    sides_[1] = Make(b, 1);
  }
  // A process that has lost all memory takes the place of a side.
  void Restart(int side, const EndpointConfig& config = PipeConfig()) {
    sides_[side] = Make(config, side);
  }

  Endpoint& operator[](int side) { return *sides_[side]->endpoint; }
  Time now() const { return now_; }
  static NetAddress AddressOf(int side) {
    const auto n = static_cast<uint32_t>(side);
    return NetAddress::V4(0x0A00'0001 + n, 0x0200'0000'0001 + n);
  }
  void OnPacket(std::function<Fate(const Sight&)> hook) { hook_ = std::move(hook); }
  // The side is not polled until then.
  void Stall(int side, Time until) { sides_[side]->stalled_until = until; }
  // Each frame came to the side's port up to so long before it was polled.
  void PollLate(int side, Duration gap) { sides_[side]->rx_gap = gap; }
  // Something was posted: poll at once.
  void Kick(int side) { sides_[side]->wake = now_; }

  void RunUntil(Time until) {
    while (true) {
      const Time next = std::min(NextOf(0), NextOf(1));
      if (next > until) break;
      now_ = std::max(now_, next);
      for (const int side : {0, 1}) {
        if (NextOf(side) <= now_) Poll(side);
      }
    }
    now_ = until;
  }
  void RunFor(Duration d) { RunUntil(now_ + d); }

  // From side 0 to side 1, run until both know.
  WireId Open(const Binding& binding) {
    const WireId id = *sides_[0]->endpoint->Connect(now_, AddressOf(1), binding);
    Kick(0);
    RunFor(Micros(40));
    return id;
  }
  // Side 1's end of the latest connection.
  WireId accepted() const { return sides_[1]->accepted; }
  std::vector<Completion>& completions(int side) { return sides_[side]->completions; }
  int Count(int side, Event event, Cause cause = Cause::kNone) const {
    const auto& all = sides_[side]->completions;
    return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const Completion& c) {
      return c.event == event && c.cause == cause;
    }));
  }
  // Times of every packet of a type that left a side.
  std::vector<Sight>& sent() { return sent_; }
  int64_t allocations() const { return allocations_; }

 private:
  struct Packet {
    std::vector<std::byte> bytes;
    Time at{};
  };
  struct Side {
    explicit Side(Rate rate) : wire(rate) {}
    std::unique_ptr<Endpoint> endpoint;
    Serializer wire;
    std::multimap<Time, std::vector<std::byte>> arriving;
    Time wake{};
    Time stalled_until{};
    Duration rx_gap{};
    WireId accepted{};
    std::vector<Completion> completions;
    std::map<PacketType, int> count;
  };

  static std::unique_ptr<Side> Make(EndpointConfig config, int side) {
    auto made = std::make_unique<Side>(kRate);
    config.address = config.address.v6 ? config.address : AddressOf(side);
    config.seed = static_cast<uint64_t>(side) + 1;
    made->endpoint = *Endpoint::Create(config);
    return made;
  }
  Time NextOf(int side) const {
    const Side& s = *sides_[side];
    const Time next = s.arriving.empty() ? s.wake : std::min(s.wake, s.arriving.begin()->first);
    return std::max(next, s.stalled_until);
  }
  void Poll(int side);
  void Transmit(int side, const Frame& frame);

  std::unique_ptr<Side> sides_[2];
  Time now_{};
  std::function<Fate(const Sight&)> hook_;
  std::vector<Sight> sent_;
  int64_t allocations_ = 0;
};

inline void Pipe::Poll(int side) {
  Side& s = *sides_[side];
  Endpoint& endpoint = *s.endpoint;
  std::vector<Packet> arrived;
  while (!s.arriving.empty() && s.arriving.begin()->first <= now_ && arrived.size() < kBurst) {
    arrived.push_back({std::move(s.arriving.begin()->second), s.arriving.begin()->first});
    s.arriving.erase(s.arriving.begin());
  }
  std::array<Frame, kBurst> frames{};
  for (size_t i = 0; i < arrived.size(); ++i) {
    frames[i] = {.data = arrived[i].bytes.data(),
                 .size = static_cast<uint32_t>(arrived[i].bytes.size()),
                 .rx_time = arrived[i].at,
                 .rx_gap = s.rx_gap};
  }
  std::array<std::array<std::byte, kFrameHeaderRoom>, kBurst> room;
  const NoAlloc quiet;
  endpoint.HandleRx(now_, std::span(frames.data(), arrived.size()));
  endpoint.HandleTimers(now_);
  const size_t due = endpoint.Due(now_);
  for (size_t i = 0; i < due; ++i) frames[i] = {.data = room[i].data()};
  const size_t filled = due == 0 ? 0 : endpoint.PollTx(now_, std::span(frames.data(), due));
  s.wake = std::max(endpoint.NextWakeup(now_), now_ + Nanos(1));
  allocations_ += quiet.count();
  for (size_t i = 0; i < filled; ++i) Transmit(side, frames[i]);
  Completion c;
  while (endpoint.PollCompletion(c)) {
    if (c.event == Event::kAccepted) s.accepted = c.connection;
    s.completions.push_back(c);
  }
}

inline void Pipe::Transmit(int side, const Frame& frame) {
  Side& s = *sides_[side];
  std::vector<std::byte> bytes(frame.data, frame.data + frame.size);
  const size_t header = bytes.size();
  bytes.resize(header + frame.payload_size);
  if (frame.payload != nullptr) {
    std::copy(frame.payload, frame.payload + frame.payload_size,
              bytes.begin() + static_cast<std::ptrdiff_t>(header));
  }
  Sight sight{.from = side, .at = std::max(now_, s.wire.free_at()), .cls = frame.cls};
  const Time end = s.wire.Book(now_, Bytes(static_cast<int64_t>(bytes.size()) + kFcsBytes));
  ReadFrame(bytes, sight.info);
  sight.nth = s.count[sight.info.type]++;
  Read(sight.info.packet, sight.data);
  Read(sight.info.packet, sight.ack);
  Read(sight.info.packet, sight.control);
  const Fate fate = hook_ ? hook_(sight) : Fate{};
  sent_.push_back(sight);
  sent_.back().info.packet = {};
  if (fate.trim) {
    bytes.resize(header);
    SetFrameDscp(bytes, kDscpTrimmed);
  }
  if (fate.mark) MarkFrame(bytes);
  if (fate.edit) fate.edit(bytes);
  for (int i = 0; i < fate.copies; ++i) {
    sides_[1 - side]->arriving.emplace(end + kDelay + fate.extra, bytes);
  }
}

}  // namespace weir
