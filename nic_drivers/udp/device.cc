#include "nic_drivers/udp/device.h"

#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nic_drivers/address.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/socket_address.h"
#include "nic_drivers/udp/driver.h"

namespace weir {
namespace {

constexpr uint32_t kBuffers = 512;  // a queue, each way
constexpr uint32_t kMtuMin = 576;
constexpr uint32_t kMtuMost = 9600;
constexpr uint32_t kQueuesMost = 16;
constexpr Rate kRateAssumed = Gbps(100);

}  // namespace

const DriverEntry kUdpDriver = {
    .name = "udp",
    .summary = "the kernel's UDP sockets on any interface: udp:eth0, udp:lo,paths=16",
    .open = UdpDevice::Open,
    .list = ListUdpDevices,
    .has_address = true,
};

absl::StatusOr<std::unique_ptr<NicDevice>> UdpDevice::Open(const DeviceOptions& options) {
  absl::StatusOr<UdpName> name = ParseUdpName(options.device);
  if (!name.ok()) return name.status();
  std::unique_ptr<UdpDevice> device(new UdpDevice(options, *std::move(name)));
  absl::StatusOr<InterfaceFacts> interface = LookAtInterface(device->name_.interface);
  if (!interface.ok()) return interface.status();
  device->interface_ = *std::move(interface);
  for (const auto step : {&UdpDevice::ChooseAddress, &UdpDevice::ChooseMtu}) {
    if (absl::Status status = (device.get()->*step)(); !status.ok()) return status;
  }
  if (absl::Status status = device->CheckOptions(); !status.ok()) return status;
  const uint32_t queues = std::clamp(options.queues, 1u, kQueuesMost);
  if (queues < options.queues) {
    device->warnings_.push_back(absl::StrFormat("%d queues instead of %d: this driver has no more",
                                                queues, options.queues));
  }
  for (uint32_t queue = 0; queue < queues; ++queue) {
    auto port = device->MakePort(queue, queues);
    if (!port.ok()) return port.status();
    device->ports_.push_back(*std::move(port));
  }
  return device;
}

// What belongs to the kernel's side.
absl::Status UdpDevice::CheckOptions() const {
  const std::string& device = options_.device;
  if (options_.vlan >= 0) {
    return absl::UnimplementedError(absl::StrFormat(
        "%s: VLANs are the kernel's; name a VLAN interface (ip link add link %s name %s.%d type "
        "vlan id %d) and leave the option out",
        device, name_.interface, name_.interface, options_.vlan, options_.vlan));
  }
  if (!options_.neighbours.empty() || !options_.gateway.empty()) {
    return absl::InvalidArgumentError(
        device +
        ": routes and neighbours are the kernel's (ip route, ip neigh); leave out gateway "
        "and neighbours");
  }
  if (!options_.arguments.empty()) {
    return absl::InvalidArgumentError(
        device + ": this driver takes no arguments for a library: " + options_.arguments.front());
  }
  if (!options_.offloads) {
    return absl::UnimplementedError(
        device + ": offloads are the kernel's (ethtool -K); leave the option out");
  }
  return absl::OkStatus();
}

absl::Status UdpDevice::ChooseAddress() {
  std::vector<std::string> known;
  for (const NetAddress& a : interface_.addresses) known.push_back(IpText(a));
  const std::string has = known.empty() ? "none" : absl::StrJoin(known, ", ");
  if (options_.address.empty()) {
    if (known.empty()) {
      return absl::FailedPreconditionError(
          absl::StrFormat("%s has no IP address; ip addr add 10.0.0.1/24 dev %s", name_.interface,
                          name_.interface));
    }
    address_ = interface_.addresses.front();
  } else {
    absl::StatusOr<Subnet> subnet = ParseSubnet(options_.address);
    if (!subnet.ok()) return subnet.status();
    address_ = subnet->address;
    // All of 127.0.0.0/8 is the host's own.
    const bool loopback = name_.interface == "lo" && !address_.v6 && address_.ip[12] == 127;
    const bool own = std::ranges::any_of(
        interface_.addresses, [this](const NetAddress& a) { return SameIp(a, address_); });
    if (!own && !loopback) {
      return absl::NotFoundError(absl::StrFormat(
          "%s has not the address %s; it has %s; ip addr add %s dev %s", name_.interface,
          IpText(address_), has, options_.address, name_.interface));
    }
  }
  address_.mac = MadeUpMac(address_);  // in frames as the core sees them, and nowhere else
  return absl::OkStatus();
}

absl::Status UdpDevice::ChooseMtu() {
  const uint32_t most = std::min(interface_.mtu, kMtuMost);
  if (options_.mtu > most || (options_.mtu > 0 && options_.mtu < kMtuMin)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: an MTU of %d bytes is not within %d and %d; ip link set %s mtu %d", options_.device,
        options_.mtu, kMtuMin, most, name_.interface, options_.mtu));
  }
  caps_.mtu = options_.mtu > 0 ? options_.mtu : most;
  caps_.line_rate = options_.line_rate > Rate(0) ? options_.line_rate
                    : interface_.rate > Rate(0)  ? interface_.rate
                                                 : kRateAssumed;
  return absl::OkStatus();
}

