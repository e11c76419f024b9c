// Ring: every chunk travels along the ring, hop by hop, and each rank adds to it or copies it.
#include <array>

#include "testbed/traffic/collectives/parts.h"

namespace weir {
namespace {

// The ring of one channel. Within a node it follows the local ranks, from one that differs by
// channel, so that the channels cross nodes on different NICs; both ways on the same one.
class Ring {
 public:
  Ring(const CollectiveShape& shape, uint32_t channel, Plan& plan)
      : shape_(shape), channel_(channel), plan_(plan) {}

  uint32_t RankOf(uint32_t position) const {
    position %= shape_.ranks;
    const uint32_t g = shape_.ranks_per_node;
    return RankAt(shape_, position / g, (position + channel_) % g);
  }
  uint32_t PositionOf(uint32_t rank) const {
    const uint32_t g = shape_.ranks_per_node;
    return rank / g * g + (rank % g + g - channel_ % g) % g;
  }
  // `size` bytes of payload from `position`, `hops` times onwards.
  void Travel(uint32_t position, uint32_t hops, Bytes size, uint32_t hop, uint32_t& last) {
    if (hop >= hops) return;
    const uint32_t from = RankOf(position + hop);
    const uint32_t to = RankOf(position + hop + 1);
    const uint32_t g = shape_.ranks_per_node;
    const bool crosses = from / g != to / g;
    const std::array<uint32_t, 1> need{last};
    last = plan_.Add({.from = from,
                      .to = to,
                      .via = crosses ? RankAt(shape_, from / g, channel_ % g) : from,
                      .channel = channel_,
                      .size = OnWire(shape_.protocol, size)},
                     std::span(need).first(hop == 0 ? 0 : 1));
  }

 private:
  const CollectiveShape& shape_;
  uint32_t channel_;
  Plan& plan_;
};

Bytes SliceOf(const Protocol& protocol, Bytes chunk) {
  return std::min(protocol.slice, std::max(CeilDiv(chunk, 2), protocol.slice_floor));
}

// All chunks of one loop go round together, so each rank's program is step by step.
void AddLoop(Ring& ring, const CollectiveShape& s, uint32_t hops, Bytes chunk, Bytes rest,
             Plan& plan) {
  struct Traveller {
    uint32_t position;
    Bytes size;
    uint32_t last = kNoMessage;
  };
  std::vector<Traveller> travellers;
  const Bytes slice = SliceOf(s.protocol, chunk);
  for (uint32_t position = 0; position < s.ranks; ++position) {
    const Bytes size = std::clamp(rest - chunk * position, Bytes(0), chunk);
    ForPieces(size, slice, [&](Bytes piece) { travellers.push_back({position, piece}); });
  }
  plan.messages.reserve(plan.messages.size() + travellers.size() * hops);
  for (uint32_t hop = 0; hop < hops; ++hop) {
    for (Traveller& t : travellers) ring.Travel(t.position, hops, t.size, hop, t.last);
  }
}

}  // namespace

Plan PlanRing(const CollectiveShape& s) {
  Plan plan;
  const bool rooted = s.kind == CollectiveKind::kBroadcast || s.kind == CollectiveKind::kReduce;
  const uint32_t hops = (s.kind == CollectiveKind::kAllReduce ? 2 : 1) * (s.ranks - 1);
  for (uint32_t channel = 0; channel < s.channels; ++channel) {
    Ring ring(s, channel, plan);
    const Bytes share = ShareOf(s.size, channel, s.channels);
    if (rooted) {
      // From the root on, or from the rank after it up to the root.
      const uint32_t start = ring.PositionOf(s.root) + (s.kind == CollectiveKind::kReduce ? 1 : 0);
      ForPieces(share, s.protocol.slice, [&](Bytes piece) {
        uint32_t last = kNoMessage;
        for (uint32_t hop = 0; hop < hops; ++hop) ring.Travel(start, hops, piece, hop, last);
      });
      continue;
    }
    const Bytes loop = s.protocol.chunk * s.ranks;
    for (Bytes at{}; at < share; at += loop) {
      const Bytes rest = share - at;
      const Bytes chunk = rest < loop ? Align16(CeilDiv(rest, s.ranks)) : s.protocol.chunk;
      AddLoop(ring, s, hops, chunk, std::min(rest, loop), plan);
    }
  }
  return plan;
}

}  // namespace weir
