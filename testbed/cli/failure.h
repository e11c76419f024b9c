// How a sub-command says that it failed.
#pragma once

#include "absl/status/status.h"

namespace weir {

// "weir run: <message>" on standard error, for `command` "run". Returns `code`.
int Fail(const char* command, const absl::Status& status, int code);

}  // namespace weir
