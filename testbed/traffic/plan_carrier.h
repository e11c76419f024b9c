// Puts the messages of collectives on connections: queue pairs, pieces, clear-to-send, and copies
// within a node.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "testbed/traffic/collectives/plan.h"
#include "testbed/traffic/traffic.h"

namespace weir {

// How far apart two hosts are.
enum class Distance : uint8_t { kLeaf, kPod, kFabric };
inline constexpr size_t kDistances = 3;

// Whole messages with limits, as zero-copy stacks have them (CTran: 512 KiB, 128 outstanding).
struct DistanceLimit {
  Bytes segment{};           // a message is cut into these; 0: not cut
  uint32_t outstanding = 0;  // segments of a queue pair that may be unacknowledged; 0: any number
};

struct CarryOptions {
  uint32_t qps = 1;    // connections of a pair and channel
  bool split = false;  // a message goes over all of them, in parts of a multiple of 128 bytes;
                       // otherwise messages take them in turn
  // Clear-to-send: a message leaves when its receiver has come to the collective and has room for
  // it, which it says in a message of 64 bytes. `window` are the messages of a pair and channel
  // that there is room for.
  bool cts = false;
  bool cts_urgent = false;  // those messages go in the control class, before all data
  uint32_t window = 4;
  uint8_t traffic_class = 0;  // of data, below kTrafficClasses
  std::array<DistanceLimit, kDistances> limits{};
  // Between ranks of a node, and to another rank's NIC there.
  Rate node_rate = Gbps(3600);
  Duration node_latency = Micros(1);
};

class PlanCarrier {
 public:
  struct Node {
    uint32_t ranks = 1;  // consecutive ones share a node
    uint32_t nics = 1;   // of a rank; its queue pairs take them in turn
  };
  // `hosts`: by rank, so many a rank as it has NICs. All outlive the carrier.
  PlanCarrier(Traffic& traffic, const CarryOptions& options, std::span<const uint32_t> hosts,
              const Node& node, std::function<Distance(uint32_t, uint32_t)> distance);

  // --- Events: triggers that fire once ---
  uint32_t Event(uint32_t count);
  // `count` more firings are needed.
  void Expect(uint32_t event, uint32_t count = 1) { traffic_.triggers[event].count += count; }
  // When `event` fires, `after` it counts towards `then`.
  void Join(uint32_t event, uint32_t then, Duration after = {});

  // Of one communicator: member i is rank ranks[i], comes at members[i].arrived and is done at
  // members[i].done, whose count must still be able to grow. `communicator` tells those of the same
  // pairs apart.
  void Carry(const Plan& plan, uint32_t communicator, std::span<const uint32_t> ranks,
             std::span<const Operation::Member> members);

  struct Ends {
    uint32_t sent = kNoTrigger;
    uint32_t received = kNoTrigger;
  };
  // One message between ranks, when `ready` fires. Adds to the counts of `ends`.
  void Send(uint32_t communicator, uint32_t from, uint32_t to, Bytes size, uint32_t ready,
            const Ends& ends);

 private:
  struct Way {  // connections of one communicator, pair and channel
    std::vector<uint32_t> connections;
    uint32_t turn = 0;
    std::vector<std::vector<uint32_t>> sent;  // by queue pair: events, if there is a limit
  };
  struct WayKey {
    uint32_t communicator, from, to, channel;
    bool operator==(const WayKey&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const WayKey& k) {
      return H::combine(std::move(h), k.communicator, k.from, k.to, k.channel);
    }
  };
  class PlanEvents;

  bool SameNode(uint32_t a, uint32_t b) const { return a / node_.ranks == b / node_.ranks; }
  Way& WayOf(uint32_t communicator, uint32_t from, uint32_t to, uint32_t channel);
  void Put(Way& way, uint32_t from, uint32_t to, Bytes size, uint32_t ready, const Ends& ends);
  void AddTransfer(uint32_t connection, Bytes size, uint32_t ready, const Ends& ends);
  void Local(Bytes size, uint32_t ready, const Ends& ends);

  Traffic& traffic_;
  const CarryOptions& options_;
  std::span<const uint32_t> hosts_;
  Node node_;
  std::function<Distance(uint32_t, uint32_t)> distance_;
  absl::flat_hash_map<WayKey, Way> ways_;
};

}  // namespace weir
