// Buffers of one size in one piece of memory, of one queue, used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace weir {

class BufferPool {
 public:
  // `count` buffers of at least `room` bytes, each on cache lines of its own. kResourceExhausted.
  static absl::StatusOr<BufferPool> Create(uint32_t count, uint32_t room);
  BufferPool() = default;
  ~BufferPool();
  BufferPool(BufferPool&& other) noexcept { *this = std::move(other); }
  BufferPool& operator=(BufferPool&& other) noexcept;

  // All of it, for registration.
  std::byte* base() const { return base_; }
  size_t bytes() const { return size_t{count_} * stride_; }
  uint32_t count() const { return count_; }
  uint32_t free() const { return static_cast<uint32_t>(free_.size()); }

  std::byte* at(uint32_t index) const { return base_ + size_t{index} * stride_; }
  // Of any address within a buffer.
  uint32_t IndexOf(const std::byte* p) const {
    return static_cast<uint32_t>(static_cast<size_t>(p - base_) / stride_);
  }
  // free() > 0.
  uint32_t Take() {
    const uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void Give(uint32_t index) { free_.push_back(index); }

 private:
  std::byte* base_ = nullptr;
  uint32_t count_ = 0;
  uint32_t stride_ = 0;         // bytes, a multiple of 64
  std::vector<uint32_t> free_;  // indices; the latest is warm
};

}  // namespace weir
