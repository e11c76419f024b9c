// Line-oriented text files: words by line, and errors that point at one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace weir {

struct TextLine {
  int number = 0;                  // from 1
  std::vector<std::string> words;  // never empty
};

// Splits at blanks, tabs and line ends of either kind. Drops what follows a '#', then empty lines.
std::vector<TextLine> SplitLines(const std::string& text);

// "file:line: message". The message says what was found and the remedy.
absl::Status ErrorAt(const std::string& file, size_t line, const std::string& message);

// Decimal digits only, no sign, at most `max`. False leaves `value` alone.
bool ParseDigits(const std::string& word, uint64_t max, uint64_t* value);

}  // namespace weir
