#include "testbed/loopback/carrier.h"

#include <algorithm>

#include "testbed/fabric/frames.h"

namespace weir {
namespace {

// Enough for Weir's smallest packet and what DescribePacket looks at.
constexpr uint32_t kFrameMin = kEthernetBytes + 20 + kUdpBytes;

bool IsIp(const Frame& frame) {
  if (frame.size < kFrameMin) return false;
  const auto high = static_cast<uint8_t>(frame.data[12]);
  const auto low = static_cast<uint8_t>(frame.data[13]);
  const bool v6 = high == 0x86 && low == 0xDD;
  return v6 ? frame.size >= kFrameMin + 20 : high == 0x08 && low == 0x00;
}

}  // namespace

Carrier::Carrier(const Topology& topology, const CarrierConfig& config)
    : held_(config.packets_max),
      packets_(config.packets_max, &held_),
      first_user_timer_(Fabric::TimersNeeded(topology)),
      wheel_(first_user_timer_ + config.timers),
      fabric_(topology, config.switches, config.seed, packets_, wheel_, 0,
              [this](Time, uint32_t host, PacketId id) { Deliver(host, id); }),
      far_ends_(topology.hosts, nullptr) {
  held_.set_pool(packets_);
}

Carrier::~Carrier() = default;

void Carrier::Attach(uint32_t host, RingFarEnd& far_end) {
  far_ends_[host] = &far_end;
  hosts_.push_back(host);
  held_.set_far_end(far_end);
}

bool Carrier::Turn(Time now) {
  longest_gap_ = std::max(longest_gap_, now - last_turn_);
  last_turn_ = now;
  bool moved = false;
  for (TimerWheel::Id id = wheel_.PopDue(now); id != TimerWheel::kNone; id = wheel_.PopDue(now)) {
    now_ = wheel_.clock();
    late_.Add(now - now_);
    ++events_;
    moved = true;
    if (id >= first_user_timer_) {
      on_timer_(id - first_user_timer_);
    } else {
      fabric_.HandleTimer(now_, id);
    }
  }
  now_ = now;
  for (const uint32_t host : hosts_) TakeFrom(now, host, moved);
  return moved;
}

void Carrier::TakeFrom(Time now, uint32_t host, bool& moved) {
  Frame frames[kBurst];
  const size_t n = far_ends_[host]->Receive(frames);
  for (size_t i = 0; i < n; ++i) Inject(now, host, frames[i]);
  moved |= n > 0;
}

void Carrier::Inject(Time now, uint32_t host, const Frame& frame) {
  const uint32_t header = !IsIp(frame)             ? 0
                          : frame.payload_size > 0 ? frame.size
                                                   : HeaderBytes({frame.data, frame.size});
  if (header == 0 || header > kFrameHeaderRoom) {
    ++foreign_;
    return far_ends_[host]->Drop({&frame, 1});
  }
  const PacketId id = packets_.Take();
  if (id == kNoPacket) {
    ++refused_;
    return far_ends_[host]->Drop({&frame, 1});
  }
  const std::span<const std::byte> headers(frame.data, header);
  const uint32_t payload = frame.payload_size + frame.size - header;
  DescribePacket(headers, payload, ClassOf(headers), host, packets_[id]);
  packets_[id].sequence = sequence_++;
  held_.Take(id, frame, header);
  fabric_.Inject(now, host, id);
}

void Carrier::Deliver(uint32_t host, PacketId id) {
  if (far_ends_[host] == nullptr) return packets_.Give(id);
  const Frame frame = held_.Release(id);
  packets_.Give(id);
  if (far_ends_[host]->Send({&frame, 1}) == 1) return;
  ++missed_;
  far_ends_[host]->Drop({&frame, 1});
}

void Carrier::StartWatching(Time now) {
  last_turn_ = now;
  late_ = Lateness();
  longest_gap_ = Duration(0);
}

}  // namespace weir
