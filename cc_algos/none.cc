#include "cc_algos/none.h"

#include <algorithm>

namespace weir {

None::None(const FlowInfo& flow, const Config& config) {
  const Bytes window = config.window > Bytes(0) ? config.window : flow.bdp();
  allowance_.window = std::max(window, flow.mtu);
  if (config.rate > Rate(0)) allowance_.rate = config.rate;
}

}  // namespace weir
