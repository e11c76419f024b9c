// Memory on huge pages, fresh from the system.
#pragma once

#include <cstddef>
#include <utility>

namespace weir {

// Devices that are programs themselves, and reach memory through an IOMMU, drop payload that spans
// two pages which lie apart; on one huge page none does.
class HugeMemory {
 public:
  HugeMemory() = default;
  // Reserved huge pages if some are free, else what the system makes huge for the asking. Zeros.
  // Stops the program if there is no memory.
  explicit HugeMemory(size_t bytes);
  ~HugeMemory();
  HugeMemory(HugeMemory&& other) noexcept { swap(other); }
  HugeMemory& operator=(HugeMemory&& other) noexcept {
    swap(other);
    return *this;
  }

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void swap(HugeMemory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_, other.mapped_);
  }

  std::byte* data_ = nullptr;
  size_t size_ = 0;
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
};

}  // namespace weir
