// What can be said of a path through an idle fabric.
#pragma once

#include <span>
#include <vector>

#include "testbed/fabric/topology.h"

namespace weir {

// First bit of a packet of `size` out to the last bit of its acknowledgement back on an idle
// fabric; Max if there is no way.
Duration BaseRtt(const Topology& topology, const Routes& routes, uint32_t from, uint32_t to,
                 Bytes size, Bytes ack);

// Of each host's own link.
std::vector<Rate> HostRates(const Topology& topology);

// Host i's link gets rate i % rates.size(), both ways: NICs of several speeds. `rates` is not
// empty.
void SetHostRates(Topology& topology, std::span<const Rate> rates);

}  // namespace weir
