// The UD queue pairs of one queue: one for each path, with a queue of receive buffers and two
// completion queues that they share.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace weir {

// Frees what a pointer of rdma-core's stands for.
template <auto kFree>
struct VerbsFree {
  template <class T>
  void operator()(T* object) const {
    (void)kFree(object);
  }
};
using VerbsContext = std::unique_ptr<ibv_context, VerbsFree<ibv_close_device>>;
using VerbsDomain = std::unique_ptr<ibv_pd, VerbsFree<ibv_dealloc_pd>>;
using VerbsCq = std::unique_ptr<ibv_cq, VerbsFree<ibv_destroy_cq>>;
using VerbsSrq = std::unique_ptr<ibv_srq, VerbsFree<ibv_destroy_srq>>;
using VerbsQp = std::unique_ptr<ibv_qp, VerbsFree<ibv_destroy_qp>>;
using VerbsMr = std::unique_ptr<ibv_mr, VerbsFree<ibv_dereg_mr>>;

// "rxe0: a completion queue cannot be had: ...", from errno.
absl::Status VerbsError(const ibv_context* device, const char* what);

class QueuePairs {
 public:
  struct Config {
    ibv_context* device = nullptr;
    ibv_pd* domain = nullptr;
    uint8_t port = 1;
    uint32_t key = 0;       // Q_Key
    uint32_t paths = 1;     // queue pairs
    uint32_t sends = 0;     // on their way at a time, of each and of all together
    uint32_t receives = 0;  // buffers waiting, of all together
    uint32_t inline_bytes = 0;
  };
  // Ready to send and to receive.
  static absl::StatusOr<QueuePairs> Create(const Config& config);

  uint32_t paths() const { return static_cast<uint32_t>(pairs_.size()); }
  ibv_qp* pair(uint32_t path) const { return pairs_[path].get(); }
  ibv_cq* sent() const { return sent_.get(); }
  ibv_cq* received() const { return received_.get(); }
  ibv_srq* buffers() const { return buffers_.get(); }
  uint32_t inline_bytes() const { return inline_bytes_; }  // that all of them take
  // After a failure: the same number, working again. Nothing of it may be on its way.
  absl::Status Revive(uint32_t path) const;

 private:
  absl::Status MakeReady(ibv_qp* pair) const;

  Config config_;
  uint32_t inline_bytes_ = 0;
  VerbsCq sent_, received_;
  VerbsSrq buffers_;
  std::vector<VerbsQp> pairs_;  // the last, so that they go first
};

}  // namespace weir