// Queue q has the ports of workers q, q + queues, ...: what opens a connection may come to any.
absl::StatusOr<std::unique_ptr<UdpPort>> UdpDevice::MakePort(uint32_t queue,
                                                             uint32_t queues) const {
  UdpPort::Config config{.self = address_, .caps = caps_};
  const uint32_t room = std::max<uint32_t>(kEthernetBytes + caps_.mtu, kFrameHeaderRoom);
  for (BufferPool* pool : {&config.tx, &config.rx}) {
    absl::StatusOr<BufferPool> made = BufferPool::Create(kBuffers, room);
    if (!made.ok()) return made.status();
    *pool = *std::move(made);
  }
  for (uint32_t worker = queue; worker < kWorkersMax; worker += queues) {
    absl::StatusOr<UdpSocket> socket = UdpSocket::Open(address_, UdpPortOf(worker));
    if (!socket.ok()) return socket.status();
    config.listeners.push_back({.socket = *std::move(socket), .port = UdpPortOf(worker)});
  }
  for (uint32_t path = 0; path < name_.paths; ++path) {
    absl::StatusOr<UdpSocket> socket = UdpSocket::Open(address_, 0);
    if (!socket.ok()) return socket.status();
    config.senders.push_back(*std::move(socket));
  }
  return std::make_unique<UdpPort>(std::move(config), clock_);
}

DeviceCounters UdpDevice::counters() const {
  DeviceCounters out;
  for (const auto& port : ports_) {
    const UdpCounters& c = port->counters();
    out.rx_packets += c.rx_packets;
    out.rx_bytes += c.rx_bytes;
    out.rx_missed += c.rx_missed;
    out.rx_errors += c.rx_errors;
    out.tx_packets += c.tx_packets;
    out.tx_bytes += c.tx_bytes;
    out.tx_dropped += c.tx_dropped;
    out.buffers_in_use += c.buffers;
  }
  return out;
}

std::vector<std::string> UdpDevice::features() const {
  return {absl::StrFormat("interface: %s", name_.interface),
          absl::StrFormat("line rate: %d Mb/s, %s", caps_.line_rate.count() / 1'000'000,
                          options_.line_rate > Rate(0) ? "as configured"
                          : interface_.rate > Rate(0)  ? "of the link"
                                                       : "assumed: the interface does not say"),
          absl::StrFormat("mtu: %u", caps_.mtu),
          absl::StrFormat("queues: %u of %u asked for", queues(), options_.queues),
          absl::StrFormat("paths: %u sockets a queue", name_.paths),
          "payload: copied by the kernel",
          "arrival: the time of the poll"};
}

DeviceFacts UdpDevice::facts() const {
  DeviceFacts facts{.driver = "udp_" + (interface_.driver.empty() ? "virtual" : interface_.driver),
                    .library = "Linux",
                    .firmware = "",
                    .queues_max = kQueuesMost,
                    .mtu_max = std::min(interface_.mtu, kMtuMost),
                    .numa_node = interface_.numa_node};
  facts.abilities = {
      {"payload in place", false, false, "payload is copied by the kernel"},
      {"IPv4 checksum of received packets", true, true, ""},
      {"VLAN tags written", false, false, "the VLAN is the network interface's"},
      {"VLAN tags taken off", false, false, "the VLAN is the network interface's"},
      {"spreading over queues by a hash", false, false, "a queue is a UDP port"},
      {"receive time stamps", false, false, "the time of the poll"},
      {"sending at a time given", false, false, "paced by the core"},
      {"flow rules for Weir's ports", true, true, ""},
      {"a queue pair for each path", false, false, "a socket for each path"},
      {"ECN marks shown", true, true, ""},
  };
  return facts;
}

bool UdpDevice::link_up() const {
  const absl::StatusOr<InterfaceFacts> now = LookAtInterface(name_.interface);
  return now.ok() && now->up;
}

absl::Status UdpDevice::SetLink(bool up) {
  return absl::UnimplementedError(absl::StrFormat("the link is the kernel's: ip link set %s %s",
                                                  name_.interface, up ? "up" : "down"));
}

bool UdpDevice::gone() const { return if_nametoindex(name_.interface.c_str()) == 0; }

// The kernel finds the next hop; whether there is a way to it is known at once.
absl::Status UdpDevice::Resolve(NetAddress& remote) {
  if (remote.v6 != address_.v6) {
    return absl::NotFoundError(absl::StrFormat("%s has IPv%d and this device IPv%d", IpText(remote),
                                               remote.v6 ? 6 : 4, address_.v6 ? 6 : 4));
  }
  absl::StatusOr<UdpSocket> trial = UdpSocket::Open(address_, 0);
  if (!trial.ok()) return trial.status();
  const SocketAddress to = ToSocketAddress(remote, kUdpPort);
  if (connect(trial->fd(), to.get(), to.size) != 0) {
    return absl::NotFoundError(
        absl::StrFormat("there is no way from %s to %s: %s (ip route get %s)", IpText(address_),
                        IpText(remote), std::strerror(errno), IpText(remote)));
  }
  remote.mac = MadeUpMac(remote);
  return absl::OkStatus();
}

}  // namespace weir
