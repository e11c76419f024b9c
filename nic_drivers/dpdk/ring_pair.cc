#include "nic_drivers/dpdk/ring_pair.h"

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eth_ring.h>

#include "absl/strings/str_format.h"
#include "nic_drivers/dpdk/device.h"
#include "nic_drivers/dpdk/eal.h"
#include "nic_drivers/dpdk/ring_far_end.h"

namespace weir {
namespace {

// net_ring's own limit.
constexpr uint32_t kQueuesMax = 16;

absl::StatusOr<std::unique_ptr<DpdkDevice>> OpenOnRings(const DeviceOptions& options,
                                                        const RingOptions& sizes,
                                                        std::shared_ptr<Rings> in,
                                                        std::shared_ptr<Rings> out) {
  static uint32_t number = 0;
  const std::string name = absl::StrFormat("weir%u", number++);
  const auto queues = static_cast<unsigned>(in->all().size());
  const int ethdev = rte_eth_from_rings(name.c_str(), in->all().data(), queues, out->all().data(),
                                        queues, static_cast<unsigned>(SOCKET_ID_ANY));
  if (ethdev < 0) {
    return absl::ResourceExhaustedError("DPDK makes no further device over rings");
  }
  const auto detach = [name, in, out] {
    DetachDevice({.name = "net_ring_" + name, .arguments = "", .pci = false});
  };
  return DpdkDevice::Create(options, {.ethdev = static_cast<uint16_t>(ethdev),
                                      .tx_buffers = sizes.buffers,
                                      .queues_max = kQueuesMax,
                                      .detach = detach});
}

absl::Status Prepare(const DeviceOptions& options) {
  if (options.queues < 1 || options.queues > kQueuesMax) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a ring device has from 1 to %u queues", kQueuesMax));
  }
  return StartEal({}, options.arguments);
}

}  // namespace

absl::StatusOr<std::pair<std::unique_ptr<NicDevice>, std::unique_ptr<NicDevice>>> OpenRingPair(
    const DeviceOptions& options_a, const DeviceOptions& options_b, const RingOptions& rings) {
  if (options_a.queues != options_b.queues) {
    return absl::InvalidArgumentError("both devices of a ring pair have the same number of queues");
  }
  if (absl::Status status = Prepare(options_a); !status.ok()) return status;
  absl::StatusOr<std::shared_ptr<Rings>> there = Rings::Make(options_a.queues, rings.ring);
  if (!there.ok()) return there.status();
  absl::StatusOr<std::shared_ptr<Rings>> back = Rings::Make(options_a.queues, rings.ring);
  if (!back.ok()) return back.status();
  auto a = OpenOnRings(options_a, rings, *back, *there);
  if (!a.ok()) return a.status();
  auto b = OpenOnRings(options_b, rings, *there, *back);
  if (!b.ok()) return b.status();
  return std::pair<std::unique_ptr<NicDevice>, std::unique_ptr<NicDevice>>(*std::move(a),
                                                                           *std::move(b));
}

absl::StatusOr<RingDevice> OpenRingDevice(const DeviceOptions& options, const RingOptions& rings) {
  if (absl::Status status = Prepare(options); !status.ok()) return status;
  absl::StatusOr<std::shared_ptr<Rings>> from_host = Rings::Make(options.queues, rings.ring);
  if (!from_host.ok()) return from_host.status();
  absl::StatusOr<std::shared_ptr<Rings>> to_host = Rings::Make(options.queues, rings.ring);
  if (!to_host.ok()) return to_host.status();
  auto device = OpenOnRings(options, rings, *to_host, *from_host);
  if (!device.ok()) return device.status();
  FarEnd::Config config = {.from_host = *from_host,
                           .to_host = *to_host,
                           .host = (*device)->address(),
                           .vlan = options.vlan,
                           .mtu = (*device)->caps().mtu};
  const TscClock clock(rte_get_tsc_hz(), options.time_scale);
  RingDevice out;
  out.far_end = std::make_unique<FarEnd>(std::move(config), clock);
  out.device = *std::move(device);
  return out;
}

}  // namespace weir
