#include "testbed/experiment/homes.h"

#include "testbed/virtual/virtual_home.h"

namespace weir {

absl::StatusOr<std::unique_ptr<Home>> MakeHome(const RunPlan& plan) {
  return std::make_unique<VirtualHome>(plan.experiment().fabric.topology,
                                       WorldConfig{.seed = plan.seed(),
                                                   .switches = plan.switches(),
                                                   .v6 = plan.experiment().transport.v6,
                                                   .tx_pages_max = plan.tx_pages_max()});
}

}  // namespace weir
