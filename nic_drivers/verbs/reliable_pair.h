// One RC queue pair: made, connected, ended.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "nic_drivers/verbs/link_message.h"
#include "nic_drivers/verbs/queue_pairs.h"

namespace weir {

struct ReliablePairConfig {
  ibv_pd* domain = nullptr;
  ibv_cq* completions = nullptr;
  ibv_srq* arrivals = nullptr;
  uint8_t port = 1;
  uint8_t gid_index = 0;
  uint32_t sends = 0;  // on their way at a time
  uint32_t parts = 1;  // of a send
  uint32_t inline_bytes = 0;
};

// Made, and not connected. Sets `inline_bytes` to what it takes.
absl::StatusOr<VerbsQp> MakeReliablePair(const ReliablePairConfig& config, uint32_t& inline_bytes);

struct ReliablePeer {
  LinkMessage::Pair pair{};
  std::array<uint8_t, 16> gid{};
  uint8_t mtu = 1;  // ibv_mtu, of both
  uint8_t dscp = 0;
  uint32_t flow_label = 0;  // devices that do not choose the UDP source port by queue pair hash it
};
// Ready to send, from packet number `psn` on, and to receive.
absl::Status ConnectReliablePair(const ReliablePairConfig& config, ibv_qp* pair, uint32_t psn,
                                 const ReliablePeer& peer);
// Nothing more of it is sent or received.
void StopReliablePair(ibv_qp* pair);

}  // namespace weir
