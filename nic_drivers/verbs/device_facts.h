// What an RDMA device says of itself.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

#include "datapath/api/units.h"

namespace weir {

inline uint32_t MtuBytes(ibv_mtu mtu) { return 128u << static_cast<uint32_t>(mtu); }
// Of the link, by its speed and width; 100 Gb/s where it says neither.
Rate PortRate(const ibv_port_attr& port);
// The kernel's driver: "mlx5_core"; of a software device its description: "rxe".
std::string RdmaKernelDriver(const std::string& device);
// -1: none, or not known.
int RdmaNumaNode(const std::string& device);

}  // namespace weir
