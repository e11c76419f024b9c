// What DPDK says while it works for us, kept instead of printed: an error's reason is in it.
#pragma once

#include <string>

namespace weir {

// From here on DPDK's log is kept, the newest 16 KiB of it.
void KeepEalLog();
std::string TakeEalLog();

}  // namespace weir
