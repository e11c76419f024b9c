// Every load-balancing policy that comes with Weir.
#pragma once

#include <span>

#include "datapath/api/load_balancer.h"

namespace weir {

// In the order `weir list lb` prints them.
std::span<const LbEntry> AllLb();

// nullptr if there is none of that name.
const LbEntry* FindLb(const char* name);

}  // namespace weir
