// What an examination of this host found.
#pragma once

#include <string>

namespace weir {

enum class Verdict { kOk, kWarn, kFail };

struct Finding {
  Verdict verdict = Verdict::kOk;
  std::string text;    // what is so
  std::string remedy;  // what to do about it; empty if nothing is to be done
};

}  // namespace weir
