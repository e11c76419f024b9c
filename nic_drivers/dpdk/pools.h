// Buffer pools that outlive their device while others still hold buffers of them.
#pragma once

#include <rte_mempool.h>

#include <cstdint>

#include "absl/status/statusor.h"

namespace weir {

// `room`: bytes of data a buffer holds, headroom included; 0: none, for attached memory only.
absl::StatusOr<rte_mempool*> MakePool(uint32_t buffers, uint16_t room, int socket);
// Frees the pool now, or when its last buffer is back and the next pool is retired.
void RetirePool(rte_mempool* pool);

}  // namespace weir
