// Any bytes as a file of each kind that Weir reads: an error or something sound, nothing else.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "testbed/fabric/topology.h"
#include "testbed/traffic/import/parts.h"
#include "testbed/traffic/traffic.h"
#include "tests/support/workload_check.h"

namespace weir {

inline std::string TextOf(std::span<const uint8_t> input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

inline void MustBeEmpty(const std::string& complaint) {
  if (complaint.empty()) return;
  std::fprintf(stderr, "%s\n", complaint.c_str());
  std::abort();
}

// Errors must say which file is meant.
template <class Result>
void MustNameItsFile(const Result& result) {
  if (result.ok()) return;
  const std::string message(result.status().message());
  if (message.find("fuzzed") == std::string::npos) MustBeEmpty("no file in: " + message);
}

template <absl::StatusOr<Workload> (*Import)(const std::vector<NamedText>&, const ImportOptions&),
          uint32_t Ranks = 0>
void FuzzWorkload(std::span<const uint8_t> input) {
  const absl::StatusOr<Workload> workload =
      Import({{.name = "fuzzed.0", .text = TextOf(input)}}, {.ranks = Ranks});
  MustNameItsFile(workload);
  if (workload.ok()) MustBeEmpty(Unsound(*workload));
}

inline void FuzzRequests(std::span<const uint8_t> input) {
  const absl::StatusOr<RequestTrace> trace =
      ReadRequests({.name = "fuzzed", .text = TextOf(input)});
  MustNameItsFile(trace);
  if (!trace.ok()) return;
  Duration before{};
  for (const Request& r : trace->requests) {
    if (r.arrival < before || r.cached > r.context) MustBeEmpty("a request is unsound");
    before = r.arrival;
  }
}

inline void FuzzMatrix(std::span<const uint8_t> input) {
  const absl::StatusOr<Traffic> traffic = ParseConnectionMatrix(TextOf(input), "fuzzed");
  MustNameItsFile(traffic);
  if (!traffic.ok()) return;
  for (const TrafficConnection& c : traffic->connections) {
    if (c.from >= traffic->hosts || c.to >= traffic->hosts || c.from == c.to) {
      MustBeEmpty("a connection is unsound");
    }
  }
  for (const Transfer& t : traffic->transfers) {
    const auto known = [&](uint32_t trigger) {
      return trigger == kNoTrigger || trigger < traffic->triggers.size();
    };
    if (t.connection >= traffic->connections.size() || t.size <= Bytes(0) ||
        t.start < Duration(0) || !known(t.after) || !known(t.on_sent) || !known(t.on_received)) {
      MustBeEmpty("a transfer is unsound");
    }
  }
}

inline void FuzzTopology(std::span<const uint8_t> input) {
  const absl::StatusOr<Topology> topology = ParseTopo(TextOf(input), "fuzzed");
  MustNameItsFile(topology);
  if (!topology.ok()) return;
  for (const LinkShape& link : topology->links) {
    if (link.from >= topology->nodes() || link.to >= topology->nodes() ||
        link.reverse >= topology->links.size() || link.rate <= Rate(0) ||
        link.delay < Duration(0)) {
      MustBeEmpty("a link is unsound");
    }
  }
}

struct FuzzTarget {
  const char* name;  // and its folder in the corpus
  void (*run)(std::span<const uint8_t> input);
};
inline constexpr FuzzTarget kImportTargets[] = {
    {"goal", FuzzWorkload<ImportGoal>},
    {"chakra", FuzzWorkload<ImportChakra>},
    {"pytorch_et", FuzzWorkload<ImportPytorchEt, 16>},
    {"kineto", FuzzWorkload<ImportKineto, 16>},
    {"param", FuzzWorkload<ImportParam, 16>},
    {"aicb", FuzzWorkload<ImportAicb, 16>},
    {"simai", FuzzWorkload<ImportSimai, 16>},
    {"requests", FuzzRequests},
    {"matrix", FuzzMatrix},
    {"topology", FuzzTopology},
};

}  // namespace weir
