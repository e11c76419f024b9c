#include "tests/fuzz/wire_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::FuzzWire({data, size});
  return 0;
}
