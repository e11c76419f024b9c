// SimAI and ASTRA-sim text workloads: a table of layers, each with compute and a collective for the
// forward pass, the gradients of its input and those of its weights.
#include <map>

#include "absl/strings/str_format.h"
#include "testbed/traffic/import/parts.h"
#include "testbed/traffic/import/rank_groups.h"

namespace weir {
namespace {

constexpr size_t kLayerWords = 12;
constexpr uint64_t kOpsMax = 50'000'000;

struct Phase {
  int64_t ticks = 0;
  std::string comm;
  int64_t bytes = 0;
};
struct Layer {
  size_t line = 0;
  Phase forward, input, weight;
};

class SimaiReader {
 public:
  SimaiReader(const NamedText& file, const ImportOptions& options)
      : file_(file), options_(options) {}

  absl::StatusOr<Workload> Read() {
    lines_ = LinesOf(file_.text);
    if (lines_.size() < 2) return BadFile(file_.name, "is too short: it needs a header and layers");
    if (absl::Status bad = ReadHeader(); !bad.ok()) return bad;
    std::vector<Layer> layers;
    for (size_t i = 2; i < lines_.size(); ++i) {
      const std::vector<std::string> words = SplitWords(lines_[i], " \t");
      if (words.empty()) continue;
      absl::StatusOr<Layer> layer = ReadLayer(words, i + 1);
      if (!layer.ok()) return layer.status();
      layers.push_back(*std::move(layer));
    }
    const auto count = WholeNumber(
        SplitWords(lines_[1] + " ", " \t").empty() ? "" : SplitWords(lines_[1], " \t")[0], 1,
        10'000'000);
    if (!count.has_value() || static_cast<size_t>(*count) != layers.size()) {
      return ErrorAt(
          file_.name, 2,
          absl::StrFormat("says \"%s\" layers and there are %d", lines_[1], layers.size()));
    }
    if (layers.size() * ranks_ * 6ull * options_.micro_batches > kOpsMax) {
      return BadFile(
          file_.name,
          absl::StrFormat("%d layers on %d ranks are too many at once; set `ranks` lower",
                          layers.size(), ranks_));
    }
    return Build(layers);
  }

