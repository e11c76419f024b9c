#include "lb_policies/pinned.h"

namespace weir {

Pinned::Pinned(const LbInfo& lb, const Config& config)
    : path_(static_cast<PathId>(config.path % lb.paths)) {}

}  // namespace weir
