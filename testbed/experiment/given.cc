#include "testbed/experiment/given.h"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <filesystem>
#include <sstream>

#include "testbed/experiment/load_parts.h"

namespace weir {
namespace {

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
    std::error_code none;
    const std::string at = PathFrom(file_, name);
    if (name.empty() || !std::filesystem::is_regular_file(at, none)) return;
    const absl::StatusOr<std::string> content = ReadFile(at);
    if (content.ok()) given_.push_back({path + "#", ContentHash(*content)});
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
