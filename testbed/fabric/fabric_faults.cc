// Fabric: pausing, and what goes wrong.
#include <algorithm>

#include "testbed/fabric/fabric.h"

namespace weir {

// --- Lossless mode ---

Bytes Fabric::PauseAbove(NodeId node) const {
  if (config_.pfc_xoff > Bytes(0)) return config_.pfc_xoff;
  return Scaled(std::max(Bytes(0), config_.buffer - buffered_[node]), config_.pfc_alpha);
}

void Fabric::HoldInput(Time now, const Packet& packet) {
  const LinkId link = packet.from_link;
  const uint8_t traffic_class = ClassOfPacket(packet);
  Input& input = inputs_[ClassIndex(link, packet)];
  input.held += Bytes(packet.wire);
  if (input.pausing) return;
  if (input.held > PauseAbove(ports_[link].to)) SendPause(now, link, traffic_class, true);
}

void Fabric::FreeInput(Time now, const Packet& packet) {
  const LinkId link = packet.from_link;
  Input& input = inputs_[ClassIndex(link, packet)];
  input.held -= Bytes(packet.wire);
  if (!input.pausing) return;
  const Bytes resume = PauseAbove(ports_[link].to) - Bytes(2 * packet.wire);
  if (input.held <= std::max(Bytes(0), resume)) {
    SendPause(now, link, ClassOfPacket(packet), false);
  }
}

// The pause frame travels back along the cable; its own transmission is taken as instant.
void Fabric::SendPause(Time now, LinkId input, uint8_t traffic_class, bool pause) {
  inputs_[size_t{input} * classes() + traffic_class].pausing = pause;
  std::deque<PauseNotice>& notices = notices_[input];
  notices.push_back({now + ports_[input].delay, traffic_class, pause});
  if (notices.size() == 1) timers_.Arm(PauseTimer(input), notices.front().at);
}

void Fabric::HandlePause(Time now, LinkId link) {
  Port& port = ports_[link];
  Serve(now, link);
  std::deque<PauseNotice>& notices = notices_[link];
  const PauseNotice notice = notices.front();
  notices.pop_front();
  if (!notices.empty()) timers_.Arm(PauseTimer(link), notices.front().at);
  const auto bit = static_cast<uint8_t>(1u << notice.traffic_class);
  if (notice.pause == ((port.paused & bit) != 0)) return;
  port.paused ^= bit;
  Time& since = inputs_[size_t{link} * classes() + notice.traffic_class].paused_since;
  if (notice.pause) {
    since = now;
    ++port.stats.pauses;
  } else {
    port.stats.paused += now - since;
    Serve(now, link);
  }
}

// --- Faults ---

void Fabric::SetLink(Time now, LinkId link, bool up) {
  Serve(now, link);
  Port& port = ports_[link];
  port.up = up;
  if (up) return;
  // What is on the wire is lost with it, and so is what the queue sends meanwhile.
  timers_.Disarm(first_timer_ + link);
  while (port.link.head != kNoPacket) Drop(PopFront(port.link), stats_.lost_by_fault);
  Serve(now, link);
}

void Fabric::SetRate(Time now, LinkId link, double share, bool scale_queues) {
  Serve(now, link);
  ports_[link].queue_share = scale_queues ? share : 1.0;
  const Rate rate = Scaled(topology_.links[link].rate, share);
  ports_[link].wire.set_rate(std::max(rate, Rate(1)));
}

void Fabric::SetImpairment(LinkId link, const Impairment& impairment) {
  impairments_[link] = impairment;
  ports_[link].impaired = impairment.any();
}

void Fabric::Reroute() {
  std::vector<bool> usable(ports_.size());
  for (size_t i = 0; i < ports_.size(); ++i) usable[i] = ports_[i].up;
  routes_ = Routes(topology_, usable);
}

// What a bad link does to a packet at its end.
void Fabric::Impair(Time now, LinkId link, PacketId id) {
  const Impairment& fault = impairments_[link];
  bursting_[link] =
      bursting_[link] ? !rng_.Chance(fault.burst_leave) : rng_.Chance(fault.burst_enter);
  if (bursting_[link] || rng_.Chance(fault.loss)) return Drop(id, stats_.lost_by_fault);
  if (rng_.Chance(fault.corruption)) Corrupt(id);
  if (rng_.Chance(fault.duplication)) Duplicate(now, link, id);
  if (rng_.Chance(fault.reordering)) {
    ++stats_.reordered;
    HoldBack(now + fault.reorder_delay, link, id);
  } else {
    Land(now, link, id);
  }
}

void Fabric::Corrupt(PacketId id) {
  ++stats_.corrupted;
  Packet& packet = packets_[id];
  const bool content_matters = packet.payload_bytes != nullptr && packets_.Own(id);
  const uint32_t content = content_matters ? packet.payload : 0u;
  const uint32_t bit = rng_.Below(8u * (packet.header + content));
  const uint32_t byte = bit / 8;
  std::byte& target = byte < packet.header ? packets_.Headers(packet)[byte]
                                           : packet.payload_bytes[byte - packet.header];
  target ^= std::byte{static_cast<uint8_t>(1u << bit % 8)};
}

void Fabric::Duplicate(Time now, LinkId link, PacketId id) {
  const PacketId copy = packets_.Copy(id);
  if (copy == kNoPacket) return;
  ++stats_.duplicated;
  ++in_network_;
  HoldBack(now, link, copy);
}

void Fabric::HoldBack(Time until, LinkId link, PacketId id) {
  late_.push({until, late_order_++, link, id});
  timers_.Arm(LateTimer(), late_.top().at);
}

void Fabric::HandleLate(Time now) {
  while (!late_.empty() && late_.top().at <= now) {
    const Late late = late_.top();
    late_.pop();
    Land(now, late.link, late.packet);
  }
  if (!late_.empty()) {
    timers_.Arm(LateTimer(), late_.top().at);
  }
}

}  // namespace weir
