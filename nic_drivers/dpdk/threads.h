// Threads that poll queues of DPDK devices.
#pragma once

namespace weir {

// Make a thread known to DPDK, so that it takes buffers from a cache of its own. For
// EngineConfig::thread_begins and thread_ends. Without them everything works, more slowly. Nothing
// happens while no device was opened.
void DpdkThreadBegins();
void DpdkThreadEnds();

}  // namespace weir
