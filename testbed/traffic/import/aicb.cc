// AICB workloads (github.com/aliyun/aicb): one line a collective, the same for every rank.
#include <map>
#include <numeric>

#include "absl/strings/str_format.h"
#include "testbed/traffic/import/parts.h"
#include "testbed/traffic/import/rank_groups.h"

namespace weir {
namespace {

// "CommType.all_reduce" and "all_reduce" are the same.
std::string Bare(const std::string& name) { return name.substr(name.rfind('.') + 1); }

class AicbReader {
 public:
  AicbReader(const NamedText& file, const ImportOptions& options)
      : file_(file), options_(options) {}

  absl::StatusOr<Workload> Read() {
    const std::vector<std::string> lines = LinesOf(file_.text);
    size_t at = 0;
    uint32_t ranks = options_.ranks;
    for (; at < lines.size() && lines[at].rfind("comm_type", 0) != 0; ++at) {
      const std::vector<std::string> words = SplitWords(lines[at], "[ ]~");
      if (ranks > 0 || words.size() != 2 || words[1].rfind("rank", 0) != 0) continue;
      const auto last = WholeNumber(words[1].substr(4), 1, kRanksMax - 1);
      if (last.has_value()) ranks = static_cast<uint32_t>(*last + 1);
    }
    if (at == lines.size()) return BadFile(file_.name, "has no header line comm_type,...");
    if (ranks < 2) {
      return BadFile(file_.name, "does not say how many ranks there are; set `ranks`");
    }
    const std::vector<std::string> header = SplitWords(lines[at], ",", true);
    for (size_t i = 0; i < header.size(); ++i) columns_[header[i]] = i;
    groups_.emplace(ranks, file_.name);
    for (size_t i = at + 1; i < lines.size(); ++i) {
      if (lines[i].empty()) continue;
      if (absl::Status bad = ReadRow(SplitWords(lines[i], ",", true), i + 1); !bad.ok()) return bad;
    }
    Workload workload = groups_->writer().Take();
    if (workload.calls.empty()) return BadFile(file_.name, "there is no collective in it");
    workload.unused = unused_.Lines();
    return workload;
  }

 private:
  std::string Cell(const std::vector<std::string>& row, const char* column) const {
    const auto found = columns_.find(column);
    return found != columns_.end() && found->second < row.size() ? row[found->second] : "";
  }

  absl::Status ReadRow(const std::vector<std::string>& row, size_t line) {
    const std::string type = Bare(Cell(row, "comm_type"));
    if (type == "epoch_end") {
      groups_->EndStep();
      return absl::OkStatus();
    }
    const std::optional<CollectiveKind> kind = CollectiveNamed(type);
    if (!kind.has_value()) {
      unused_.Add("\"" + type + "\"");
      return absl::OkStatus();
    }
    const auto size = WholeNumber(Cell(row, "msg_size"), 0, kSizeMax);
    if (!size.has_value() && *kind != CollectiveKind::kBarrier) {
      return ErrorAt(file_.name, line, "msg_size is no number of bytes");
    }
    if (size == 0 && *kind != CollectiveKind::kBarrier) {
      unused_.Add("collective of 0 bytes");
      return absl::OkStatus();
    }
    const auto members = WholeNumber(Cell(row, "comm_group_size"), 1, kRanksMax);
    if (!members.has_value()) return ErrorAt(file_.name, line, "comm_group_size is no number");
    const std::string group = Bare(Cell(row, "comm_group"));
    if (*members < 2) {
      unused_.Add("collective of one rank");
      return absl::OkStatus();
    }
    const bool strided = group.find("dp") != std::string::npos;
    const absl::Status added =
        groups_->Call({.kind = *kind, .size = Bytes(size.value_or(1)), .matrix = {}, .name = {}},
                      static_cast<uint32_t>(*members), strided);
    return added.ok() ? added : ErrorAt(file_.name, line, std::string(added.message()));
  }

  const NamedText& file_;
  const ImportOptions& options_;
  std::map<std::string, size_t> columns_;
  std::optional<RankGroups> groups_;
  Unused unused_;
};

}  // namespace

absl::StatusOr<Workload> ImportAicb(const std::vector<NamedText>& files,
                                    const ImportOptions& options) {
  if (files.size() != 1) return BadFile(files[1].name, "an AICB workload is one file");
  return AicbReader(files[0], options).Read();
}

}  // namespace weir
