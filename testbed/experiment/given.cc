#include "testbed/experiment/given.h"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

#include "testbed/experiment/load_parts.h"
#include "testbed/traffic/import/file_set.h"

namespace weir {
namespace {

// Large traces are read once, however many experiments name them.
std::string FileHash(const std::string& path) {
  static std::map<std::string, std::string> known;
  std::error_code none;
  const auto changed = std::filesystem::last_write_time(path, none).time_since_epoch().count();
  std::string& hash = known[path + " " + std::to_string(changed) + " " +
                            std::to_string(std::filesystem::file_size(path, none))];
  if (hash.empty()) {
    const absl::StatusOr<std::string> content = ReadFile(path);
    hash = content.ok() ? ContentHash(*content) : "unreadable";
  }
  return hash;
}

// Of the names and contents of several.
std::string FilesHash(std::vector<std::string> paths) {
  std::ranges::sort(paths);
  std::string all;
  for (const std::string& path : paths) {
    all += std::filesystem::path(path).filename().string() + " " + FileHash(path) + "\n";
  }
  return ContentHash(all);
}

class Flattener {
 public:
  explicit Flattener(const std::string& file) : file_(file) {}

  void Add(const std::string& path, const toml::node& node) {
    const std::string prefix = path.empty() ? "" : path + ".";
    if (const toml::table* table = node.as_table()) {
      for (const auto& [key, value] : *table) Add(prefix + std::string(key.str()), value);
    } else if (const toml::array* array = node.as_array()) {
      for (size_t i = 0; i < array->size(); ++i) Add(prefix + std::to_string(i), (*array)[i]);
    } else {
      std::ostringstream text;
      node.visit([&text](const auto& value) { text << value; });
      given_.push_back({path, text.str()});
      if (const auto* name = node.as_string()) AddContent(path, name->get());
    }
  }
  std::vector<GivenValue> Take() { return std::move(given_); }

 private:
  void AddContent(const std::string& path, const std::string& name) {
    const bool file_key = path == "file" || path.ends_with(".file");
    if (name.empty() || (!file_key && name.find_first_of("./") == std::string::npos)) return;
    const std::string at = PathFrom(file_, name);
    std::error_code none;
    if (std::filesystem::is_regular_file(at, none)) {
      given_.push_back({path + "#", FileHash(at)});
    } else if (file_key) {
      // A folder, or a pattern.
      const std::vector<std::string> files = FilesBehind(at);
      if (!files.empty()) given_.push_back({path + "#", FilesHash(files)});
    }
  }

  const std::string& file_;
  std::vector<GivenValue> given_;
};

}  // namespace

std::vector<GivenValue> FlattenGiven(const toml::table& table, const std::string& file) {
  Flattener flattener(file);
  flattener.Add("", table);
  return flattener.Take();
}

std::string ContentHash(const std::string& text) {
  const boost::uuids::name_generator_sha1 generate(boost::uuids::ns::oid());
  return boost::uuids::to_string(generate(text.data(), text.size()));
}

}  // namespace weir
