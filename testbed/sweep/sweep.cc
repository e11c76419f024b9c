#include "testbed/sweep/sweep.h"

#include <algorithm>
#include <sstream>

#include "absl/strings/str_format.h"
#include "testbed/experiment/load_parts.h"

namespace weir {
namespace {

constexpr uint64_t kPointsMax = 100'000;

// As one line that --set understands.
std::string ValueText(const toml::node& node) {
  std::ostringstream text;
  node.visit([&text](const auto& value) {
    using Node = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Node, toml::table>) {
      toml::table line = value;
      line.is_inline(true);
      text << line;
    } else {
      text << value;
    }
  });
  std::string out = text.str();
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

struct Found {
  toml::source_position at{};
  Factor factor{};
  const toml::node* node = nullptr;
};

// Every array below `table`; `traffic.size = [...]` is a table of its own to TOML.
void Collect(const toml::table& table, const std::string& prefix, std::vector<Found>& out) {
  for (const auto& [key, node] : table) {
    const std::string path = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      Collect(*inner, path + ".", out);
      continue;
    }
    Found found{.at = node.source().begin, .factor = {.key = path}, .node = &node};
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& value : *array) found.factor.values.push_back(ValueText(value));
    }
    out.push_back(std::move(found));
  }
}

}  // namespace

std::vector<std::string> ValuesAt(const std::vector<Factor>& factors, uint32_t point) {
  std::vector<std::string> values(factors.size());
  for (size_t i = factors.size(); i-- > 0;) {
    const auto count = static_cast<uint32_t>(factors[i].values.size());
    values[i] = factors[i].values[point % count];
    point /= count;
  }
  return values;
}

std::string PointText(const std::vector<Factor>& factors, uint32_t point) {
  if (factors.empty()) return "the only point";
  const std::vector<std::string> values = ValuesAt(factors, point);
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    out += absl::StrFormat("%s%s = %s", i == 0 ? "" : ", ", factors[i].key, values[i]);
  }
  return out;
}

absl::Status Sweep::ReadFactors(const toml::table& table,
                                const std::vector<std::string>& overrides) {
  std::vector<Found> found;
  Collect(table, "", found);
  std::ranges::stable_sort(found, [](const Found& a, const Found& b) { return a.at < b.at; });
  uint64_t points = 1;
  for (Found& f : found) {
    const auto fail = [&](const std::string& message) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s:%d: [sweep] %s: %s", file_, f.at.line, f.factor.key, message));
    };
    if (f.factor.values.empty()) return fail("must be a list of values, as in [\"64kB\", \"1MB\"]");
    if (f.factor.key == "run.seeds") return fail("seeds are no factor; set [run] seeds");
    for (const std::string& set : overrides) {
      if (set.compare(0, f.factor.key.size() + 1, f.factor.key + "=") == 0) {
        return fail("is set with --set, too; drop one");
      }
    }
    points *= f.factor.values.size();
    if (points > kPointsMax) {
      return fail(absl::StrFormat("makes more than %d points; split the sweep", kPointsMax));
    }
    factors_.push_back(std::move(f.factor));
  }
  points_ = static_cast<uint32_t>(points);
  return absl::OkStatus();
}

absl::StatusOr<Sweep> Sweep::Open(const std::string& path,
                                  const std::vector<std::string>& overrides) {
  Sweep sweep;
  sweep.file_ = path;
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<toml::table> table = ParseToml(*text, path);
  if (!table.ok()) return table.status();
  for (const std::string& set : overrides) {
    if (absl::Status s = ApplyOverride(*table, set); !s.ok()) return s;
  }
  if (const toml::node* node = table->get("sweep"); node != nullptr) {
    if (!node->is_table()) return absl::InvalidArgumentError(path + ": write [sweep]");
    if (absl::Status s = sweep.ReadFactors(*node->as_table(), overrides); !s.ok()) return s;
    table->erase("sweep");
  }
  sweep.base_ = *std::move(table);
  return sweep;
}

absl::StatusOr<Sweep> Sweep::Load(const std::string& path,
                                  const std::vector<std::string>& overrides) {
  absl::StatusOr<Sweep> sweep = Open(path, overrides);
  if (!sweep.ok()) return sweep;
  if (absl::Status s = sweep->PlanRuns(); !s.ok()) return s;
  return sweep;
}

absl::StatusOr<Experiment> Sweep::ExperimentAt(uint32_t point) const {
  toml::table table = base_;
  const std::vector<std::string> values = ValuesAt(point);
  for (size_t i = 0; i < values.size(); ++i) {
    const absl::Status s = ApplyOverride(table, factors_[i].key + "=" + values[i]);
    if (!s.ok()) return s;
  }
  return ExperimentFrom(table, file_);
}

absl::Status Sweep::PlanRuns() {
  for (uint32_t point = 0; point < points_; ++point) {
    const absl::StatusOr<Experiment> experiment = ExperimentAt(point);
    if (!experiment.ok()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s (at %s)", std::string(experiment.status().message()), PointText(factors_, point)));
    }
    name_ = experiment->name;
    home_ = experiment->home;
    for (const uint64_t seed : experiment->seeds) {
      for (uint32_t arm = 0; arm < experiment->arms.size(); ++arm) {
        runs_.push_back({RunId(*experiment, arm, seed), point, arm, seed});
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace weir
