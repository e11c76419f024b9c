#include "datapath/signal_names.h"

namespace weir {

std::string SignalNames(Signals signals) {
  std::string names;
  for (const Signal s : kAllSignals) {
    if (!signals.Has(s)) continue;
    if (!names.empty()) names += ", ";
    names += Name(s);
  }
  return names;
}

}  // namespace weir
