#include "testbed/traffic/collectives/collective.h"

#include <bit>
#include <cmath>

#include "absl/strings/str_format.h"
#include "testbed/traffic/collectives/parts.h"

namespace weir {
namespace {

using Algorithm = CollectiveAlgorithm;
using Kind = CollectiveKind;

constexpr const char* kKinds[kCollectiveKinds] = {"all_reduce", "all_gather", "reduce_scatter",
                                                  "alltoall",   "broadcast",  "reduce",
                                                  "gather",     "scatter",    "barrier"};
constexpr const char* kAlgorithms[kCollectiveAlgorithms] = {
    "auto",         "ring",    "tree", "halving_doubling", "pat",
    "hierarchical", "shifted", "pxn",  "direct",           "binomial"};

constexpr Bytes kLongestMessage = MiB(1024);

bool IsOneOf(Kind kind, std::initializer_list<Kind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool Fits(Algorithm algorithm, Kind kind) {
  switch (algorithm) {
    case Algorithm::kAuto:
      return true;
    case Algorithm::kRing:
      return IsOneOf(kind, {Kind::kAllReduce, Kind::kAllGather, Kind::kReduceScatter,
                            Kind::kBroadcast, Kind::kReduce});
    case Algorithm::kTree:
      return kind == Kind::kAllReduce;
    case Algorithm::kHalvingDoubling:
    case Algorithm::kHierarchical:
      return IsOneOf(kind, {Kind::kAllReduce, Kind::kAllGather, Kind::kReduceScatter});
    case Algorithm::kPat:
      return IsOneOf(kind, {Kind::kAllGather, Kind::kReduceScatter, Kind::kBarrier});
    case Algorithm::kShifted:
    case Algorithm::kPxn:
      return kind == Kind::kAllToAll;
    case Algorithm::kDirect:
      return IsOneOf(kind, {Kind::kAllToAll, Kind::kGather, Kind::kScatter});
    case Algorithm::kBinomial:
      return IsOneOf(kind, {Kind::kBroadcast, Kind::kReduce});
  }
  return false;
}

double SecondsAt(double bytes, Rate nic) { return bytes * 8 / static_cast<double>(nic.count()); }

// Steps of a chunk each, of which a rank passes on the first slice while the second is under way.
double RingSeconds(const CollectiveShape& s, double hops, double alpha, Rate nic) {
  const double share = static_cast<double>(s.size.count()) / s.channels;
  const double whole = static_cast<double>(s.protocol.chunk.count()) * s.ranks;
  const double loops = std::ceil(share / whole);
  const double chunk = share / loops / s.ranks;
  const double slice =
      s.protocol.whole
          ? chunk
          : std::min(chunk,
                     std::max(chunk / 2, static_cast<double>(s.protocol.slice_floor.count())));
  const double nics = std::min(s.ranks_per_node, s.channels);
  const double per_nic = s.channels / nics;  // channels that share one
  const double g = s.ranks_per_node;
  const double step =
      std::max(SecondsAt(chunk * per_nic, nic), alpha + SecondsAt(slice * per_nic, nic));
  return loops * hops / g * (g > 1 ? std::max(SecondsAt(chunk * per_nic * g, nic), step) : step);
}

}  // namespace

const char* Name(CollectiveKind kind) { return kKinds[static_cast<size_t>(kind)]; }
bool HasRoot(CollectiveKind kind) {
  return IsOneOf(kind, {Kind::kBroadcast, Kind::kReduce, Kind::kGather, Kind::kScatter});
}
const char* Name(CollectiveAlgorithm algorithm) {
  return kAlgorithms[static_cast<size_t>(algorithm)];
}

Protocol SimpleProtocol() {
  return {.name = "simple", .chunk = MiB(2), .slice = MiB(1), .slice_floor = KiB(32)};
}
Protocol LL128Protocol() {
  constexpr Bytes kStep(576'000);
  return {.name = "ll128",
          .chunk = kStep,
          .slice = kStep,
          .slice_floor = kStep,
          .efficiency = 120.0 / 128.0};
}
Protocol LLProtocol() {
  return {
      .name = "ll", .chunk = KiB(32), .slice = KiB(32), .slice_floor = KiB(32), .efficiency = 0.5};
}
Protocol WholeProtocol() {
  return {.name = "whole",
          .chunk = kLongestMessage * 1024,
          .slice = kLongestMessage,
          .slice_floor = kLongestMessage,
          .whole = true};
}
Protocol ProtocolFor(Bytes size) {
  if (size < KiB(64)) return LLProtocol();
  return size <= MiB(2) ? LL128Protocol() : SimpleProtocol();
}

CollectiveAlgorithm AlgorithmFor(const CollectiveShape& s) {
  if (s.algorithm != Algorithm::kAuto) return s.algorithm;
  switch (s.kind) {
    case Kind::kAllReduce:
      return s.size < MiB(1) * s.ranks && NodesOf(s) > 2 ? Algorithm::kTree : Algorithm::kRing;
    case Kind::kAllGather:
    case Kind::kReduceScatter:
      return Algorithm::kRing;
    case Kind::kAllToAll:
      return Algorithm::kShifted;
    case Kind::kBroadcast:
    case Kind::kReduce:
      return s.size < MiB(1) ? Algorithm::kBinomial : Algorithm::kRing;
    case Kind::kGather:
    case Kind::kScatter:
      return Algorithm::kDirect;
    case Kind::kBarrier:
      return Algorithm::kPat;
  }
  return Algorithm::kRing;
}

absl::Status CheckCollective(const CollectiveShape& s) {
  const auto bad = [&](const std::string& what) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s by %s: %s", Name(s.kind), Name(s.algorithm), what));
  };
  if (s.ranks < 2) return bad(absl::StrFormat("needs at least 2 ranks, not %d", s.ranks));
  if (s.ranks_per_node == 0 || s.ranks % s.ranks_per_node != 0) {
    return bad(
        absl::StrFormat("%d ranks don't fill nodes of %d; ranks must be a multiple of "
                        "ranks_per_node",
                        s.ranks, s.ranks_per_node));
  }
  if (s.size <= Bytes(0) && s.matrix.empty()) return bad("size must be above 0");
  if (s.channels == 0 || s.concurrent_peers == 0) return bad("needs at least 1 channel and peer");
  if (s.root >= s.ranks) {
    return bad(absl::StrFormat("root %d is not below %d, the ranks", s.root, s.ranks));
  }
  if (!s.matrix.empty() &&
      (s.kind != Kind::kAllToAll || s.matrix.size() != static_cast<size_t>(s.ranks) * s.ranks)) {
    return bad("only an all-to-all has a matrix, of ranks x ranks sizes");
  }
  if (!Fits(s.algorithm, s.kind)) return bad("there is no such algorithm for it");
  if (s.algorithm == Algorithm::kHalvingDoubling && !std::has_single_bit(s.ranks)) {
    return bad(absl::StrFormat("needs a power of two ranks, not %d", s.ranks));
  }
  if (s.algorithm == Algorithm::kHierarchical && NodesOf(s) < 2) {
    return bad("needs at least two nodes; lower ranks_per_node");
  }
  return absl::OkStatus();
}

absl::StatusOr<Plan> PlanCollective(const CollectiveShape& shape) {
  CollectiveShape s = shape;
  if (absl::Status bad = CheckCollective(s); !bad.ok()) return bad;
  s.algorithm = AlgorithmFor(s);
  switch (s.algorithm) {
    case Algorithm::kAuto:
    case Algorithm::kRing:
      return PlanRing(s);
    case Algorithm::kTree:
      return PlanTree(s);
    case Algorithm::kHalvingDoubling:
      return PlanHalvingDoubling(s);
    case Algorithm::kPat:
      return PlanPat(s);
    case Algorithm::kHierarchical:
      return PlanHierarchical(s);
    case Algorithm::kShifted:
    case Algorithm::kPxn:
      return PlanAllToAll(s);
    case Algorithm::kDirect:
      if (s.kind == Kind::kAllToAll) return PlanAllToAll(s);
      return PlanRooted(s);
    case Algorithm::kBinomial:
      return PlanRooted(s);
  }
  return absl::InternalError("unknown algorithm");
}

double BusFactor(CollectiveKind kind, uint32_t ranks) {
  const double n = ranks;
  switch (kind) {
    case Kind::kAllReduce:
      return 2 * (n - 1) / n;
    case Kind::kAllGather:
    case Kind::kReduceScatter:
    case Kind::kAllToAll:
    case Kind::kGather:
    case Kind::kScatter:
      return (n - 1) / n;
    case Kind::kBroadcast:
    case Kind::kReduce:
    case Kind::kBarrier:
      return 1;
  }
  return 1;
}

Bytes BusiestBytes(const CollectiveShape& s) {
  const uint32_t g = s.ranks_per_node;
  if (s.matrix.empty()) return s.size * (s.ranks - g) / s.ranks;
  std::vector<Bytes> out(s.ranks), in(s.ranks);
  Bytes most{};
  for (uint32_t i = 0; i < s.ranks; ++i) {
    for (uint32_t j = 0; j < s.ranks; ++j) {
      if (i / g == j / g) continue;
      const Bytes bytes = s.matrix[size_t{i} * s.ranks + j];
      out[i] += bytes;
      in[j] += bytes;
    }
  }
  for (uint32_t i = 0; i < s.ranks; ++i) most = std::max({most, out[i], in[i]});
  return most;
}

Duration IdealCollective(const CollectiveShape& shape, Duration latency, Rate nic) {
  CollectiveShape s = shape;
  if (NodesOf(s) < 2) return Duration(0);
  s.algorithm = AlgorithmFor(s);
  s.size = OnWire(s.protocol, s.size);
  const double alpha = static_cast<double>(latency.count()) * 1e-9;
  const double size = static_cast<double>(s.size.count());
  const double n = s.ranks;
  const double nodes = NodesOf(s);
  const double rounds = std::ceil(std::log2(n));
  const double both = s.kind == Kind::kAllReduce ? 2 : 1;  // reduce-scatter and all-gather
  double seconds = 0;
  switch (s.algorithm) {
    case Algorithm::kAuto:
    case Algorithm::kRing: {
      if (s.kind == Kind::kBroadcast || s.kind == Kind::kReduce) {
        const double slices = std::ceil(size / static_cast<double>(s.protocol.slice.count()));
        seconds = (n - 2 + slices) * SecondsAt(size / slices, nic) + (n - 1) * alpha;
      } else {
        seconds = RingSeconds(s, both * (n - 1), alpha, nic);
      }
      break;
    }
    case Algorithm::kTree: {
      const double nics = std::min(s.ranks_per_node, std::max(2u, s.channels));
      seconds = 2 * std::floor(std::log2(nodes)) * alpha + SecondsAt(2 * size / nics, nic);
      break;
    }
    case Algorithm::kHalvingDoubling:
    case Algorithm::kPat:
      seconds = both * (rounds * alpha + SecondsAt(size * (n - 1) / n, nic));
      break;
    case Algorithm::kHierarchical: {
      CollectiveShape rail = s;
      rail.ranks = NodesOf(s);
      rail.size = CeilDiv(s.size, s.ranks_per_node);
      rail.ranks_per_node = 1;
      seconds = RingSeconds(rail, both * (nodes - 1), alpha, nic);
      break;
    }
    case Algorithm::kShifted:
    case Algorithm::kPxn:
      seconds = std::ceil((n - 1) / s.concurrent_peers) * alpha +
                SecondsAt(static_cast<double>(BusiestBytes(s).count()), nic);
      break;
    case Algorithm::kDirect:
      seconds =
          alpha + SecondsAt(s.kind == Kind::kAllToAll ? static_cast<double>(BusiestBytes(s).count())
                                                      : size * (n - 1) / n,
                            nic);
      break;
    case Algorithm::kBinomial:
      seconds = rounds * (alpha + SecondsAt(size, nic));
      break;
  }
  return Duration(static_cast<int64_t>(seconds * 1e9));
}

}  // namespace weir
