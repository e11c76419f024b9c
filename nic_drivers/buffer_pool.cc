#include "nic_drivers/buffer_pool.h"

#include <sys/mman.h>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

constexpr uint32_t kLine = 64;

}  // namespace

absl::StatusOr<BufferPool> BufferPool::Create(uint32_t count, uint32_t room) {
  BufferPool pool;
  pool.count_ = count;
  pool.stride_ = (room + kLine - 1) / kLine * kLine;
  void* memory =
      mmap(nullptr, pool.bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("no memory for %d buffers of %d bytes", count, pool.stride_));
  }
  pool.base_ = static_cast<std::byte*>(memory);
  pool.free_.reserve(count);
  for (uint32_t i = count; i > 0; --i) pool.free_.push_back(i - 1);
  return pool;
}

BufferPool::~BufferPool() {
  if (base_ != nullptr) munmap(base_, bytes());
}

BufferPool& BufferPool::operator=(BufferPool&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(count_, other.count_);
  std::swap(stride_, other.stride_);
  std::swap(free_, other.free_);
  return *this;
}

}  // namespace weir
