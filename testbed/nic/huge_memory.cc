#include "testbed/nic/huge_memory.h"

#include <sys/mman.h>

#include <cstdint>

#include "datapath/check.h"

namespace weir {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

void* Map(size_t bytes, int flags) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

HugeMemory::HugeMemory(size_t bytes) : size_(bytes) {
  mapped_ = (bytes + kHugePage) / kHugePage * kHugePage;
  mapping_ = Map(mapped_, MAP_HUGETLB);
  data_ = static_cast<std::byte*>(mapping_);
  if (mapping_ != nullptr) return;
  mapped_ += kHugePage;
  mapping_ = Map(mapped_, 0);
  WEIR_CHECK(mapping_ != nullptr);
  const uintptr_t aligned =
      (reinterpret_cast<uintptr_t>(mapping_) + kHugePage - 1) / kHugePage * kHugePage;
  data_ = reinterpret_cast<std::byte*>(aligned);
  (void)madvise(data_, mapped_ - kHugePage, MADV_HUGEPAGE);
}

HugeMemory::~HugeMemory() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

}  // namespace weir
