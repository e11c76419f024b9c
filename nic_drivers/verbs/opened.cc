#include "nic_drivers/verbs/opened.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/verbs/listing.h"

namespace weir {
namespace {

std::string Names() {
  const std::vector<std::string> names = ListVerbsDevices();
  return names.empty() ? "none (rdma link; modprobe ib_uverbs)" : absl::StrJoin(names, ", ");
}

// What belongs to the kernel's side of such a device.
absl::Status CheckOptions(const DeviceOptions& options) {
  const std::string& device = options.device;
  if (options.vlan >= 0) {
    return absl::UnimplementedError(absl::StrFormat(
        "%s: the VLAN of an RDMA device is that of its address's interface; give the address to a "
        "VLAN interface (ip link add link <interface> name <interface>.%d type vlan id %d) and "
        "leave the option out",
        device, options.vlan, options.vlan));
  }
  if (!options.neighbours.empty() || !options.gateway.empty()) {
    return absl::InvalidArgumentError(
        device +
        ": routes and neighbours of an RDMA device are the kernel's (ip route, ip neigh); "
        "leave out gateway and neighbours");
  }
  if (!options.arguments.empty()) {
    return absl::InvalidArgumentError(
        device + ": this driver takes no arguments for a library: " + options.arguments.front());
  }
  return absl::OkStatus();
}

absl::Status OpenContext(OpenedVerbs& o) {
  o.context = OpenVerbsContext(o.name.device);
  if (o.context == nullptr) {
    return absl::NotFoundError(absl::StrFormat("RDMA device %s cannot be opened: %s; there are: %s",
                                               o.name.device, std::strerror(errno), Names()));
  }
  if (ibv_query_device(o.context.get(), &o.attributes) != 0) {
    return VerbsError(o.context.get(), "it does not say what it can do");
  }
  if (o.name.port > o.attributes.phys_port_cnt ||
      ibv_query_port(o.context.get(), o.name.port, &o.port) != 0) {
    return absl::NotFoundError(absl::StrFormat("RDMA device %s has no port %d; it has %d",
                                               o.name.device, o.name.port,
                                               o.attributes.phys_port_cnt));
  }
  if (o.port.link_layer != IBV_LINK_LAYER_ETHERNET ||
      o.context->device->transport_type != IBV_TRANSPORT_IB) {
    return absl::UnimplementedError(absl::StrFormat(
        "port %d of RDMA device %s speaks %s, and this driver RoCE v2", o.name.port, o.name.device,
        o.context->device->transport_type == IBV_TRANSPORT_IWARP ? "iWARP" : "InfiniBand"));
  }
  o.domain.reset(ibv_alloc_pd(o.context.get()));
  if (o.domain == nullptr) return VerbsError(o.context.get(), "no protection domain can be had");
  return absl::OkStatus();
}

absl::Status ChooseAddress(const DeviceOptions& options, OpenedVerbs& o) {
  NetAddress wanted;
  if (!options.address.empty()) {
    absl::StatusOr<Subnet> subnet = ParseSubnet(options.address);
    if (!subnet.ok()) return subnet.status();
    wanted = subnet->address;
  }
  absl::StatusOr<GidEntry> gid = ChooseGid(o.name.device, GidsOf(o.context.get(), o.name.port),
                                           o.name.gid, options.address.empty() ? nullptr : &wanted);
  if (!gid.ok()) return gid.status();
  o.gid = *gid;
  o.address = AddressOfGid(o.gid.gid);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpenedVerbs> OpenedVerbs::Open(const DeviceOptions& options) {
  absl::StatusOr<VerbsName> name = ParseVerbsName(options.device);
  if (!name.ok()) return name.status();
  OpenedVerbs opened{.name = *std::move(name)};
  absl::Status status = CheckOptions(options);
  if (status.ok()) status = OpenContext(opened);
  if (status.ok()) status = ChooseAddress(options, opened);
  if (!status.ok()) return status;
  return opened;
}

}  // namespace weir
