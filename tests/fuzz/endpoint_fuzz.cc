#include "tests/fuzz/endpoint_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::FuzzEndpoint({data, size});
  return 0;
}
