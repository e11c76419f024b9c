// Whether what a binding needs is there, said in the same words wherever a connection is opened.
#pragma once

#include "absl/status/status.h"
#include "datapath/sender.h"

namespace weir {

// `what`: what is being done, such as "connect". `supplied`: by port and network.
// kInvalidArgument: the binding makes no sense; kFailedPrecondition: a signal is missing. Both name
// it and the remedy.
absl::Status CheckBinding(const char* what, const Binding& binding, Signals supplied);

}  // namespace weir
