// A set of signals as messages name it.
#pragma once

#include <string>

#include "datapath/api/signals.h"

namespace weir {

// "mark echo, RTT"; empty for none.
std::string SignalNames(Signals signals);

}  // namespace weir
