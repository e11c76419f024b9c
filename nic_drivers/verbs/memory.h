// Memory from which payload leaves without a copy.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace weir {

// Registered and unregistered by the control thread, searched by the threads that poll. Each queue
// counts its own references.
class RegisteredMemory {
 public:
  static constexpr uint32_t kMax = 64;
  static constexpr uint32_t kNone = kMax;

  RegisteredMemory(ibv_pd* domain, uint32_t queues);
  ~RegisteredMemory();
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;

  absl::Status Add(std::byte* base, size_t size);
  // kUnavailable while frames on their way refer to it; no further ones will.
  absl::Status Remove(std::byte* base);

  // On the thread of `queue`: the region that holds all `size` bytes at `payload`, with a reference
  // to it and its key; kNone: no region does.
  uint32_t Take(uint32_t queue, const std::byte* payload, uint32_t size, uint32_t& key);
  void Give(uint32_t queue, uint32_t region);

 private:
  struct Region {
    std::atomic<const std::byte*> base{nullptr};  // nullptr: not for new frames
    std::atomic<size_t> size{0};
    std::atomic<uint32_t> key{0};
    std::byte* owner = nullptr;  // base, until it was removed
    ibv_mr* registration = nullptr;
    std::vector<std::atomic<uint32_t>> references;  // a queue
  };

  ibv_pd* domain_;
  std::array<Region, kMax> regions_;
  std::atomic<uint32_t> used_{0};  // regions from here on were never in use
};

}  // namespace weir
