#include "nic_drivers/verbs/queue_pairs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"

namespace weir {

absl::Status VerbsError(const ibv_context* device, const char* what) {
  const int error = errno;
  const char* remedy = "";
  if (error == ENOMEM || error == EPERM) {
    remedy = "; raise the limit of locked memory (ulimit -l), or ask for fewer queues or paths";
  }
  return absl::UnavailableError(absl::StrFormat("%s: %s: %s%s", ibv_get_device_name(device->device),
                                                what, std::strerror(error), remedy));
}

absl::StatusOr<QueuePairs> QueuePairs::Create(const Config& config) {
  QueuePairs out;
  out.config_ = config;
  const auto entries = [](uint32_t n) { return static_cast<int>(n); };
  out.sent_.reset(ibv_create_cq(config.device, entries(config.sends), nullptr, nullptr, 0));
  out.received_.reset(ibv_create_cq(config.device, entries(config.receives), nullptr, nullptr, 0));
  if (out.sent_ == nullptr || out.received_ == nullptr) {
    return VerbsError(config.device, "no completion queue can be had");
  }
  ibv_srq_init_attr buffers{};
  buffers.attr.max_wr = config.receives;
  buffers.attr.max_sge = 1;
  out.buffers_.reset(ibv_create_srq(config.domain, &buffers));
  if (out.buffers_ == nullptr) {
    return VerbsError(config.device, "no shared queue of receive buffers can be had");
  }
  out.inline_bytes_ = config.inline_bytes;
  for (uint32_t path = 0; path < config.paths; ++path) {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_UD;
    attributes.send_cq = out.sent_.get();
    attributes.recv_cq = out.received_.get();
    attributes.srq = out.buffers_.get();
    attributes.cap.max_send_wr = config.sends;
    attributes.cap.max_send_sge = 2;  // headers, and payload in place
    attributes.cap.max_inline_data = config.inline_bytes;
    VerbsQp pair(ibv_create_qp(config.domain, &attributes));
    if (pair == nullptr) return VerbsError(config.device, "no UD queue pair can be had");
    out.inline_bytes_ = std::min(out.inline_bytes_, attributes.cap.max_inline_data);
    if (absl::Status status = out.MakeReady(pair.get()); !status.ok()) return status;
    out.pairs_.push_back(std::move(pair));
  }
  return out;
}

absl::Status QueuePairs::MakeReady(ibv_qp* pair) const {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = 0;
  attributes.port_num = config_.port;
  attributes.qkey = config_.key;
  int error = ibv_modify_qp(pair, &attributes,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  attributes.qp_state = IBV_QPS_RTR;
  if (error == 0) error = ibv_modify_qp(pair, &attributes, IBV_QP_STATE);
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = 0;
  if (error == 0) error = ibv_modify_qp(pair, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN);
  if (error == 0) return absl::OkStatus();
  errno = error;
  return VerbsError(config_.device, "a queue pair cannot be made ready");
}

absl::Status QueuePairs::Revive(uint32_t path) const {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RESET;
  const int error = ibv_modify_qp(pair(path), &attributes, IBV_QP_STATE);
  if (error == 0) return MakeReady(pair(path));
  errno = error;
  return VerbsError(config_.device, "a queue pair that failed cannot be reset");
}

}  // namespace weir
