// RDMA devices of this host.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <string>
#include <vector>

#include "nic_drivers/verbs/gid_choice.h"
#include "nic_drivers/verbs/queue_pairs.h"

namespace weir {

// As "verbs:rxe0", in the order of rdma-core; none where the kernel has none.
std::vector<std::string> ListVerbsDevices();
// nullptr: there is no device of this name, or it cannot be opened (errno).
VerbsContext OpenVerbsContext(const std::string& device);
std::vector<GidEntry> GidsOf(ibv_context* context, uint8_t port);

}  // namespace weir
