#include "testbed/perf/ring_peer.h"

#ifdef WEIR_HAS_DPDK
#include "nic_drivers/dpdk/ring_pair.h"
#endif

namespace weir {

#ifdef WEIR_HAS_DPDK
absl::StatusOr<RingPeers> OpenRingPeers(const ContextOptions& options) {
  ContextOptions client = options;
  ContextOptions server = options;
  client.device.address = "10.0.0.1/24";
  server.device.address = "10.0.0.2/24";
  server.listen = true;
  for (ContextOptions* o : {&client, &server}) {
    o->device.queues = o->workers;
    if (o->device.mtu == 0) o->device.mtu = 9000;
  }
  auto devices = OpenRingPair(client.device, server.device);
  if (!devices.ok()) return devices.status();
  auto first = Context::Open(client, std::move(devices->first));
  if (!first.ok()) return first.status();
  auto second = Context::Open(server, std::move(devices->second));
  if (!second.ok()) return second.status();
  return RingPeers{*std::move(first), *std::move(second), "10.0.0.2"};
}
#else
absl::StatusOr<RingPeers> OpenRingPeers(const ContextOptions&) {
  return absl::UnimplementedError(
      "rings are of DPDK, which this build has not; install libdpdk-dev and build again");
}
#endif

}  // namespace weir
