// GOAL schedules of LogGOPSim and ATLAHS, as text.
#include <map>

#include "absl/strings/str_format.h"
#include "testbed/traffic/import/parts.h"

namespace weir {
namespace {

constexpr uint32_t kNone = 0xFFFF'FFFF;

// num_ranks N, then: rank R { LABEL: calc NS | send BYTESb to R [tag T] | recv BYTESb from R [tag
// T]
//   [cpu C] [nic N];  LABEL requires LABEL;  LABEL irequires LABEL }
class GoalReader {
 public:
  explicit GoalReader(const NamedText& file) : file_(file) {}

  absl::StatusOr<Workload> Read() {
    workload_.name = file_.name;
    const std::vector<std::string> lines = LinesOf(file_.text);
    for (size_t i = 0; i < lines.size(); ++i) {
      const size_t comment = lines[i].find("//");
      std::vector<std::string> words = SplitWords(lines[i].substr(0, comment), " \t;");
      if (words.empty()) continue;
      if (absl::Status bad = ReadLine(words, i + 1); !bad.ok()) return bad;
    }
    if (workload_.ranks < 2) return BadFile(file_.name, "lacks num_ranks of at least 2");
    if (rank_ != kNone) return BadFile(file_.name, "ends within a rank: a } is missing");
    for (const auto& [op, before] : starts_) {
      for (const uint32_t other : workload_.ops[before].after) {
        workload_.ops[op].after.push_back(other);
      }
    }
    if (absl::Status bad = CheckNoCycle(workload_); !bad.ok()) return bad;
    return std::move(workload_);
  }

 private:
  absl::Status Bad(const std::string& what) const { return ErrorAt(file_.name, line_, what); }

  absl::Status ReadLine(std::vector<std::string>& words, size_t line) {
    line_ = line;
    if (words[0] == "num_ranks") {
      const auto ranks = words.size() == 2 ? WholeNumber(words[1], 2, kRanksMax) : std::nullopt;
      if (!ranks.has_value()) return Bad("write num_ranks and a number of at least 2");
      workload_.ranks = static_cast<uint32_t>(*ranks);
      return absl::OkStatus();
    }
    if (words[0] == "rank") {
      const auto rank = words.size() >= 2 && workload_.ranks > 0
                            ? WholeNumber(words[1], 0, workload_.ranks - 1)
                            : std::nullopt;
      if (!rank.has_value() || words.size() < 3 || words[2] != "{" || rank_ != kNone) {
        return Bad("write rank NUMBER {, below num_ranks, outside of another rank");
      }
      rank_ = static_cast<uint32_t>(*rank);
      labels_.clear();
      words.erase(words.begin(), words.begin() + 3);
      return words.empty() ? absl::OkStatus() : ReadLine(words, line);
    }
    if (rank_ == kNone) return Bad("\"" + words[0] + "\" is outside of a rank");
    const bool ends = words.back() == "}";
    if (ends) words.pop_back();
    if (!words.empty()) {
      if (absl::Status bad = ReadOp(words); !bad.ok()) return bad;
    }
    if (ends) rank_ = kNone;
    return absl::OkStatus();
  }

  absl::Status ReadOp(const std::vector<std::string>& words) {
    if (words.size() == 3 && (words[1] == "requires" || words[1] == "irequires")) {
      const auto op = labels_.find(words[0]);
      const auto before = labels_.find(words[2]);
      if (op == labels_.end() || before == labels_.end()) {
        return Bad("names a label that this rank does not have above");
      }
      if (words[1] == "requires") {
        workload_.ops[op->second].after.push_back(before->second);
      } else {
        starts_.emplace_back(op->second, before->second);
      }
      return absl::OkStatus();
    }
    if (words[0].size() < 2 || words[0].back() != ':' || words.size() < 3) {
      return Bad("write LABEL: calc, send or recv, or LABEL requires LABEL");
    }
    WorkOp op{.rank = rank_, .after = {}};
    const auto amount = WholeNumber(words[1] == "calc" || words[2].back() != 'b'
                                        ? words[2]
                                        : words[2].substr(0, words[2].size() - 1),
                                    0, kSizeMax);
    if (!amount.has_value()) return Bad("\"" + words[2] + "\" is no amount");
    if (words[1] == "calc") {
      op.kind = WorkOp::Kind::kCompute;
      op.length = Duration(*amount);
    } else if (words[1] == "send" || words[1] == "recv") {
      op.kind = words[1] == "send" ? WorkOp::Kind::kSend : WorkOp::Kind::kRecv;
      op.size = Bytes(std::max<int64_t>(1, *amount));
      const std::string side = words[1] == "send" ? "to" : "from";
      const auto peer = words.size() >= 5 && words[3] == side
                            ? WholeNumber(words[4], 0, workload_.ranks - 1)
                            : std::nullopt;
      if (!peer.has_value() || *peer == rank_) {
        return Bad("write " + side + " and another rank below num_ranks");
      }
      op.peer = static_cast<uint32_t>(*peer);
      for (size_t i = 5; i + 1 < words.size(); i += 2) {
        const auto value = WholeNumber(words[i + 1], 0, 0xFFFF'FFFE);
        if (!value.has_value()) return Bad("\"" + words[i + 1] + "\" is no number");
        if (words[i] == "tag") op.tag = static_cast<uint32_t>(*value);
      }
    } else {
      return Bad("\"" + words[1] + "\" is none of calc, send and recv");
    }
    labels_[words[0].substr(0, words[0].size() - 1)] = static_cast<uint32_t>(workload_.ops.size());
    workload_.ops.push_back(std::move(op));
    return absl::OkStatus();
  }

  const NamedText& file_;
  Workload workload_;
  uint32_t rank_ = kNone;
  size_t line_ = 0;
  std::map<std::string, uint32_t> labels_;             // of this rank
  std::vector<std::pair<uint32_t, uint32_t>> starts_;  // irequires
};

}  // namespace

absl::StatusOr<Workload> ImportGoal(const std::vector<NamedText>& files, const ImportOptions&) {
  if (files.size() != 1) return BadFile(files[1].name, "a GOAL schedule is one file");
  return GoalReader(files[0]).Read();
}

}  // namespace weir
