#include "datapath/large_memory.h"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace weir {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

std::align_val_t AlignmentOf(size_t bytes) {
  return std::align_val_t{bytes >= kHugePage ? kHugePage : 64};
}

}  // namespace

void* AllocateLarge(size_t bytes) {
  void* memory = ::operator new(bytes, AlignmentOf(bytes));
#if defined(__linux__)
  // A wish: without it everything works, more slowly.
  if (bytes >= kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void FreeLarge(void* memory, size_t bytes) { ::operator delete(memory, AlignmentOf(bytes)); }

}  // namespace weir
