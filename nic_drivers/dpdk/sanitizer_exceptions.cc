// What the sanitizers report of DPDK and what it stands on, and cannot be mended from here. Every
// program that links the driver has this file; without a sanitizer nobody calls it.

extern "C" {

const char* __lsan_default_suppressions();
const char* __tsan_default_suppressions();

// libxdp keeps 80 bytes of each umem that net_af_xdp gives back.
const char* __lsan_default_suppressions() { return "leak:xsk_umem__create\n"; }

// DPDK's rings order by barriers that the sanitizer does not know, and its heap wipes what it gets
// back; buffers that pass through them are announced in buffers.h.
const char* __tsan_default_suppressions() {
  return "race:__rte_ring_\ncalled_from_lib:librte_eal.so\n";
}
}
