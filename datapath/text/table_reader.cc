#include "datapath/text/table_reader.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "datapath/text/quantity_text.h"

namespace weir {

std::string Nearest(const std::string& word, const std::vector<std::string>& names) {
  std::string best;
  size_t best_distance = word.size() / 2 + 1;
  for (const std::string& name : names) {
    std::vector<size_t> row(name.size() + 1);
    for (size_t j = 0; j <= name.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= name.size(); ++j) {
        const size_t change = diagonal + (word[i - 1] == name[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row[name.size()] < best_distance) {
      best_distance = row[name.size()];
      best = name;
    }
  }
  return best;
}

void TableReader::Fail(const toml::node* node, const std::string& message) {
  if (!status_.ok()) return;
  const auto line = node == nullptr ? table_.source().begin.line : node->source().begin.line;
  status_ = absl::InvalidArgumentError(
      line == 0 ? absl::StrFormat("%s: [%s] %s", file_, name_, message)
                : absl::StrFormat("%s:%d: [%s] %s", file_, line, name_, message));
}

void TableReader::FailKey(const std::string& key, const std::string& message) {
  Fail(table_.get(key), key + ": " + message);
}

const toml::node* TableReader::Node(const std::string& key) {
  known_.push_back(key);
  return table_.get(key);
}

const toml::table* TableReader::Table(const std::string& key) {
  const toml::node* node = Node(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) FailKey(key, "must be a table, as in " + key + " = { a = 1 }");
  return node->as_table();
}

const toml::array* TableReader::Array(const std::string& key) {
  const toml::node* node = Node(key);
  if (node == nullptr) return nullptr;
  if (!node->is_array()) FailKey(key, "must be an array");
  return node->as_array();
}

void TableReader::String(const std::string& key, std::string& out) {
  const toml::node* node = Node(key);
  if (node == nullptr) return;
  if (!node->is_string()) return FailKey(key, "must be a string in quotes");
  out = node->as_string()->get();
}

void TableReader::Bool(const std::string& key, bool& out) {
  const toml::node* node = Node(key);
  if (node == nullptr) return;
  if (!node->is_boolean()) return FailKey(key, "must be true or false");
  out = node->as_boolean()->get();
}

void TableReader::Number(const std::string& key, double min, double max, double& out) {
  const toml::node* node = Node(key);
  if (node == nullptr) return;
  if (!node->is_number()) return FailKey(key, "must be a number without quotes");
  const double value = *node->value<double>();
  if (!(value >= min && value <= max)) {
    return FailKey(key, absl::StrFormat("is %g, allowed is %g to %g", value, min, max));
  }
  out = value;
}

void TableReader::Integer64(const std::string& key, int64_t min, int64_t max, int64_t& out) {
  const toml::node* node = Node(key);
  if (node == nullptr) return;
  if (!node->is_integer()) return FailKey(key, "must be a whole number without quotes");
  const int64_t value = node->as_integer()->get();
  if (value < min || value > max) {
    return FailKey(key, absl::StrFormat("is %d, allowed is %d to %d", value, min, max));
  }
  out = value;
}

std::string TableReader::Quantity(const std::string& key, const std::string& example) {
  const toml::node* node = Node(key);
  if (node == nullptr) return "";
  if (!node->is_string()) {
    FailKey(key, "must be a string with a unit, such as \"" + example + "\"");
    return "";
  }
  return node->as_string()->get();
}

void TableReader::Size(const std::string& key, Bytes& out) {
  const std::string text = Quantity(key, "64KiB");
  if (text.empty()) return;
  const absl::StatusOr<Bytes> value = ParseBytes(text);
  if (!value.ok()) return FailKey(key, std::string(value.status().message()));
  out = *value;
}

void TableReader::Time(const std::string& key, Duration& out) {
  const std::string text = Quantity(key, "10us");
  if (text.empty()) return;
  const absl::StatusOr<Duration> value = ParseDuration(text);
  if (!value.ok()) return FailKey(key, std::string(value.status().message()));
  out = *value;
}

void TableReader::Speed(const std::string& key, Rate& out) {
  const std::string text = Quantity(key, "400Gbps");
  if (text.empty()) return;
  const absl::StatusOr<Rate> value = ParseRate(text);
  if (!value.ok()) return FailKey(key, std::string(value.status().message()));
  if (*value <= Rate(0)) return FailKey(key, "must be above zero");
  out = *value;
}

void TableReader::Choice(const std::string& key, const std::vector<std::string>& names, int& out) {
  std::string text;
  String(key, text);
  if (text.empty()) return;
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    return FailKey(key, "is \"" + text + "\"; choose one of " + absl::StrJoin(names, ", "));
  }
  out = static_cast<int>(found - names.begin());
}

void TableReader::Finish() {
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const std::string near = Nearest(name, known_);
    Fail(&node, near.empty()
                    ? absl::StrFormat("unknown key \"%s\"; known are %s", name,
                                      absl::StrJoin(known_, ", "))
                    : absl::StrFormat("unknown key \"%s\"; did you mean \"%s\"?", name, near));
  }
}

}  // namespace weir
