#include "testbed/sweep/merge.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_format.h"
#include "testbed/experiment/load_parts.h"
#include "testbed/experiment/read_result.h"
#include "testbed/experiment/report.h"
#include "testbed/sweep/store.h"

namespace weir {
namespace {

using Json = nlohmann::json;

// "64kB" for "\"64kB\"".
std::string Unquoted(const std::string& text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// Arms and seeds of one point, in the order of the plan.
struct Point {
  std::vector<std::string> arms;
  std::vector<uint64_t> seeds;
  std::vector<RunResult> runs;
};

template <class T>
void AddOnce(std::vector<T>& all, const T& one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

AbResult CompareAt(const Point& point) {
  if (point.arms.size() < 2 || point.runs.size() != point.arms.size() * point.seeds.size()) {
    return {.baseline = point.arms.empty() ? "" : point.arms.front(), .seeds = point.seeds};
  }
  return Differences(point.arms, point.seeds, point.runs);
}

}  // namespace

absl::StatusOr<SweepFolders> SweepFolders::Open(const std::vector<std::string>& folders) {
  SweepFolders out;
  std::string plan;
  for (const std::string& folder : folders) {
    const absl::StatusOr<std::string> text = ReadFile(SweepStore(folder).PlanPath());
    if (!text.ok()) {
      return absl::NotFoundError(folder + " has no plan.json; name the --out of a `weir sweep`");
    }
    if (!plan.empty() && *text != plan) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s and %s are of different sweeps, or of different versions of the program; merge each "
          "alone",
          folders.front(), folder));
    }
    plan = *text;
  }
  const Json json = Json::parse(plan, nullptr, false);
  if (absl::Status s = out.ReadPlan(json); !s.ok()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %s", SweepStore(folders.front()).PlanPath(), s.message()));
  }
  for (const PlannedRun& run : out.runs_) {
    std::string found;
    for (const std::string& folder : folders) {
      const SweepStore store(folder);
      if (found.empty() && store.Has(run.id)) found = store.RunPath(run.id);
    }
    out.missing_ += found.empty() ? 1 : 0;
    out.paths_.push_back(found);
  }
  return out;
}

absl::Status SweepFolders::ReadPlan(const Json& plan) {
  try {
    plan.at("version").get_to(version_);
    plan.at("revision").get_to(revision_);
    plan.at("name").get_to(name_);
    plan.at("points").get_to(points_);
    for (const Json& f : plan.at("factors")) {
      Factor& factor = factors_.emplace_back(Factor{.key = f.at("key"), .values = f.at("values")});
      std::ranges::transform(factor.values, factor.values.begin(), Unquoted);
    }
    for (const Json& r : plan.at("runs")) {
      runs_.push_back({r.at("id"), r.at("point"), r.at("seed")});
    }
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrFormat("is no plan of a sweep (%s); run `weir sweep` again", error.what()));
  }
  uint64_t points = 1;
  for (const Factor& f : factors_) points *= f.values.size();
  const auto beyond = [this](const PlannedRun& r) { return r.point >= points_; };
  if (points != points_ || std::ranges::any_of(runs_, beyond)) {
    return absl::InvalidArgumentError(
        "does not fit together: points, factors and runs differ; run `weir sweep` again");
  }
  return absl::OkStatus();
}

std::vector<std::string> SweepFolders::keys() const {
  std::vector<std::string> keys;
  for (const Factor& f : factors_) keys.push_back(f.key);
  return keys;
}

absl::Status SweepFolders::ForEachRun(const OnRun& on_run) const {
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (paths_[i].empty()) continue;
    absl::StatusOr<std::string> text = ReadFile(paths_[i]);
    if (!text.ok()) return text.status();
    while (!text->empty() && text->back() == '\n') text->pop_back();
    const Json json = Json::parse(*text, nullptr, false);
    const absl::StatusOr<RunResult> run = ReadRun(json);
    if (!run.ok()) {
      return absl::InvalidArgumentError(absl::StrFormat("%s %s; remove it and run the sweep again",
                                                        paths_[i],
                                                        std::string(run.status().message())));
    }
    if (absl::Status s = on_run(runs_[i].point, *run, *text); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<AbResult>> SweepFolders::Compare() const {
  std::vector<AbResult> comparisons(points_);
  Point point;
  uint32_t at = 0;
  const auto close = [&] {
    comparisons[at] = CompareAt(point);
    point = {};
  };
  const absl::Status read =
      ForEachRun([&](uint32_t next, const RunResult& run, const std::string&) {
        if (next != at) close();
        at = next;
        AddOnce(point.arms, run.arm);
        AddOnce(point.seeds, run.seed);
        point.runs.push_back(run);
        return absl::OkStatus();
      });
  if (!read.ok()) return read;
  if (points_ > 0) close();
  std::vector<AbResult*> all;
  for (AbResult& ab : comparisons) all.push_back(&ab);
  Judge(all, kAlpha);
  return comparisons;
}

Json SweepFolders::HeadJson(const std::vector<AbResult>& comparisons) const {
  Json factors = Json::array();
  for (const Factor& f : factors_) factors.push_back({{"key", f.key}, {"values", f.values}});
  Json points = Json::array();
  for (uint32_t p = 0; p < points_; ++p) {
    Json values = Json::object();
    const std::vector<std::string> here = ValuesAt(p);
    for (size_t i = 0; i < here.size(); ++i) values[factors_[i].key] = here[i];
    points.push_back({{"values", values}, {"ab", ToJson(comparisons[p])}});
  }
  return {{"schema", "weir.sweep/1"},
          {"fingerprint", {{"version", version_}, {"revision", revision_}}},
          {"name", name_},
          {"missing", missing_},
          {"factors", factors},
          {"points", points}};
}

absl::Status SweepFolders::Write(const std::string& path,
                                 const std::vector<AbResult>& comparisons) const {
  std::ofstream out(path, std::ios::binary);
  std::string head = HeadJson(comparisons).dump();
  head.pop_back();  // its closing brace: the runs follow, a line each
  out << head << ",\"runs\":[";
  const char* separator = "\n";
  const absl::Status read = ForEachRun([&](uint32_t, const RunResult&, const std::string& text) {
    out << separator << text;
    separator = ",\n";
    return absl::OkStatus();
  });
  if (!read.ok()) return read;
  out << "\n]}\n";
  out.close();
  if (out) return absl::OkStatus();
  return absl::UnavailableError(path + " can't be written; check the folder and the rights");
}

}  // namespace weir
