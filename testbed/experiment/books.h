// The laws that must hold after a run, whatever happened in it.
#pragma once

#include <string>
#include <vector>

#include "testbed/experiment/home.h"
#include "testbed/traffic/traffic.h"

namespace weir {

// Every packet and byte is accounted for; `done`: all transfers ended, so nothing is in flight and
// senders' and switches' counts agree. `ids` are the connections at their senders. The laws that
// are broken, in words.
std::vector<std::string> CheckBooks(Home& home, const Traffic& traffic,
                                    const std::vector<WireId>& ids, bool done);

}  // namespace weir
