// A fabric alone, with bare packets and a clock that jumps from timer to timer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "testbed/fabric/fabric.h"

namespace weir {

struct Sending {
  uint32_t from = 0;
  uint32_t to = 1;
  uint16_t wire = 1000;
  FrameClass cls = FrameClass::kData;
  uint32_t flow = 0;  // hash
  bool ecn = true;
  bool trimmable = true;
  uint8_t traffic_class = 0;
};

struct Arrival {
  Time at{};
  uint32_t host = 0;
  uint32_t sequence = 0;  // as Send returned it
  uint16_t wire = 0;
  bool marked = false;
  bool trimmed = false;
  bool trimmed_last_hop = false;
  int flipped_bits = 0;  // of its content
};

class FabricRig {
 public:
  static constexpr uint16_t kHeader = 86;  // 90 B with the FCS are left of a trimmed packet

  explicit FabricRig(const Topology& topology, const SwitchConfig& config = {}, uint64_t seed = 1)
      : packets_(1 << 16),
        wheel_(Fabric::TimersNeeded(topology)),
        fabric_(topology, config, seed, packets_, wheel_, 0,
                [this](Time now, uint32_t host, PacketId id) { Take(now, host, id); }) {}

  Fabric& fabric() { return fabric_; }
  Time now() const { return now_; }
  std::vector<Arrival>& arrivals() { return arrivals_; }
  uint32_t held() const { return packets_.used(); }

  uint32_t Send(const Sending& s) {
    const PacketId id = packets_.Take();
    Packet& p = packets_[id];
    p.to = s.to;
    p.flow_hash = s.flow;
    p.wire = s.wire;
    p.header = std::min<uint16_t>(kHeader, static_cast<uint16_t>(s.wire - kFcsBytes));
    p.payload = static_cast<uint16_t>(s.wire - kFcsBytes - p.header);
    p.cls = s.cls;
    p.ecn_capable = s.ecn;
    p.trimmable = s.trimmable;
    p.traffic_class = s.traffic_class;
    p.marked = p.trimmed = p.trimmed_last_hop = p.in_band = false;
    p.sequence = next_++;
    const std::vector<std::byte> zeros(s.wire);
    std::memcpy(packets_.Headers(p), zeros.data(), p.header);
    packets_.CopyPayload(p, std::span(zeros).first(p.payload));
    const uint32_t sequence = p.sequence;
    fabric_.Inject(now_, s.from, id);
    return sequence;
  }

  void RunUntil(Time until) {
    for (TimerWheel::Id id = wheel_.PopDue(until); id != TimerWheel::kNone;
         id = wheel_.PopDue(until)) {
      now_ = wheel_.clock();
      fabric_.HandleTimer(now_, id);
    }
    now_ = std::max(now_, until);
  }
  void RunFor(Duration d) { RunUntil(now_ + d); }
  std::string Breach() { return fabric_.CheckConservation(now_); }

  // The first link from one node to another.
  LinkId LinkBetween(NodeId from, NodeId to) const {
    const std::vector<LinkShape>& links = fabric_.topology().links;
    for (LinkId id = 0; id < links.size(); ++id) {
      if (links[id].from == from && links[id].to == to) return id;
    }
    return static_cast<LinkId>(links.size());
  }
  const PortStats& Port(NodeId from, NodeId to) const {
    return fabric_.port(LinkBetween(from, to));
  }

 private:
  void Take(Time now, uint32_t host, PacketId id) {
    const Packet& p = packets_[id];
    int flipped = 0;
    const auto count = [&](const std::byte* bytes, size_t n) {
      for (size_t i = 0; i < n; ++i) flipped += std::popcount(static_cast<uint8_t>(bytes[i]));
    };
    count(packets_.Headers(p), p.header);
    if (p.payload_bytes != nullptr) count(p.payload_bytes, p.payload);
    arrivals_.push_back(
        {now, host, p.sequence, p.wire, p.marked, p.trimmed, p.trimmed_last_hop, flipped});
    packets_.Give(id);
  }

  PacketPool packets_;
  TimerWheel wheel_;
  Fabric fabric_;
  Time now_{};
  uint32_t next_ = 0;
  std::vector<Arrival> arrivals_;
};

}  // namespace weir
