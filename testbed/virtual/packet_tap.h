// Who wants to see every packet of a world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datapath/api/units.h"
#include "testbed/fabric/packet.h"

namespace weir {

class PacketTap {
 public:
  // A host hands a packet to its link.
  virtual void OnInject(Time now, uint32_t host, PacketId id, const Packet& packet,
                        std::span<const std::byte> headers) = 0;
  // It has come to its host, whole or trimmed.
  virtual void OnDeliver(Time now, PacketId id, const Packet& packet) = 0;

 protected:
  ~PacketTap() = default;
};

}  // namespace weir
