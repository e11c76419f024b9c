#include "testbed/sweep/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "testbed/experiment/fingerprint.h"
#include "testbed/experiment/load_parts.h"
#include "testbed/experiment/report.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

constexpr char kTemporary[] = ".tmp";

absl::Status Failed(const std::string& path, const char* what) {
  return absl::UnavailableError(
      absl::StrFormat("%s can't be %s: %s; check the folder, the rights "
                      "and the room on the disk",
                      path, what, strerror(errno)));
}

bool WriteAll(int fd, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    written += static_cast<size_t>(n);
  }
  return fsync(fd) == 0;
}

}  // namespace

absl::Status WriteAtomically(const std::string& path, const std::string& text) {
  // Processes of other hosts may write beside us.
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  const std::string temporary = absl::StrFormat("%s.%s.%d%s", path, host, getpid(), kTemporary);
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return Failed(temporary, "written");
  const bool whole = WriteAll(fd, text);
  if (close(fd) != 0 || !whole) return Failed(temporary, "written");
  if (rename(temporary.c_str(), path.c_str()) != 0) return Failed(path, "renamed");
  // The name reaches the disk with its folder.
  const std::string parent = fs::path(path).parent_path().string();
  const int folder = open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC);
  if (folder < 0) return Failed(path, "written");
  fsync(folder);  // some file systems refuse, and need none
  close(folder);
  return absl::OkStatus();
}

absl::Status SweepStore::Prepare(const Sweep& sweep, bool alone) {
  std::error_code error;
  for (const char* part : {"/runs", "/costs"}) {
    fs::create_directories(folder_ + part, error);
    if (error) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s%s can't be made: %s; choose another --out", folder_, part, error.message()));
    }
    if (!alone) continue;
    for (const auto& entry : fs::directory_iterator(folder_ + part, error)) {
      if (entry.path().extension() == kTemporary) fs::remove(entry.path(), error);
    }
  }
  return WriteAtomically(PlanPath(), PlanJson(sweep).dump(1) + "\n");
}

absl::StatusOr<std::vector<SweepRun>> SweepStore::ReadPlan() const {
  const absl::StatusOr<std::string> text = ReadFile(PlanPath());
  if (!text.ok()) return text.status();
  std::vector<SweepRun> runs;
  try {
    const nlohmann::json plan = nlohmann::json::parse(*text);
    for (const nlohmann::json& r : plan.at("runs")) {
      runs.push_back({r.at("id"), r.at("point"), r.at("arm"), r.at("seed")});
    }
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s is no plan of a sweep (%s); run `weir sweep` again", PlanPath(), error.what()));
  }
  return runs;
}

bool SweepStore::Has(const std::string& id) const { return fs::exists(RunPath(id)); }

absl::Status SweepStore::Put(const SweepRun& run, const RunResult& result) {
  nlohmann::json cost = ToJson(MakeFingerprint());
  cost["cpu_seconds"] = result.cpu_seconds;
  if (absl::Status s = WriteAtomically(CostPath(run.id), cost.dump() + "\n"); !s.ok()) return s;
  nlohmann::json text = ToJson(result);
  text.erase("cpu_seconds");
  text["id"] = run.id;
  text["point"] = run.point;
  return WriteAtomically(RunPath(run.id), text.dump() + "\n");
}

nlohmann::ordered_json PlanJson(const Sweep& sweep) {
  using Json = nlohmann::ordered_json;
  Json factors = Json::array();
  for (const Factor& f : sweep.factors()) {
    factors.push_back(Json{{"key", f.key}, {"values", f.values}});
  }
  Json runs = Json::array();
  for (const SweepRun& r : sweep.runs()) {
    runs.push_back(Json{{"id", r.id}, {"point", r.point}, {"arm", r.arm}, {"seed", r.seed}});
  }
  return Json{{"schema", "weir.plan/1"},
              {"version", WEIR_VERSION},
              {"revision", Revision()},
              {"name", sweep.name()},
              {"factors", factors},
              {"points", sweep.points()},
              {"runs", runs}};
}

}  // namespace weir
