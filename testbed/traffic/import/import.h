// Workloads and request traces of other tools.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "testbed/traffic/workload.h"

namespace weir {

struct ImportOptions {
  uint32_t ranks = 0;  // of the whole job, where the file leaves it open or it is too large; 0:
                       // what the file says
  uint32_t micro_batches = 1;  // of a SimAI workload
  Duration tick = Nanos(1);    // of compute in a SimAI workload
};

struct WorkloadFormat {
  const char* name;   // "kineto"
  const char* about;  // one line
};
const std::vector<WorkloadFormat>& WorkloadFormats();

// Reads `path`: a file, a folder, an archive (tar), or a pattern with * for the files of several
// ranks; each may be compressed. `format` is a name above, or "auto" to look into the files. What
// was found and not used is in Workload::unused. Errors name the file, the place in it and the
// remedy.
absl::StatusOr<Workload> ImportWorkload(const std::string& path, const std::string& format,
                                        const ImportOptions& options);

// Requests to a language model, in order of arrival, which counts from the first.
struct Request {
  Duration arrival{};
  uint32_t context = 0;    // tokens
  uint32_t cached = 0;     // of these, in blocks of 512 that an earlier request had, too
  uint32_t generated = 0;  // tokens
};
struct RequestTrace {
  std::vector<Request> requests;
  std::vector<std::string> unused;
};
// Azure's LLM inference traces (CSV) and Mooncake's (JSON lines).
absl::StatusOr<RequestTrace> ImportRequests(const std::string& path);

}  // namespace weir
