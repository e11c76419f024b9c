#include "nic_drivers/verbs/peers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/verbs/flow_label.h"

namespace weir {
namespace {

constexpr uint8_t kHopLimit = 64;
// Not ECN-capable: the device that receives does not show marks, so a switch is to drop instead.
constexpr uint8_t kDataTrafficClass = 0;
constexpr uint8_t kControlTrafficClass = kDscpControl << 2;

bool Same(const PeerMessage& a, const PeerMessage& b) {
  return a.address == b.address && a.gid == b.gid && a.key == b.key && a.queues == b.queues &&
         a.pairs == b.pairs;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Peer>> Peer::Create(const Local& local,
                                                         const PeerMessage& message) {
  std::shared_ptr<Peer> peer(new Peer(message));
  for (uint32_t path = 0; path < local.paths; ++path) {
    for (const bool control : {false, true}) {
      ibv_ah_attr attributes{};
      attributes.is_global = 1;
      attributes.port_num = local.port;
      std::memcpy(attributes.grh.dgid.raw, message.gid.data(), message.gid.size());
      attributes.grh.sgid_index = local.gid_index;
      attributes.grh.hop_limit = kHopLimit;
      attributes.grh.flow_label = FlowLabelOfPath(path);
      attributes.grh.traffic_class = control ? kControlTrafficClass : kDataTrafficClass;
      ibv_ah* handle = ibv_create_ah(local.domain, &attributes);
      if (handle == nullptr) {
        return absl::NotFoundError(absl::StrFormat(
            "the RDMA device finds no way to %s: %s; look at routes and neighbours (ip route get)",
            IpText(message.address), std::strerror(errno)));
      }
      peer->handles_.push_back(handle);
    }
  }
  return std::shared_ptr<const Peer>(std::move(peer));
}

Peer::~Peer() {
  for (ibv_ah* handle : handles_) (void)ibv_destroy_ah(handle);
}

absl::Status PeerTable::Learn(const PeerMessage& message) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(message.address.ip);
    if (found != peers_.end() && Same(found->second->message(), message)) return absl::OkStatus();
  }
  absl::StatusOr<std::shared_ptr<const Peer>> peer = Peer::Create(local_, message);
  if (!peer.ok()) return peer.status();
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Peer>& at = peers_[message.address.ip];
  if (at != nullptr) replaced_.push_back(at);
  at = *std::move(peer);
  version_.fetch_add(1, std::memory_order_release);
  return absl::OkStatus();
}

PeerMap PeerTable::Copy() const {
  const std::lock_guard lock(mutex_);
  return peers_;
}

}  // namespace weir
