// Memory for large tables.
#pragma once

#include <cstddef>

namespace weir {

// `bytes` of memory that is not touched until it is used, on huge pages where the system gives them
// for the asking: walking a large pool at random otherwise misses the TLB more than the cache.
// Aligned to at least 64 bytes. Stops the program if there is none.
void* AllocateLarge(size_t bytes);
void FreeLarge(void* memory, size_t bytes);

}  // namespace weir
