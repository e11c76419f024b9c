// Address resolution on the wire: ARP (RFC 826) and neighbour discovery (RFC 4861,
// section 4.3, 4.4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "datapath/wire.h"

namespace weir {

// Longest frame written here: Ethernet, IPv6, and a message with one option.
inline constexpr uint32_t kNeighbourFrame = kEthernetBytes + 40 + 32;

// Where questions for an IPv6 address are sent (RFC 4291 section 2.7.1, RFC 2464 section 7).
std::array<uint8_t, 6> SolicitedGroup(const std::array<uint8_t, 16>& ip);
// Asks for the MAC address of `target`; returns the frame's size. `out` has kNeighbourFrame bytes.
uint32_t WriteQuestion(const NetAddress& self, const NetAddress& target, std::byte* out);

// What a received frame tells and what it wants.
struct NeighbourNews {
  bool valid = false;    // else it is no message of these protocols, or a damaged one
  bool learned = false;  // `neighbour` has IP and MAC of another host
  NetAddress neighbour{};
  uint32_t answer = 0;  // bytes written to `out`: to be sent; 0: nothing to answer
};
// `ip_at`: where ARP or IPv6 begins. `out` has kNeighbourFrame bytes.
NeighbourNews ReadNeighbourFrame(const NetAddress& self, std::span<const std::byte> frame,
                                 uint32_t ip_at, std::byte* out);

}  // namespace weir
