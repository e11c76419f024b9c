// Two binary trees over the nodes, each with half of the data: up to the root, then down again.
// Within a node the data is added along a chain to the rank whose NIC the channel uses.
#include <array>
#include <optional>
#include <vector>

#include "testbed/traffic/collectives/parts.h"

namespace weir {
namespace {

struct Place {
  uint32_t parent = kNoMessage;  // kNoMessage: the root
  std::vector<uint32_t> children;
};

// NCCL's balanced binary tree (ncclGetBtree): node 0 is the root and has one child.
Place InTree(uint32_t node, uint32_t nodes) {
  Place place;
  uint32_t bit = 1;
  while (bit < nodes && (node & bit) == 0) bit <<= 1;
  if (node == 0) {
    if (nodes > 1) place.children.push_back(bit >> 1);
    return place;
  }
  const uint32_t up = (node ^ bit) | (bit << 1);
  place.parent = up >= nodes ? node ^ bit : up;
  const uint32_t low = bit >> 1;
  if (low == 0) return place;
  place.children.push_back(node - low);
  for (uint32_t offset = low; offset > 0; offset >>= 1) {
    if (node + offset < nodes) {
      place.children.push_back(node + offset);
      break;
    }
  }
  return place;
}

// The second tree is the first one in a mirror, or shifted by one where that would leave the middle
// node alike.
std::vector<Place> Tree(uint32_t nodes, bool second) {
  const auto rename = [&](uint32_t node) {
    if (!second || node == kNoMessage) return node;
    return nodes % 2 == 0 ? nodes - 1 - node : (node + 1) % nodes;
  };
  std::vector<Place> tree(nodes);
  for (uint32_t node = 0; node < nodes; ++node) {
    const Place first = InTree(node, nodes);
    Place& place = tree[rename(node)];
    place.parent = rename(first.parent);
    for (const uint32_t child : first.children) place.children.push_back(rename(child));
  }
  return tree;
}

// One piece of data on one channel.
class Piece {
 public:
  Piece(const CollectiveShape& shape, const std::vector<Place>& tree, uint32_t channel, Bytes size,
        Plan& plan)
      : s_(shape),
        tree_(tree),
        channel_(channel),
        size_(OnWire(shape.protocol, size)),
        plan_(plan),
        lead_(channel % shape.ranks_per_node) {}

  void Add() {
    for (uint32_t node = 0; node < tree_.size(); ++node) {
      if (tree_[node].parent == kNoMessage) {
        Down(node, Up(node));
        return;
      }
    }
  }

 private:
  // What the lead of `node` must have received to have its subtree's sum.
  std::vector<uint32_t> Up(uint32_t node) {
    std::vector<uint32_t> needs;
    for (const uint32_t child : tree_[node].children) {
      needs.push_back(Send(RankAt(s_, child, lead_), RankAt(s_, node, lead_), Up(child)));
    }
    std::vector<uint32_t> chain;
    for (uint32_t i = s_.ranks_per_node - 1; i > 0; --i) {
      chain = {Send(Local(node, i), Local(node, i - 1), chain)};
    }
    needs.insert(needs.end(), chain.begin(), chain.end());
    return needs;
  }
  void Down(uint32_t node, const std::vector<uint32_t>& needs) {
    std::vector<uint32_t> chain = needs;
    for (uint32_t i = 0; i + 1 < s_.ranks_per_node; ++i) {
      chain = {Send(Local(node, i), Local(node, i + 1), chain)};
    }
    for (const uint32_t child : tree_[node].children) {
      Down(child, {Send(RankAt(s_, node, lead_), RankAt(s_, child, lead_), needs)});
    }
  }
  // The i-th rank of a node's chain; the first is the lead.
  uint32_t Local(uint32_t node, uint32_t i) const {
    return RankAt(s_, node, (lead_ + i) % s_.ranks_per_node);
  }
  uint32_t Send(uint32_t from, uint32_t to, const std::vector<uint32_t>& needs) {
    return plan_.Add(
        {.from = from, .to = to, .via = from, .channel = channel_, .size = size_, .ordered = false},
        needs);
  }

  const CollectiveShape& s_;
  const std::vector<Place>& tree_;
  uint32_t channel_;
  Bytes size_;
  Plan& plan_;
  uint32_t lead_;
};

}  // namespace

Plan PlanTree(const CollectiveShape& s) {
  Plan plan;
  // Each channel has one of the trees, so there are two at least.
  const uint32_t channels = std::max(2u, s.channels);
  const std::array<std::vector<Place>, 2> trees{Tree(NodesOf(s), false), Tree(NodesOf(s), true)};
  for (uint32_t channel = 0; channel < channels; ++channel) {
    ForPieces(ShareOf(s.size, channel, channels), CeilDiv(s.protocol.slice, 2),
              [&](Bytes piece) { Piece(s, trees[channel % 2], channel, piece, plan).Add(); });
  }
  return plan;
}

}  // namespace weir
