// Memory from which payload leaves without a copy.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"

namespace weir {

// Registered and unregistered by the control thread, searched by the threads that poll. Each queue
// counts its own references: DPDK's counters stand one thread that adds, and any that release.
class Regions {
 public:
  static constexpr uint32_t kMax = 64;

  explicit Regions(uint32_t queues);
  ~Regions();
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  // `iova`: where a device that reads memory by itself finds `base`.
  absl::Status Add(const std::byte* base, size_t size, uint64_t iova);
  // kUnavailable while buffers refer to it; no further ones will.
  absl::Status Remove(const std::byte* base);

  // On the thread of `queue`: makes `mbuf`, of a pool without room, hold the `size` bytes at
  // `payload`; false if they are not in one region. nullptr: `size` zeros.
  bool Attach(uint32_t queue, const std::byte* payload, uint32_t size, rte_mbuf& mbuf);

 private:
  using Info = rte_mbuf_ext_shared_info;
  struct Region {
    std::atomic<const std::byte*> base{nullptr};  // nullptr: not for new buffers
    std::atomic<size_t> size{0};
    std::atomic<uint64_t> iova{0};
    const std::byte* owner = nullptr;  // base, until all references are gone
    std::vector<Info> infos;           // a queue; one reference is the region's own
  };
  struct Retired;
  bool AttachTo(Region& region, uint32_t queue, const std::byte* payload, uint32_t size,
                rte_mbuf& mbuf);
  static bool InUse(const Region& region);

  // On the heap: it outlives this object while buffers refer to it.
  std::unique_ptr<std::array<Region, kMax>> regions_;
  std::atomic<uint32_t> used_{1};  // regions from here on were never in use; 0 is the zeros
};

}  // namespace weir
