#include "testbed/text_lines.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace weir {

std::vector<TextLine> SplitLines(const std::string& text) {
  std::vector<TextLine> lines;
  int number = 0;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    ++number;
    std::vector<std::string> words =
        absl::StrSplit(line.substr(0, line.find('#')), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (!words.empty()) lines.push_back({.number = number, .words = std::move(words)});
  }
  return lines;
}

absl::Status ErrorAt(const std::string& file, size_t line, const std::string& message) {
  return absl::InvalidArgumentError(absl::StrCat(file, ":", line, ": ", message));
}

bool ParseDigits(const std::string& word, uint64_t max, uint64_t* value) {
  if (word.find_first_not_of("0123456789") != std::string::npos) return false;
  uint64_t parsed = 0;
  if (!absl::SimpleAtoi(word, &parsed) || parsed > max) return false;
  *value = parsed;
  return true;
}

}  // namespace weir
