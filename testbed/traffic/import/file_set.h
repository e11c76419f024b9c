// The files behind a path: plain, compressed, in an archive, in a folder, or matching a pattern.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weir {

struct NamedText {
  std::string name;  // without folders
  std::string text;  // decompressed
};

// The files themselves: of a folder, or matching a pattern; none if there are none.
std::vector<std::string> FilesBehind(const std::string& path);

// In order of the numbers in their names, then of the names. Refuses more than 1 GiB in all.
absl::StatusOr<std::vector<NamedText>> ReadFileSet(const std::string& path);

// Lines without their end; "\r\n" is an end, too.
std::vector<std::string> LinesOf(const std::string& text);
// Words between any of `separators`; with `keep_empty` two separators have an empty word between.
std::vector<std::string> SplitWords(const std::string& line, const char* separators,
                                    bool keep_empty = false);

}  // namespace weir
