#include "nic_drivers/dpdk/device.h"

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include <algorithm>

#include "absl/strings/str_format.h"
#include "nic_drivers/address.h"
#include "nic_drivers/dpdk/buffers.h"
#include "nic_drivers/dpdk/dma.h"
#include "nic_drivers/dpdk/driver.h"
#include "nic_drivers/dpdk/eal.h"
#include "nic_drivers/dpdk/pools.h"
#include "nic_drivers/dpdk/virtual_arguments.h"

namespace weir {
namespace {

constexpr uint32_t kTagBytes = 4;
// Some devices write a header of their own before each frame: virtio, of 12 bytes.
constexpr uint32_t kDeviceHeader = 16;
// Buffers beyond those in the descriptors: bursts, and the caches of two threads.
constexpr uint32_t kSpareBuffers = 1024;
// AF_XDP's rings to and from the kernel, whatever number of descriptors it is asked for.
constexpr uint32_t kXdpRings = 2 * 2048;
constexpr uint32_t kSteeringRing = 1024;  // a power of two

// Neighbours answer in real time, whatever a port's clock shows.
TscClock WallClock() { return TscClock(rte_get_tsc_hz(), 1); }

absl::StatusOr<std::unique_ptr<NicDevice>> OpenDpdk(const DeviceOptions& options) {
  return DpdkDevice::Open(options);
}

}  // namespace

const DriverEntry kDpdkDriver = {
    .name = "dpdk",
    .summary =
        "any DPDK device: dpdk:0000:3b:00.0, dpdk:net_af_packet0,iface=eth1, "
        "dpdk:net_memif0,role=server,socket=/run/a.sock",
    .open = OpenDpdk,
};

absl::StatusOr<std::unique_ptr<DpdkDevice>> DpdkDevice::Open(const DeviceOptions& options) {
  absl::StatusOr<DeviceName> name = ParseDeviceName(options.device);
  if (!name.ok()) return name.status();
  AddVirtualArguments(options, *name);
  if (absl::Status status = StartEal(*name, options.arguments); !status.ok()) return status;
  absl::StatusOr<uint16_t> ethdev = AttachDevice(*name);
  if (!ethdev.ok()) return ethdev.status();
  return Create(options, {.ethdev = *ethdev, .detach = [name = *name] { DetachDevice(name); }});
}

absl::StatusOr<std::unique_ptr<DpdkDevice>> DpdkDevice::Create(const DeviceOptions& options,
                                                               Source source) {
  std::unique_ptr<DpdkDevice> device(new DpdkDevice(options, std::move(source)));
  if (absl::Status status = device->Set(); !status.ok()) return status;
  return device;
}

absl::Status DpdkDevice::Set() {
  setup_.ethdev = source_.ethdev;
  absl::StatusOr<Subnet> subnet = ParseSubnet(options_.address);
  if (!subnet.ok()) return subnet.status();
  subnet_ = *subnet;
  absl::StatusOr<Neighbours> neighbours = Neighbours::Create(subnet_, options_);
  if (!neighbours.ok()) return neighbours.status();
  neighbours_ = *std::move(neighbours);
  rules_ = std::make_unique<FlowRules>();
  // These share the interface with the kernel.
  if (EthDriver(source_.ethdev).rfind("mlx", 0) == 0) rules_->Isolate(source_.ethdev);
  absl::StatusOr<EthSetup> setup = ConfigureEth(source_.ethdev, options_);
  if (!setup.ok()) return setup.status();
  setup_ = *std::move(setup);
  if (source_.queues_max > 0) setup_.queues_max = source_.queues_max;
  removal_ = std::make_unique<Removal>(setup_.ethdev);
  setup_.warnings.insert(setup_.warnings.begin(), EalWarnings().begin(), EalWarnings().end());
  if (absl::Status status = MakePools(); !status.ok()) return status;
  if (absl::Status status = MakeSteering(); !status.ok()) return status;
  if (setup_.one_pool) xdp_sockets_.Begin();
  const absl::Status started = StartEth(setup_, rx_pools_, options_);
  if (setup_.one_pool) xdp_sockets_.End();
  if (!started.ok()) return started;
  if (absl::Status status = Steer(); !status.ok()) return status;
  ChooseMac();
  MakePorts();
  buffers_idle_ = BuffersOut();
  return absl::OkStatus();
}

absl::Status DpdkDevice::Steer() {
  if ((setup_.queues == 1 || !options_.offloads) && !rules_->isolated()) return absl::OkStatus();
  const bool v6 = subnet_.address.v6;
  if (rules_->Install(setup_.ethdev, setup_.queues, v6, options_.vlan)) return absl::OkStatus();
  if (!rules_->isolated()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "device %s shares its interface with the kernel and takes no flow rules, so that Weir would "
      "receive nothing; update the NIC's firmware",
      setup_.driver));
}

