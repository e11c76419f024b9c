// Counters with one writer and any readers.
#pragma once

#include <atomic>
#include <cstdint>

namespace weir {

inline void Add(std::atomic<uint64_t>& counter, uint64_t n) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

}  // namespace weir
