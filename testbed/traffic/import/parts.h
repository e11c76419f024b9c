// What importers share.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "testbed/text_lines.h"
#include "testbed/traffic/import/file_set.h"
#include "testbed/traffic/import/import.h"

namespace weir {

// What a damaged file may ask for at most.
inline constexpr uint32_t kRanksMax = 1u << 20;
inline constexpr int64_t kSizeMax = int64_t{1} << 50;

// Counts what was not used, by what it is.
class Unused {
 public:
  void Add(const std::string& what) { ++counts_[what]; }
  std::vector<std::string> Lines() const;

 private:
  std::map<std::string, uint64_t> counts_;
};

absl::Status BadFile(const std::string& file, const std::string& what);

// The whole of `text` as a number within [min, max].
std::optional<int64_t> WholeNumber(const std::string& text, int64_t min, int64_t max);

// The kind that a name means: "all_reduce", "ALLREDUCE", "_allgather_base", "all_to_allv".
std::optional<CollectiveKind> CollectiveNamed(const std::string& name);
// Bytes of an element: "float", "c10::BFloat16", "long int", "Int"; 0: not known.
int64_t ElementBytes(const std::string& type);

// What one rank does with its peers, in its order: the common ground of profiler, execution and
// PARAM traces.
struct CommEvent {
  std::optional<CollectiveKind> kind{};  // nothing: waits for request `request`
  std::string group{};                   // "" : all ranks
  Bytes in{};                            // held before
  Bytes out{};                           // held after
  std::vector<Bytes> in_split{};         // to each member; empty: even
  uint32_t root = 0;                     // member
  int64_t request = -1;                  // what a wait names
  Duration earliest{};                   // after the trace's beginning
};
struct CommTrace {
  std::string file;
  std::vector<CommEvent> events;
};
// All ranks do what their trace says; ranks without one repeat the others' in turn. The k-th event
// of a group on one rank is the k-th on the others. `groups` are the ranks of each name.
absl::StatusOr<Workload> FromCommTraces(const std::string& name, uint32_t ranks,
                                        const std::vector<CommTrace>& traces,
                                        const std::map<std::string, std::vector<uint32_t>>& groups,
                                        Unused& unused);

// Fails if ops wait for each other in a circle.
absl::Status CheckNoCycle(const Workload& workload);

// What ImportWorkload does with the files behind `path`, which is for messages; at least one.
absl::StatusOr<Workload> ImportFiles(const std::string& path, const std::vector<NamedText>& files,
                                     const std::string& format, const ImportOptions& options);

// One importer a format. `files` is not empty. Those of JSON throw nlohmann::json::exception.
absl::StatusOr<Workload> ImportGoal(const std::vector<NamedText>& files, const ImportOptions&);
absl::StatusOr<Workload> ImportChakra(const std::vector<NamedText>& files, const ImportOptions&);
absl::StatusOr<Workload> ImportPytorchEt(const std::vector<NamedText>& files, const ImportOptions&);
absl::StatusOr<Workload> ImportKineto(const std::vector<NamedText>& files, const ImportOptions&);
absl::StatusOr<Workload> ImportParam(const std::vector<NamedText>& files, const ImportOptions&);
absl::StatusOr<Workload> ImportAicb(const std::vector<NamedText>& files, const ImportOptions&);
absl::StatusOr<Workload> ImportSimai(const std::vector<NamedText>& files, const ImportOptions&);

// What ImportRequests does with its file.
absl::StatusOr<RequestTrace> ReadRequests(const NamedText& file);

}  // namespace weir
