// What a received frame is, and for whom, by its headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datapath/wire.h"

namespace weir {

enum class Arrival : uint8_t { kWeir, kNeighbour, kForeign };

struct Sorted {
  Arrival kind = Arrival::kForeign;
  uint16_t worker = 0;  // of Weir's frames: [0, kWorkersMax)
  uint32_t length = 0;  // what the IP header says that the frame is long; the rest is padding
  uint32_t header = 0;  // of Weir's data packets: bytes before the payload; else 0
  uint32_t ip_at = 0;   // of neighbour messages: where ARP or IPv6 begins
};

class Sorter {
 public:
  // `vlan`: the tag that frames must have; -1: none, or tag 0, which is a priority only.
  Sorter(const NetAddress& self, int vlan) : self_(self), vlan_(vlan) {}

  // `head` is the first segment. `stripped`: the tag that the device took off; -1: none.
  Sorted Sort(std::span<const std::byte> head, int stripped) const;

 private:
  bool IsSelf(const std::byte* ip) const;

  NetAddress self_;
  int vlan_;
};

}  // namespace weir
