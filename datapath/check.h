// Programmer errors stop the program: WEIR_CHECK always, WEIR_DCHECK in debug builds.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace weir::internal {
[[noreturn]] inline void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}
}  // namespace weir::internal

#define WEIR_CHECK(condition) \
  ((condition) ? void() : ::weir::internal::CheckFailed(__FILE__, __LINE__, #condition))
#ifdef NDEBUG
#define WEIR_DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#else
#define WEIR_DCHECK(condition) WEIR_CHECK(condition)
#endif
