#include "nic_drivers/address_text.h"

#include <arpa/inet.h>

#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace weir {
namespace {

constexpr int kV4Bits = 32;
constexpr int kV6Bits = 128;
constexpr size_t kV4At = 12;  // where IPv4 stands in NetAddress::ip

}  // namespace

absl::StatusOr<NetAddress> ParseIp(const std::string& text) {
  NetAddress out;
  if (inet_pton(AF_INET, text.c_str(), out.ip.data() + kV4At) == 1) return out;
  out.v6 = true;
  if (inet_pton(AF_INET6, text.c_str(), out.ip.data()) == 1) return out;
  return absl::InvalidArgumentError(
      absl::StrFormat("\"%s\" is no IP address; write 10.0.0.1 or fd00::1", text));
}

bool Subnet::Contains(const NetAddress& other) const {
  if (other.v6 != address.v6) return false;
  const size_t from = address.v6 ? 0 : kV4At;
  for (int bit = 0; bit < prefix; ++bit) {
    const size_t at = from + static_cast<size_t>(bit / 8);
    const int mask = 0x80 >> bit % 8;
    if (((other.ip[at] ^ address.ip[at]) & mask) != 0) return false;
  }
  return true;
}

absl::StatusOr<Subnet> ParseSubnet(const std::string& text) {
  const size_t slash = text.find('/');
  absl::StatusOr<NetAddress> ip = ParseIp(text.substr(0, slash));
  if (!ip.ok()) return ip.status();
  const int bits = ip->v6 ? kV6Bits : kV4Bits;
  Subnet out{.address = *ip, .prefix = bits};
  if (slash == std::string::npos) return out;
  const bool number = absl::SimpleAtoi(text.substr(slash + 1), &out.prefix);
  if (number && out.prefix >= 0 && out.prefix <= bits) return out;
  return absl::InvalidArgumentError(absl::StrFormat(
      "\"%s\": the length behind the slash is a number up to %d, as in 10.0.0.1/24", text, bits));
}

absl::StatusOr<MacAddress> ParseMac(const std::string& text) {
  MacAddress mac{};
  int end = 0;
  const int fields = std::sscanf(text.c_str(), "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0],
                                 &mac[1], &mac[2], &mac[3], &mac[4], &mac[5], &end);
  if (fields == 6 && static_cast<size_t>(end) == text.size()) return mac;
  return absl::InvalidArgumentError(
      absl::StrFormat("\"%s\" is no MAC address; write 02:00:00:00:00:01", text));
}

std::string IpText(const NetAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const uint8_t* from = address.ip.data() + (address.v6 ? 0 : kV4At);
  inet_ntop(address.v6 ? AF_INET6 : AF_INET, from, text, sizeof text);
  return text;
}

std::string MacText(const MacAddress& mac) {
  return absl::StrFormat("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
                         mac[5]);
}

}  // namespace weir
