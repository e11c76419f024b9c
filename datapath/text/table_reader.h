// Reads one table of a TOML file strictly: every key is known, of the right type and in range.
#pragma once

#include <toml++/toml.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "datapath/api/units.h"

namespace weir {

// The first error of a whole file wins; readers share it.
class TableReader {
 public:
  // `name` is the table's in messages: "fabric".
  TableReader(const toml::table& table, std::string name, std::string file, absl::Status& status)
      : table_(table), name_(std::move(name)), file_(std::move(file)), status_(status) {}

  bool Has(const std::string& key) const { return table_.contains(key); }
  // Each leaves `out` alone if the key is absent.
  void String(const std::string& key, std::string& out);
  void Bool(const std::string& key, bool& out);
  void Number(const std::string& key, double min, double max, double& out);
  template <class Int>
  void Integer(const std::string& key, int64_t min, int64_t max, Int& out) {
    int64_t value = static_cast<int64_t>(out);
    Integer64(key, min, max, value);
    out = static_cast<Int>(value);
  }
  void Size(const std::string& key, Bytes& out);
  void Time(const std::string& key, Duration& out);
  void Speed(const std::string& key, Rate& out);
  // The text of a value with a unit; empty after a complaint or if absent.
  std::string Quantity(const std::string& key, const std::string& example);
  // One of `names`; `out` is its index.
  void Choice(const std::string& key, const std::vector<std::string>& names, int& out);
  const toml::table* Table(const std::string& key);
  const toml::array* Array(const std::string& key);
  const toml::node* Node(const std::string& key);

  // Complains of keys that nobody asked for, with the nearest known one.
  void Finish();
  void Fail(const toml::node* node, const std::string& message);
  void FailKey(const std::string& key, const std::string& message);
  const std::string& file() const { return file_; }
  // For the readers of tables within this one.
  absl::Status& status() const { return status_; }

 private:
  void Integer64(const std::string& key, int64_t min, int64_t max, int64_t& out);

  const toml::table& table_;
  std::string name_;
  std::string file_;
  absl::Status& status_;
  std::vector<std::string> known_;
};

// The nearest of `names` by edit distance; empty if none is near.
std::string Nearest(const std::string& word, const std::vector<std::string>& names);

}  // namespace weir
