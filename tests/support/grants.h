// Takes what a receiver half grants.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "datapath/api/congestion_control.h"

namespace weir {

// The reference point of this project's sums: BDP 150 kB.
inline constexpr CreditInfo kTestReceiver = {.mtu = Bytes(4096),
                                             .line_rate = Gbps(100),
                                             .base_rtt = Micros(12),
                                             .connections = 64,
                                             .seed = 1};

struct TimedGrant {
  Time at{};
  CreditFlow flow = kNoFlow;
  Bytes bytes{};
};

// All grants until `until`, each when it is possible.
inline std::vector<TimedGrant> TakeGrants(CreditScheduler& scheduler, Time from, Time until) {
  std::vector<TimedGrant> grants;
  for (Time now = from; now <= until;) {
    const Grant grant = scheduler.NextGrant(now);
    if (grant.flow != kNoFlow) grants.push_back({now, grant.flow, grant.bytes});
    if (grant.again == Time::Never()) break;
    EXPECT_GT(grant.again, now);
    now = grant.again;
  }
  return grants;
}
inline Bytes Total(const std::vector<TimedGrant>& grants, CreditFlow of = kNoFlow) {
  Bytes total{};
  for (const TimedGrant& grant : grants) {
    if (of == kNoFlow || grant.flow == of) total += grant.bytes;
  }
  return total;
}

}  // namespace weir
