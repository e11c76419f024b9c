// An RDMA device opened for one of its ports: what both of its modes begin with.
#pragma once

#include <infiniband/verbs.h>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"
#include "nic_drivers/verbs/gid_choice.h"
#include "nic_drivers/verbs/name.h"
#include "nic_drivers/verbs/queue_pairs.h"

namespace weir {

struct OpenedVerbs {
  VerbsName name{};
  ibv_device_attr attributes{};
  ibv_port_attr port{};
  GidEntry gid{};
  NetAddress address{};  // of the GID; no MAC
  VerbsContext context{};
  VerbsDomain domain{};  // behind the context, so that it goes first

  // options.address may be empty: the port's first RoCE v2 GID decides.
  static absl::StatusOr<OpenedVerbs> Open(const DeviceOptions& options);
};

}  // namespace weir
