#include "nic_drivers/verbs/reliable_pair.h"

#include <cerrno>
#include <cstring>

namespace weir {
namespace {

constexpr uint8_t kHopLimit = 64;
// The device asks again after 4.096 us x 2^15, 134 ms, and gives up after the eighth time: in about
// a second, before Weir's patience ends, so that the cause is the device's own.
constexpr uint8_t kTimeout = 15;
constexpr uint8_t kRetries = 7;
// A peer without receive buffers is asked again, for as long as Weir's patience lasts.
constexpr uint8_t kRetriesNotReady = 7;
constexpr uint8_t kNotReadyTimer = 12;  // 0.64 ms

}  // namespace

absl::StatusOr<VerbsQp> MakeReliablePair(const ReliablePairConfig& config, uint32_t& inline_bytes) {
  ibv_qp_init_attr attributes{};
  attributes.qp_type = IBV_QPT_RC;
  attributes.send_cq = attributes.recv_cq = config.completions;
  attributes.srq = config.arrivals;
  attributes.cap.max_send_wr = config.sends;
  attributes.cap.max_send_sge = config.parts;
  attributes.cap.max_inline_data = config.inline_bytes;
  VerbsQp pair(ibv_create_qp(config.domain, &attributes));
  if (pair == nullptr) return VerbsError(config.domain->context, "no RC queue pair can be had");
  inline_bytes = attributes.cap.max_inline_data;
  ibv_qp_attr init{};
  init.qp_state = IBV_QPS_INIT;
  init.port_num = config.port;
  init.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  const int error = ibv_modify_qp(
      pair.get(), &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (error == 0) return pair;
  errno = error;
  return VerbsError(config.domain->context, "an RC queue pair cannot be set up");
}

absl::Status ConnectReliablePair(const ReliablePairConfig& config, ibv_qp* pair, uint32_t psn,
                                 const ReliablePeer& peer) {
  ibv_qp_attr receive{};
  receive.qp_state = IBV_QPS_RTR;
  receive.path_mtu = static_cast<ibv_mtu>(peer.mtu);
  receive.dest_qp_num = peer.pair.number;
  receive.rq_psn = peer.pair.psn;
  receive.max_dest_rd_atomic = 1;
  receive.min_rnr_timer = kNotReadyTimer;
  receive.ah_attr.is_global = 1;
  receive.ah_attr.port_num = config.port;
  std::memcpy(receive.ah_attr.grh.dgid.raw, peer.gid.data(), peer.gid.size());
  receive.ah_attr.grh.sgid_index = config.gid_index;
  receive.ah_attr.grh.hop_limit = kHopLimit;
  receive.ah_attr.grh.flow_label = peer.flow_label;
  receive.ah_attr.grh.traffic_class = static_cast<uint8_t>(peer.dscp << 2);
  int error = ibv_modify_qp(pair, &receive,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  ibv_qp_attr send{};
  send.qp_state = IBV_QPS_RTS;
  send.sq_psn = psn;
  send.timeout = kTimeout;
  send.retry_cnt = kRetries;
  send.rnr_retry = kRetriesNotReady;
  send.max_rd_atomic = 1;
  if (error == 0) {
    error = ibv_modify_qp(pair, &send,
                          IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                              IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  }
  if (error == 0) return absl::OkStatus();
  errno = error;
  return VerbsError(config.domain->context, "an RC queue pair cannot be connected");
}

void StopReliablePair(ibv_qp* pair) {
  ibv_qp_attr stop{};
  stop.qp_state = IBV_QPS_ERR;
  (void)ibv_modify_qp(pair, &stop, IBV_QP_STATE);
}

}  // namespace weir
