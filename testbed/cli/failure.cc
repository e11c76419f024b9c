#include "testbed/cli/failure.h"

#include <cstdio>
#include <string>

namespace weir {

int Fail(const char* command, const absl::Status& status, int code) {
  std::fprintf(stderr, "weir %s: %s\n", command, std::string(status.message()).c_str());
  return code;
}

}  // namespace weir
