// Is this host fit for DPDK devices? Nothing is opened and nothing changed.
#pragma once

#include <string>
#include <vector>

namespace weir {

enum class Verdict { kOk, kWarn, kFail };

struct Finding {
  Verdict verdict = Verdict::kOk;
  std::string text;    // what is so
  std::string remedy;  // what to do about it; empty if nothing is to be done
};

// `device` as for OpenDevice; empty: the host alone. What only slows things down is a warning, what
// keeps the device from being opened is a failure.
std::vector<Finding> ExamineHost(const std::string& device);

}  // namespace weir
