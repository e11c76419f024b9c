// Buffers as they change hands: between threads through DPDK's rings and pools.
//
// Those order what one thread wrote before what the next reads, but inside DPDK's own libraries,
// where the thread sanitizer does not look. Here it is told; in any other build these are the bare
// calls.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace weir {

#if defined(__SANITIZE_THREAD__)

// Before buffers go into a ring or to a device, and after they came out of one.
inline void HandOver(rte_mbuf* const* mbufs, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) __tsan_release(mbufs[i]);
}
inline void TakeOver(rte_mbuf* const* mbufs, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) __tsan_acquire(mbufs[i]);
}
inline bool AllocBuffers(rte_mempool* pool, rte_mbuf** mbufs, uint32_t n) {
  if (rte_mempool_get_bulk(pool, reinterpret_cast<void**>(mbufs), n) != 0) return false;
  __tsan_acquire(pool);
  for (uint32_t i = 0; i < n; ++i) rte_pktmbuf_reset(mbufs[i]);
  return true;
}
inline void FreeBuffer(rte_mbuf* mbuf) {
  while (mbuf != nullptr) {
    rte_mbuf* next = mbuf->next;
    if (rte_mbuf* unused = rte_pktmbuf_prefree_seg(mbuf); unused != nullptr) {
      __tsan_release(unused->pool);
      rte_mbuf_raw_free(unused);
    }
    mbuf = next;
  }
}
inline void FreeBuffers(rte_mbuf** mbufs, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) FreeBuffer(mbufs[i]);
}

#else

inline void HandOver(rte_mbuf* const*, uint32_t) {}
inline void TakeOver(rte_mbuf* const*, uint32_t) {}
// False: nothing was taken.
inline bool AllocBuffers(rte_mempool* pool, rte_mbuf** mbufs, uint32_t n) {
  return rte_pktmbuf_alloc_bulk(pool, mbufs, n) == 0;
}
// `mbuf` with all of its segments; nullptr: nothing.
inline void FreeBuffer(rte_mbuf* mbuf) { rte_pktmbuf_free(mbuf); }
inline void FreeBuffers(rte_mbuf** mbufs, uint32_t n) { rte_pktmbuf_free_bulk(mbufs, n); }

#endif

// nullptr: none is free.
inline rte_mbuf* AllocBuffer(rte_mempool* pool) {
  rte_mbuf* mbuf = nullptr;
  return AllocBuffers(pool, &mbuf, 1) ? mbuf : nullptr;
}

}  // namespace weir
