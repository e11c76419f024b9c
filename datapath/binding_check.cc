#include "datapath/binding_check.h"

#include "absl/strings/str_format.h"
#include "datapath/signal_names.h"

namespace weir {

absl::Status CheckBinding(const char* what, const Binding& binding, Signals supplied) {
  if (binding.cc == nullptr || binding.lb == nullptr || binding.paths == 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: the binding names no algorithm, policy or path", what));
  }
  if (const char* why = binding.mismatch(); why != nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: %s does not go with %s, because %s; choose a policy that keeps to a path, or a larger "
        "unit of spreading",
        what, binding.cc->name, binding.lb->name, why));
  }
  const Signals missing = (binding.cc->needs | binding.lb->needs).Without(supplied);
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: %s with %s needs %s, which this port does not supply; choose another algorithm or "
      "enable it in the network",
      what, binding.cc->name, binding.lb->name, SignalNames(missing)));
}

}  // namespace weir