void DpdkDevice::MakePorts() {
  caps_.line_rate = setup_.line_rate;
  caps_.mtu = setup_.mtu;
  if (setup_.rx_stamps) caps_.signals = caps_.signals | Signal::kNicTimestamps;
  regions_ = std::make_unique<Regions>(setup_.queues);
  clock_.emplace(rte_get_tsc_hz(), options_.time_scale);
  for (uint16_t q = 0; q < setup_.queues; ++q) {
    const DpdkPort::Config config = {.ethdev = setup_.ethdev,
                                     .queue = q,
                                     .self = subnet_.address,
                                     .caps = caps_,
                                     .vlan = options_.vlan,
                                     .pushes_out = setup_.pushes_out,
                                     .vlan_insert = setup_.vlan_insert,
                                     .multi_segment = setup_.multi_segment,
                                     .stamp_offset = setup_.rx_stamps ? setup_.stamp_offset : -1,
                                     .stamp_flag = setup_.stamp_flag,
                                     .rx_pool = rx_pools_[q],
                                     .tx_pool = setup_.one_pool ? rx_pools_[q] : tx_pools_[q],
                                     .attached = attached_pools_[q],
                                     .regions = regions_.get(),
                                     .gone = removal_->flag(),
                                     .steering = steering_};
    ports_.push_back(std::make_unique<DpdkPort>(config, *clock_));
  }
}

