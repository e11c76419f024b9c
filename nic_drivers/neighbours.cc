#include "nic_drivers/neighbours.h"

#include "absl/strings/str_format.h"

namespace weir {

absl::StatusOr<Neighbours> Neighbours::Create(const Subnet& subnet, const DeviceOptions& options) {
  Neighbours out;
  out.subnet_ = subnet;
  if (!options.gateway.empty()) {
    absl::StatusOr<NetAddress> gateway = ParseIp(options.gateway);
    if (!gateway.ok()) return gateway.status();
    if (gateway->v6 != subnet.address.v6) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "gateway %s and address %s are not of one IP version", options.gateway, options.address));
    }
    out.gateway_ = *gateway;
  }
  for (const auto& [ip_text, mac_text] : options.neighbours) {
    absl::StatusOr<NetAddress> ip = ParseIp(ip_text);
    if (!ip.ok()) return ip.status();
    absl::StatusOr<MacAddress> mac = ParseMac(mac_text);
    if (!mac.ok()) return mac.status();
    Entry& entry = out.entries_[ip->ip];
    entry.mac = *mac;
    entry.fixed = true;
  }
  return out;
}

// Whoever the user named has priority over the gateway.
absl::StatusOr<NetAddress> Neighbours::NextHop(const NetAddress& remote) const {
  if (remote.v6 != subnet_.address.v6) {
    return absl::NotFoundError(absl::StrFormat("%s is not of the IP version of this device's %s",
                                               IpText(remote), IpText(subnet_.address)));
  }
  if (remote.ip == subnet_.address.ip) {
    return absl::NotFoundError(absl::StrFormat("%s is this device itself", IpText(remote)));
  }
  const auto found = entries_.find(remote.ip);
  const bool fixed = found != entries_.end() && found->second.fixed;
  if (fixed || subnet_.Contains(remote)) return remote;
  if (gateway_.has_value()) return *gateway_;
  return absl::NotFoundError(
      absl::StrFormat("%s is not on the link of %s/%d and no gateway is configured; give one",
                      IpText(remote), IpText(subnet_.address), subnet_.prefix));
}

absl::Status Neighbours::Resolve(Time now, NetAddress& remote, std::optional<NetAddress>& ask) {
  const absl::StatusOr<NetAddress> hop = NextHop(remote);
  if (!hop.ok()) return hop.status();
  Entry& entry = entries_[hop->ip];
  if (entry.mac.has_value()) {
    remote.mac = *entry.mac;
    return absl::OkStatus();
  }
  const Duration since = now - entry.asked_at;
  if (entry.tries >= kTries && since >= kAgain + kGone) entry.tries = 0;
  if (entry.tries >= kTries && since >= kAgain) {
    return absl::NotFoundError(absl::StrFormat(
        "nobody answers for %s; is that host up, in the same network, and is the queue polled?",
        IpText(*hop)));
  }
  if (entry.tries == 0 || (entry.tries < kTries && since >= kAgain)) {
    ++entry.tries;
    entry.asked_at = now;
    ask = *hop;
  }
  return absl::UnavailableError(absl::StrFormat("%s is being asked for", IpText(*hop)));
}

void Neighbours::Learn(const NetAddress& neighbour) {
  auto found = entries_.find(neighbour.ip);
  if (found == entries_.end()) {
    if (entries_.size() >= kMax) return;
    found = entries_.emplace(neighbour.ip, Entry{}).first;
  }
  if (!found->second.fixed) found->second.mac = neighbour.mac;
}

}  // namespace weir
