// How fast a machine can play a network.
#pragma once

#include <cstdint>

#include "datapath/api/units.h"

namespace weir {

// Hosts that talk, at most. Source: devices that DPDK has in a process (32), less some for others.
inline constexpr uint32_t kLoopbackHostsMax = 30;

// What a thread loses at least when another one gets its core. Source: two time slices of Linux's
// CFS on few cores.
inline constexpr Duration kStandstillMin = Millis(8);

struct Demand {
  uint32_t hosts = 0;  // that talk
  Rate rate{};         // of a host, > 0
  Bytes packet{};      // full data packet on the wire
  Duration base_rtt{};
  uint32_t host_threads = 1;
  Duration standstill = kStandstillMin;  // of the machine's clock
};

// Threads that poll hosts: one for each core beyond the fabric's, at least one, at most `hosts`.
uint32_t HostThreads(uint32_t hosts, uint32_t cores);
// Cores that this process may use.
uint32_t UsableCores();

// Twice the longest time that this thread stood still while it watched the clock for 60 ms, at
// least kStandstillMin. Measured once a process, so that all runs of an experiment are alike.
Duration UsualStandstill();

// The largest of 1, 0.5, 0.2, 0.1, 0.05 ... at which a machine should keep up: all hosts at line
// rate take a quarter of each thread, and `standstill` stays within the shares of the base round
// trip that JudgeRealTime allows: of a gap if it is kStandstillMin, else of the usual lateness.
double ChooseTimeScale(const Demand& demand);

}  // namespace weir
