#include "testbed/traffic/import/file_set.h"

#include <archive.h>
#include <archive_entry.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace weir {
namespace {

constexpr size_t kTotalMax = size_t{1} << 30;

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;

// Adds what one file holds: itself, or the members of an archive.
absl::Status AddFile(const std::string& path, size_t& total, std::vector<NamedText>& out) {
  const Reader reader(archive_read_new(), archive_read_free);
  archive* const a = reader.get();
  const auto broken = [&](const char* what) {
    const char* why = archive_error_string(a);
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %s: %s", path, what, why == nullptr ? "unknown reason" : why));
  };
  archive_read_support_filter_all(a);
  archive_read_support_format_tar(a);
  archive_read_support_format_raw(a);
  archive_read_support_format_empty(a);
  if (archive_read_open_filename(a, path.c_str(), 65536) != ARCHIVE_OK) {
    return broken("can't be read; check the path");
  }
  archive_entry* entry = nullptr;
  int next = ARCHIVE_OK;
  while ((next = archive_read_next_header(a, &entry)) == ARCHIVE_OK || next == ARCHIVE_WARN) {
    if (archive_entry_filetype(entry) == AE_IFDIR) continue;
    const bool raw = archive_format(a) == ARCHIVE_FORMAT_RAW;
    const std::filesystem::path name(raw ? path : archive_entry_pathname(entry));
    NamedText file{.name = name.filename().string(), .text = {}};
    char block[65536];
    la_ssize_t n = 0;
    while ((n = archive_read_data(a, block, sizeof block)) > 0) {
      total += static_cast<size_t>(n);
      if (total > kTotalMax) {
        return absl::InvalidArgumentError(path + ": is longer than 1 GiB; cut it");
      }
      file.text.append(block, static_cast<size_t>(n));
    }
    if (n < 0) return broken("is damaged");
    // What macOS adds to archives.
    if (file.name.rfind("._", 0) != 0) out.push_back(std::move(file));
  }
  if (next != ARCHIVE_EOF) return broken("is damaged");
  return absl::OkStatus();
}

// "rank10.json" comes after "rank2.json".
bool InNaturalOrder(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  const auto digits = [](const std::string& s, size_t at) {
    size_t n = 0;
    while (at + n < s.size() && std::isdigit(static_cast<unsigned char>(s[at + n])) != 0) ++n;
    return n;
  };
  while (i < a.size() && j < b.size()) {
    const size_t n = digits(a, i);
    const size_t m = digits(b, j);
    if (n > 0 && m > 0) {
      if (n != m) return n < m;
      const int order = a.compare(i, n, b, j, m);
      if (order != 0) return order < 0;
      i += n;
      j += m;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

}  // namespace

std::vector<std::string> FilesBehind(const std::string& path) {
  std::vector<std::string> paths;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.is_regular_file()) paths.push_back(entry.path().string());
    }
    return paths;
  }
  glob_t found{};
  if (glob(path.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  }
  globfree(&found);
  return paths;
}

absl::StatusOr<std::vector<NamedText>> ReadFileSet(const std::string& path) {
  const std::vector<std::string> paths = FilesBehind(path);
  if (paths.empty()) {
    return absl::NotFoundError(path + ": no such file, folder or pattern; check the path");
  }
  std::vector<NamedText> files;
  size_t total = 0;
  for (const std::string& p : paths) {
    if (absl::Status bad = AddFile(p, total, files); !bad.ok()) return bad;
  }
  if (files.empty()) return absl::InvalidArgumentError(path + ": there is nothing in it");
  std::sort(files.begin(), files.end(),
            [](const NamedText& a, const NamedText& b) { return InNaturalOrder(a.name, b.name); });
  return files;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

std::vector<std::string> SplitWords(const std::string& line, const char* separators,
                                    bool keep_empty) {
  if (keep_empty) return absl::StrSplit(line, absl::ByAnyChar(separators));
  return absl::StrSplit(line, absl::ByAnyChar(separators), absl::SkipEmpty());
}

}  // namespace weir
