// Identities of runs.
#include "absl/strings/str_format.h"
#include "testbed/experiment/fingerprint.h"
#include "testbed/experiment/given.h"
#include "testbed/sweep/sweep.h"

namespace weir {
namespace {

bool StartsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

std::string RunId(const Experiment& experiment, uint32_t arm, uint64_t seed) {
  const std::string its_own = absl::StrFormat("arms.%d.", arm);
  std::string text = absl::StrFormat("%s\nseed %d\n", Revision(), seed);
  for (const GivenValue& g : experiment.given) {
    std::string key = g.key;
    if (StartsWith(key, its_own)) {
      key = "arm." + key.substr(its_own.size());
    } else if (key == "name" || key == "run.seeds" || StartsWith(key, "run.seeds.") ||
               StartsWith(key, "arms.")) {
      continue;
    }
    text += absl::StrFormat("%s = %s\n", key, g.value);
  }
  return ContentHash(text);
}

}  // namespace weir
