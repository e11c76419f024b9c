// One program for all kinds of files; WEIR_FUZZ_TARGET names the one to read: goal, kineto, ...
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/import_target.h"

namespace {

const weir::FuzzTarget& Chosen() {
  const char* name = std::getenv("WEIR_FUZZ_TARGET");
  for (const weir::FuzzTarget& target : weir::kImportTargets) {
    if (name != nullptr && std::strcmp(name, target.name) == 0) return target;
  }
  std::fprintf(stderr, "set WEIR_FUZZ_TARGET to one of");
  for (const weir::FuzzTarget& target : weir::kImportTargets) {
    std::fprintf(stderr, " %s", target.name);
  }
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const weir::FuzzTarget& target = Chosen();
  target.run({data, size});
  return 0;
}
