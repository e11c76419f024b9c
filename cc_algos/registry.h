// Every congestion-control algorithm that comes with Weir.
#pragma once

#include <span>

#include "datapath/api/congestion_control.h"

namespace weir {

// In the order `weir list cc` prints them.
std::span<const CcEntry> AllCc();

// nullptr if there is none of that name.
const CcEntry* FindCc(const char* name);

}  // namespace weir
