// How fast a machine can play a network.
#pragma once

#include <cstdint>

#include "datapath/api/units.h"

namespace weir {

// Hosts that talk, at most. Source: devices that DPDK has in a process (32), less some for others.
inline constexpr uint32_t kLoopbackHostsMax = 30;

struct Demand {
  uint32_t hosts = 0;  // that talk
  Rate rate{};         // of a host, > 0
  Bytes packet{};      // full data packet on the wire
  Duration base_rtt{};
  uint32_t host_threads = 1;
};

// Threads that poll hosts: one for each core beyond the fabric's, at least one, at most `hosts`.
uint32_t HostThreads(uint32_t hosts, uint32_t cores);
// Cores that this process may use.
uint32_t UsableCores();

// The largest of 1, 0.5, 0.2, 0.1, 0.05 ... at which a machine should keep up: all hosts at line
// rate take a quarter of each thread, and a scheduler's usual standstill is below the share of the
// base round trip that JudgeRealTime allows.
double ChooseTimeScale(const Demand& demand);

}  // namespace weir