absl::Status DpdkDevice::MakePools() {
  const bool slots = setup_.driver == "net_af_packet" && setup_.mtu > RTE_ETHER_MTU;
  const uint32_t longest =
      slots ? AfPacketSlot(setup_.mtu) : setup_.mtu + kEthernetBytes + kTagBytes + kDeviceHeader;
  const auto frame = static_cast<uint16_t>(RTE_PKTMBUF_HEADROOM +
                                           std::max<uint32_t>(longest, RTE_MBUF_DEFAULT_DATAROOM));
  const uint32_t tx =
      source_.tx_buffers > 0 ? source_.tx_buffers : setup_.tx_descriptors + kSpareBuffers;
  uint32_t rx = (setup_.by_reference ? 0u : setup_.rx_descriptors) + kSpareBuffers;
  if (setup_.one_pool) rx += kXdpRings + tx;
  const auto make = [&](uint32_t buffers, uint16_t room, std::vector<rte_mempool*>& pools) {
    absl::StatusOr<rte_mempool*> pool = MakePool(buffers, room, setup_.socket);
    if (pool.ok()) pools.push_back(*pool);
    return pool.status();
  };
  for (uint16_t q = 0; q < setup_.queues; ++q) {
    if (absl::Status status = make(rx, frame, rx_pools_); !status.ok()) return status;
    if (!setup_.one_pool) {
      if (absl::Status status = make(tx, frame, tx_pools_); !status.ok()) return status;
    }
    if (absl::Status status = make(tx, 0, attached_pools_); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status DpdkDevice::MakeSteering() {
  for (uint16_t q = 0; setup_.queues > 1 && q < setup_.queues; ++q) {
    const std::string name = absl::StrFormat("weir_steer_%u_%u", setup_.ethdev, q);
    rte_ring* ring = rte_ring_create(name.c_str(), kSteeringRing, setup_.socket, RING_F_SC_DEQ);
    if (ring == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("no memory for rings between queues: %s", rte_strerror(rte_errno)));
    }
    steering_.push_back(ring);
  }
  return absl::OkStatus();
}

void DpdkDevice::ChooseMac() {
  rte_ether_addr mac{};
  MacAddress& ours = subnet_.address.mac;
  const bool known = rte_eth_macaddr_get(setup_.ethdev, &mac) == 0 && !rte_is_zero_ether_addr(&mac);
  if (known) {
    std::copy_n(mac.addr_bytes, ours.size(), ours.begin());
    return;
  }
  ours = MadeUpMac(subnet_.address);
}

DpdkDevice::~DpdkDevice() {
  ports_.clear();
  rules_.reset();
  CloseEth(setup_);
  // Some devices send what they were given until they are closed.
  for (const auto& [base, mapped] : mapped_) UnmapForDevice(base, mapped);
  xdp_sockets_.Close();
  if (source_.detach) source_.detach();
  for (rte_ring* ring : steering_) {
    void* mbuf = nullptr;
    while (rte_ring_dequeue(ring, &mbuf) == 0) FreeBuffer(static_cast<rte_mbuf*>(mbuf));
    rte_ring_free(ring);
  }
  for (auto* pools : {&rx_pools_, &tx_pools_, &attached_pools_}) {
    for (rte_mempool* pool : *pools) RetirePool(pool);
  }
}

uint64_t DpdkDevice::BuffersOut() const {
  uint64_t out = 0;
  for (const auto* pools : {&rx_pools_, &tx_pools_, &attached_pools_}) {
    for (const rte_mempool* pool : *pools) out += rte_mempool_in_use_count(pool);
  }
  return out;
}

DeviceCounters DpdkDevice::counters() const {
  DeviceCounters out;
  for (const auto& port : ports_) {
    const PortCounters& c = port->counters();
    out.rx_packets += c.rx_packets;
    out.rx_bytes += c.rx_bytes;
    out.rx_missed += c.rx_missed;
    out.rx_errors += c.rx_errors;
    out.rx_foreign += c.rx_foreign;
    out.rx_steered += c.rx_steered;
    out.tx_packets += c.tx_packets;
    out.tx_bytes += c.tx_bytes;
    out.tx_dropped += c.tx_dropped;
    out.tx_copied += c.tx_copied;
  }
  rte_eth_stats stats{};
  if (rte_eth_stats_get(setup_.ethdev, &stats) == 0) {
    out.rx_missed += stats.imissed + stats.rx_nombuf;
    out.rx_errors += stats.ierrors;
    // AF_XDP counts what it gives back, too, which is offered again.
    if (!setup_.one_pool) out.tx_dropped += stats.oerrors;
  }
  const uint64_t buffers = BuffersOut();
  out.buffers_in_use = buffers > buffers_idle_ ? buffers - buffers_idle_ : 0;
  return out;
}

std::vector<std::string> DpdkDevice::features() const {
  std::vector<std::string> out;
  out.push_back(absl::StrFormat("driver: %s", setup_.driver));
  out.push_back(EalMemory());
  out.push_back(absl::StrFormat("line rate: %d Mb/s, %s", setup_.line_rate.count() / 1'000'000,
                                setup_.line_rate_from));
  out.push_back(absl::StrFormat("mtu: %u", setup_.mtu));
  out.push_back(absl::StrFormat("queues: %u of %u asked for, %u and %u descriptors", setup_.queues,
                                options_.queues, setup_.rx_descriptors, setup_.tx_descriptors));
  out.push_back(setup_.multi_segment ? "payload: registered memory leaves in place"
                                     : "payload: copied, the device sends from one buffer only");
  out.push_back(setup_.rx_checksum ? "IPv4 checksum: checked by the device and the core"
                                   : "IPv4 checksum: checked by the core");
  out.push_back(setup_.rx_stamps ? "arrival: stamped by the device"
                                 : "arrival: the time of the poll, the device has no stamps");
  if (options_.vlan >= 0) {
    out.push_back(absl::StrFormat("VLAN %d: written by %s, taken off by %s", options_.vlan,
                                  setup_.vlan_insert ? "the device" : "the driver",
                                  setup_.vlan_strip ? "the device" : "the core"));
  }
  if (setup_.queues > 1) {
    const char* by_device = setup_.rss ? "a hash of the device" : "as the device likes";
    out.push_back(absl::StrFormat("steering: %s, then between queues by software",
                                  rules_->installed() ? "flow rules" : by_device));
  }
  if (rules_->isolated()) out.push_back("kernel: keeps the interface but for Weir's ports");
  return out;
}

absl::Status DpdkDevice::Resolve(NetAddress& remote) {
  NetAddress neighbour;
  for (const auto& port : ports_) {
    while (port->mail().news.pop(neighbour)) neighbours_->Learn(neighbour);
  }
  std::optional<NetAddress> ask;
  const absl::Status status = neighbours_->Resolve(WallClock().Now(), remote, ask);
  if (ask.has_value()) ports_.front()->mail().questions.push(*ask);
  return status;
}

absl::Status DpdkDevice::RegisterMemory(std::byte* base, size_t size) {
  const bool maps = !setup_.is_virtual && setup_.multi_segment;
  if (maps && !mapped_.contains(base)) {
    absl::StatusOr<MappedMemory> mapped = MapForDevice(setup_.ethdev, base, size);
    if (!mapped.ok()) return mapped.status();
    mapped_[base] = *mapped;
  }
  const auto own = reinterpret_cast<uint64_t>(base);
  return regions_->Add(base, size, maps ? mapped_[base].iova : own);
}

absl::Status DpdkDevice::UnregisterMemory(std::byte* base) {
  absl::Status status = regions_->Remove(base);
  if (absl::IsUnavailable(status)) {
    for (const auto& port : ports_) port->AskForSentBuffers();
  }
  const auto found = mapped_.find(base);
  if (status.ok() && found != mapped_.end()) {
    UnmapForDevice(base, found->second);
    mapped_.erase(found);
  }
  return status;
}

}  // namespace weir
