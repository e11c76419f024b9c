// Fabric: classes of data that share a link.
#include <algorithm>

#include "testbed/fabric/fabric.h"

namespace weir {
namespace {

// What the class of most weight may send in a turn; about the largest packet.
constexpr int64_t kTurnBytes = 10'000;

}  // namespace

void Fabric::SetUpClasses() {
  uint32_t most = 1;
  for (const TrafficClass& c : config_.classes) most = std::max(most, c.weight);
  for (const TrafficClass& c : config_.classes) {
    quanta_.emplace_back(std::max<int64_t>(1, kTurnBytes * c.weight / most));
  }
  queues_.resize(topology_.links.size() * quanta_.size());
  turns_.resize(topology_.links.size());
}

void Fabric::PushData(LinkId link, PacketId id) {
  Port& port = ports_[link];
  if (!has_classes()) return PushBack(port.data, id);
  const Packet& packet = packets_[id];
  PushBack(queues_[ClassIndex(link, packet)].packets, id);
  port.data.bytes += Bytes(packet.wire);
  ++port.data.packets;
}

PacketId Fabric::PopFrom(LinkId link, uint32_t traffic_class) {
  const PacketId id = PopFront(queues_[size_t{link} * classes() + traffic_class].packets);
  ports_[link].data.bytes -= Bytes(packets_[id].wire);
  --ports_[link].data.packets;
  return id;
}

// Strict classes in their order, then deficit round robin. Source: Shreedhar and Varghese, SIGCOMM
// 1995; a class that has nothing keeps no deficit.
PacketId Fabric::PopClass(LinkId link) {
  ClassQueue* queues = &queues_[size_t{link} * classes()];
  const uint8_t paused = ports_[link].paused;
  const auto ready = [&](uint32_t c) {
    return queues[c].packets.head != kNoPacket && (paused >> c & 1) == 0;
  };
  uint32_t waiting = 0;
  uint32_t one = 0;
  for (uint32_t c = 0; c < classes(); ++c) {
    if (!ready(c)) continue;
    if (config_.classes[c].strict) return PopFrom(link, c);
    ++waiting;
    one = c;
  }
  if (waiting == 0) return kNoPacket;
  if (waiting == 1) {
    queues[one].deficit = Bytes(0);
    return PopFrom(link, one);
  }
  const auto weighted = [&](uint32_t c) { return !config_.classes[c].strict && ready(c); };
  for (uint8_t& turn = turns_[link];;) {
    ClassQueue& queue = queues[turn];
    if (!weighted(turn)) {
      queue.deficit = Bytes(0);
    } else if (const Bytes size(packets_[queue.packets.head].wire); size <= queue.deficit) {
      queue.deficit -= size;
      return PopFrom(link, turn);
    }
    turn = static_cast<uint8_t>((turn + 1u) % classes());
    if (weighted(turn)) queues[turn].deficit += quanta_[turn];
  }
}

}  // namespace weir
