#include "testbed/traffic/import/import.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "testbed/traffic/import/parts.h"

namespace weir {
namespace {

struct Importer {
  const char* name;
  bool (*looks_like)(const NamedText& file);
  absl::StatusOr<Workload> (*read)(const std::vector<NamedText>&, const ImportOptions&);
  bool takes_ranks = true;    // of the options
  bool takes_passes = false;  // micro_batches and tick
};

// An option that changes nothing is refused.
absl::Status CheckOptions(const Importer& importer, const std::string& path,
                          const ImportOptions& options) {
  const ImportOptions none;
  if (!importer.takes_ranks && options.ranks != none.ranks) {
    return BadFile(path, absl::StrFormat("ranks has no effect on %s, whose files say it; drop it",
                                         importer.name));
  }
  if (!importer.takes_passes &&
      (options.micro_batches != none.micro_batches || options.tick != none.tick)) {
    return BadFile(path, absl::StrFormat("micro_batches and tick have no effect on %s; drop them",
                                         importer.name));
  }
  return absl::OkStatus();
}

constexpr size_t kHead = 4096;

std::string HeadOf(const NamedText& file) { return file.text.substr(0, kHead); }
bool Has(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }
bool EndsIn(const NamedText& file, const std::string& end) {
  return file.name.size() > end.size() &&
         file.name.compare(file.name.size() - end.size(), end.size(), end) == 0;
}
bool IsObject(const NamedText& file) { return Has(HeadOf(file).substr(0, 64), "{"); }

const Importer kImporters[] = {
    {"chakra", [](const NamedText& f) { return EndsIn(f, ".et"); }, ImportChakra, false},
    {"kineto", [](const NamedText& f) { return IsObject(f) && Has(f.text, "\"traceEvents\""); },
     ImportKineto},
    {"pytorch_et", [](const NamedText& f) { return IsObject(f) && Has(HeadOf(f), "\"schema\""); },
     ImportPytorchEt},
    {"param",
     [](const NamedText& f) {
       return HeadOf(f).find_first_not_of(" \n\t") != std::string::npos &&
              HeadOf(f)[HeadOf(f).find_first_not_of(" \n\t")] == '[' && Has(HeadOf(f), "\"comms\"");
     },
     ImportParam},
    {"goal", [](const NamedText& f) { return Has(HeadOf(f), "num_ranks"); }, ImportGoal, false},
    {"aicb", [](const NamedText& f) { return Has(HeadOf(f), "comm_type,"); }, ImportAicb},
    {"simai",
     [](const NamedText& f) {
       return Has(HeadOf(f), "model_parallel_NPU_group") || HeadOf(f).rfind("MICRO", 0) == 0;
     },
     ImportSimai, true, true},
};

}  // namespace

const std::vector<WorkloadFormat>& WorkloadFormats() {
  static const std::vector<WorkloadFormat> formats = {
      {"chakra", "MLCommons Chakra execution traces, binary (.et), one a rank"},
      {"kineto", "PyTorch profiler traces (Chrome trace JSON), one a rank"},
      {"pytorch_et", "PyTorch execution traces (JSON), one a rank"},
      {"param", "PARAM communication traces (JSON), one a rank"},
      {"goal", "GOAL schedules of LogGOPSim and ATLAHS, text"},
      {"aicb", "AICB workloads (CSV)"},
      {"simai", "SimAI and ASTRA-sim text workloads"},
  };
  return formats;
}

absl::StatusOr<Workload> ImportWorkload(const std::string& path, const std::string& format,
                                        const ImportOptions& options) {
  const absl::StatusOr<std::vector<NamedText>> files = ReadFileSet(path);
  if (!files.ok()) return files.status();
  return ImportFiles(path, *files, format, options);
}

absl::StatusOr<Workload> ImportFiles(const std::string& path, const std::vector<NamedText>& files,
                                     const std::string& format, const ImportOptions& options) {
  for (const Importer& importer : kImporters) {
    if (format == "auto" ? !importer.looks_like(files.front()) : format != importer.name) continue;
    if (absl::Status bad = CheckOptions(importer, path, options); !bad.ok()) return bad;
    try {
      absl::StatusOr<Workload> workload = importer.read(files, options);
      if (!workload.ok()) return workload;
      if (workload->ops.empty()) return BadFile(path, "there is nothing to do in it");
      return workload;
    } catch (const nlohmann::json::exception& error) {
      // The library's messages give the byte, or the type that was expected.
      return BadFile(path,
                     absl::StrFormat("is no %s file, or damaged: %s", importer.name, error.what()));
    }
  }
  std::string names;
  for (const WorkloadFormat& f : WorkloadFormats()) {
    names += (names.empty() ? "" : ", ") + std::string(f.name);
  }
  return BadFile(path, "looks like none of the formats " + names + "; name one with format");
}

}  // namespace weir
