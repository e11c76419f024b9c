// The figures by which arms are compared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "testbed/experiment/result.h"

namespace weir {

struct Metric {
  std::string name;
  std::string unit;  // "ns", "bps", "" (a ratio), "packets", "bytes"
  bool lower_is_better = true;
  // Whether it says how long users wait: only these make an arm better or worse. The others
  // explain.
  bool decides = false;
  // A mean over runs of the mean of a run's values, or else the 99th percentile of all runs' values
  // together.
  bool tail = false;
  std::function<std::vector<double>(const RunResult&)> values{};
};

// A class of messages: sizes in [low, high].
struct SizeClass {
  Bytes low{};
  Bytes high{};
  std::string name{};  // "64 kB", "4.1 kB to 16.4 kB"
};
// Of all messages in `runs`: one a size for up to eight sizes, else one a factor of four. None if
// all have one size.
std::vector<SizeClass> SizeClassesOf(const std::vector<const RunResult*>& runs);

// The last completion is the first. With several sizes of messages each class has its own.
std::vector<Metric> MetricsOf(const std::vector<const RunResult*>& runs);

}  // namespace weir
