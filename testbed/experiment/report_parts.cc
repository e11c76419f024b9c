#include "testbed/experiment/report_parts.h"

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "datapath/text/quantity_text.h"

namespace weir {

std::string DepthText(const Depth& depth) {
  return depth.bdps > 0 ? absl::StrFormat("%gbdp", depth.bdps) : Format(depth.bytes);
}
const char* LastHopText(FabricSpec::LastHop last_hop) {
  switch (last_hop) {
    case FabricSpec::LastHop::kAuto:
      return "auto (off for algorithms whose receiver grants)";
    case FabricSpec::LastHop::kOn:
      return "on";
    case FabricSpec::LastHop::kOff:
      return "off";
  }
  return "?";
}

const char* Name(HomeKind home) {
  switch (home) {
    case HomeKind::kVirtual:
      return "virtual";
    case HomeKind::kLoopback:
      return "loopback";
    case HomeKind::kPorts:
      return "ports";
    case HomeKind::kRdma:
      return "rdma";
  }
  return "?";
}

std::string PortsText(const Experiment& e) {
  return absl::StrJoin(e.ports, ", ",
                       [](std::string* out, const DeviceOptions& port) { *out += port.device; });
}

std::string HomeText(const Experiment& e) {
  if (e.home == HomeKind::kVirtual) return "virtual time";
  if (e.home == HomeKind::kPorts) {
    return absl::StrFormat("ports %s, in real time; time scale %g", PortsText(e),
                           e.time_scale == 0 ? 1 : e.time_scale);
  }
  if (e.home == HomeKind::kRdma) {
    return absl::StrFormat("RDMA mode over %s, in real time; time scale %g", PortsText(e),
                           e.time_scale == 0 ? 1 : e.time_scale);
  }
  if (e.time_scale == 0) return "loopback, in real time; time scale chosen for the machine";
  return absl::StrFormat("loopback, in real time; time scale %g", e.time_scale);
}

}  // namespace weir
