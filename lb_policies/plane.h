// Planes: first the plane, then the path within it; a plane whose paths fail together is left.
//
//   plane of a path = path mod `planes`
//   to send:          the planes in turn, except those left; the paths of a plane in turn
//   `together` paths of a plane are out and nothing good came from it in between:
//                     the plane is left, as long as half of the planes stay
//   the last of those paths works again: so does the plane
//
// Source: MRC, OCP 2026 (up to 8 planes, one port of the NIC each); what is bad is found and probed
// by PathHealth.
// Departure: the end of a plane is seen by its losses only; a link that goes down at the sender's
// own port is not told to a policy.
#pragma once

#include "datapath/api/load_balancer.h"

namespace weir {

class Plane final : public LoadBalancer {
 public:
  static constexpr bool kUsesHealth = true;
  static constexpr uint32_t kMaxPlanes = 16;

  struct Config {
    int64_t planes = 8;
    int64_t together = 2;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::planes>("planes", 1, kMaxPlanes, "independent networks", "MRC: up to 8"),
      Param<&Config::together>("together", 1, 64, "paths that fail until their plane is left",
                               "ours"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"planes_left", "planes left because their paths failed"},
      {"planes_back", "planes used again"},
  };

  Plane(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;
  void OnFeedback(const PathFeedback& feedback) override;
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  struct State {
    uint32_t paths = 0;   // of the plane
    uint32_t next = 0;    // of these
    uint32_t failed = 0;  // paths out since the last good news
    PathId witness = 0;   // the last of these
    bool left = false;
  };

  bool InUse(State& plane);
  PathId PathIn(uint32_t plane);

  const PathHealth* health_;
  uint32_t planes_;  // at most the number of paths
  uint32_t together_;
  uint32_t turn_;  // the plane used last
  uint32_t left_ = 0;
  State plane_[kMaxPlanes];
  uint64_t counters_[2] = {};
};

}  // namespace weir