 private:
  uint32_t Field(const std::vector<std::string>& words, const std::string& name,
                 uint32_t otherwise) const {
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] != name) continue;
      const auto value = WholeNumber(words[i + 1], 1, kRanksMax);
      if (value.has_value()) return static_cast<uint32_t>(*value);
    }
    return otherwise;
  }

  absl::Status ReadHeader() {
    const std::vector<std::string> words = SplitWords(lines_[0], " \t");
    if (words.empty()) return ErrorAt(file_.name, 1, "names no parallelism, as in MICRO");
    tensor_ = Field(words, "model_parallel_NPU_group:", 1);
    expert_ = Field(words, "ep:", 1);
    const uint32_t pipeline = Field(words, "pp:", 1);
    if (pipeline > 1)
      unused_.Add("transfers between pipeline stages: the table has no layers for them");
    ranks_ = options_.ranks > 0 ? options_.ranks : Field(words, "all_gpus:", 0);
    if (ranks_ == 0) {
      return ErrorAt(file_.name, 1, "does not say how many ranks there are; set `ranks`");
    }
    // One stage's ranks run the table; with fewer ranks than the file's, data parallelism shrinks.
    if (options_.ranks == 0) ranks_ /= pipeline;
    tensor_ = std::min(tensor_, ranks_);
    expert_ = std::min(expert_, ranks_);
    if (ranks_ < 2 || ranks_ % tensor_ != 0 || ranks_ % expert_ != 0) {
      return ErrorAt(file_.name, 1,
                     absl::StrFormat("%d ranks do not divide into tensor groups of %d and expert "
                                     "groups of %d; set `ranks`",
                                     ranks_, tensor_, expert_));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Layer> ReadLayer(const std::vector<std::string>& words, size_t line) const {
    if (words.size() < kLayerWords) {
      return ErrorAt(file_.name, line,
                     absl::StrFormat("has %d words; a layer has %d", words.size(), kLayerWords));
    }
    Layer layer{.line = line, .forward = {}, .input = {}, .weight = {}};
    size_t at = 2;
    for (Phase* phase : {&layer.forward, &layer.input, &layer.weight}) {
      const auto ticks = WholeNumber(words[at], 0, kSizeMax);
      const auto bytes = WholeNumber(words[at + 2], 0, kSizeMax);
      if (!ticks.has_value() || !bytes.has_value()) {
        return ErrorAt(file_.name, line,
                       absl::StrFormat("\"%s %s %s\" is no compute, collective "
                                       "and size",
                                       words[at], words[at + 1], words[at + 2]));
      }
      *phase = {*ticks, words[at + 1], *bytes};
      at += 3;
    }
    return layer;
  }

  absl::StatusOr<Workload> Build(const std::vector<Layer>& layers) {
    RankGroups program(ranks_, file_.name);
    const auto add = [&](const Layer& layer, const Phase& phase, bool weight) {
      if (phase.ticks > 1) program.Compute(options_.tick * phase.ticks);
      return AddComm(program, layer, phase, weight);
    };
    for (uint32_t batch = 0; batch < options_.micro_batches; ++batch) {
      for (const Layer& layer : layers) {
        if (absl::Status bad = add(layer, layer.forward, false); !bad.ok()) return bad;
      }
      for (size_t i = layers.size(); i-- > 0;) {
        const Layer& layer = layers[i];
        if (absl::Status bad = add(layer, layer.input, false); !bad.ok()) return bad;
        // Gradients are reduced once, after the last micro-batch, and overlap what follows.
        if (batch + 1 < options_.micro_batches) continue;
        if (absl::Status bad = add(layer, layer.weight, true); !bad.ok()) return bad;
      }
    }
    program.EndStep();
    Workload workload = program.writer().Take();
    if (workload.calls.empty()) return BadFile(file_.name, "there is no collective in it");
    workload.unused = unused_.Lines();
    return workload;
  }

  absl::Status AddComm(RankGroups& program, const Layer& layer, const Phase& phase, bool weight) {
    if (phase.comm == "NONE" || phase.bytes == 0) return absl::OkStatus();
    std::string name = phase.comm;
    const auto ends = [&](const std::string& suffix) {
      if (name.size() <= suffix.size() ||
          name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) {
        return false;
      }
      name.resize(name.size() - suffix.size());
      return true;
    };
    uint32_t members = weight ? ranks_ / tensor_ : tensor_;
    bool strided = weight;
    if (ends("_DP_EP")) {
      members = ranks_ / expert_;
      strided = true;
    } else if (ends("_EP")) {
      members = expert_;
      strided = false;
    }
    std::vector<CollectiveKind> kinds;
    if (name == "ALLREDUCEALLTOALL") {
      kinds = {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll};
    } else if (const auto kind = CollectiveNamed(name); kind.has_value()) {
      kinds = {*kind};
    } else {
      return ErrorAt(file_.name, layer.line, "\"" + phase.comm + "\" is no collective");
    }
    if (members < 2) {
      unused_.Add("collective of one rank");
      return absl::OkStatus();
    }
    for (const CollectiveKind kind : kinds) {
      const absl::Status added =
          program.Call({.kind = kind, .size = Bytes(phase.bytes), .matrix = {}, .name = {}},
                       members, strided, weight);
      if (!added.ok()) return ErrorAt(file_.name, layer.line, std::string(added.message()));
    }
    return absl::OkStatus();
  }

  const NamedText& file_;
  const ImportOptions& options_;
  std::vector<std::string> lines_;
  uint32_t ranks_ = 0;
  uint32_t tensor_ = 1;
  uint32_t expert_ = 1;
  Unused unused_;
};

}  // namespace

absl::StatusOr<Workload> ImportSimai(const std::vector<NamedText>& files,
                                     const ImportOptions& options) {
  if (files.size() != 1) return BadFile(files[1].name, "a SimAI workload is one file");
  return SimaiReader(files[0], options).Read();
}

}  // namespace weir
