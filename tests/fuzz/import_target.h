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

// The files of several ranks are one input, with this between them.
inline constexpr char kNextRank[] = "\n--rank--\n";

inline void FuzzWorkload(const std::string& format, uint32_t ranks, std::string text) {
  std::vector<NamedText> files;
  for (size_t end = 0; end != std::string::npos;) {
    end = text.find(kNextRank);
    files.push_back(
        {.name = absl::StrFormat("fuzzed.%d", files.size()), .text = text.substr(0, end)});
    if (end != std::string::npos) text.erase(0, end + sizeof kNextRank - 1);
  }
  const absl::StatusOr<Workload> workload = ImportFiles("fuzzed", files, format, {.ranks = ranks});
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
template <const char* Format, uint32_t Ranks>
void FuzzFormat(std::span<const uint8_t> input) {
  FuzzWorkload(Format, Ranks, TextOf(input));
}
inline constexpr char kGoal[] = "goal";
inline constexpr char kChakra[] = "chakra";
inline constexpr char kPytorchEt[] = "pytorch_et";
inline constexpr char kKineto[] = "kineto";
inline constexpr char kParam[] = "param";
inline constexpr char kAicb[] = "aicb";
inline constexpr char kSimai[] = "simai";
inline constexpr FuzzTarget kImportTargets[] = {
    {kGoal, FuzzFormat<kGoal, 0>},
    {kChakra, FuzzFormat<kChakra, 0>},
    {kPytorchEt, FuzzFormat<kPytorchEt, 16>},
    {kKineto, FuzzFormat<kKineto, 16>},
    {kParam, FuzzFormat<kParam, 16>},
    {kAicb, FuzzFormat<kAicb, 16>},
    {kSimai, FuzzFormat<kSimai, 16>},
    {"requests", FuzzRequests},
    {"matrix", FuzzMatrix},
    {"topology", FuzzTopology},
};

}  // namespace weir
