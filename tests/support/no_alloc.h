// Counts heap allocations of this thread, also under the address sanitizer, whose malloc stays
// underneath. Exactly one file of a program defines WEIR_DEFINE_NO_ALLOC before it includes this:
// that file replaces operator new for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace weir {
namespace internal {
inline thread_local int64_t allocations = 0;

inline void* CountedAlloc(size_t size, size_t alignment) {
  ++allocations;
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (memory == nullptr) std::abort();
  return memory;
}
}  // namespace internal

// Allocations since it was built.
class NoAlloc {
 public:
  int64_t count() const { return internal::allocations - before_; }

 private:
  int64_t before_ = internal::allocations;
};

}  // namespace weir

#ifdef WEIR_DEFINE_NO_ALLOC
void* operator new(size_t size) {
  return weir::internal::CountedAlloc(size, alignof(std::max_align_t));
}
void* operator new[](size_t size) {
  return weir::internal::CountedAlloc(size, alignof(std::max_align_t));
}
void* operator new(size_t size, std::align_val_t alignment) {
  return weir::internal::CountedAlloc(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return weir::internal::CountedAlloc(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
#endif  // WEIR_DEFINE_NO_ALLOC
