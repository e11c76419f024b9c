// A transformer's step over pipeline, tensor, expert and data parallel ranks.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "testbed/traffic/templates.h"

namespace weir {
namespace {

class Transformer {
 public:
  Transformer(const TransformerJob& job, Rng& rng)
      : job_(job),
        rng_(rng),
        w_(absl::StrFormat("transformer: %d pipeline x %d data x %d tensor, %d expert",
                           job.pipeline, job.data, job.tensor, job.expert),
           job.tensor * job.data * job.pipeline),
        per_stage_(job.tensor * job.data) {
    for (uint32_t stage = 0; stage < job.pipeline; ++stage) {
      tensor_.push_back(Groups(stage, job.tensor, 1));
      expert_.push_back(Groups(stage, job.expert, 1));
      data_.push_back(Groups(stage, job.data, job.tensor));
    }
  }

  Workload Make() {
    for (uint32_t step = 0; step < job_.steps; ++step) {
      for (uint32_t stage = 0; stage < job_.pipeline; ++stage) Stage(stage, step);
      for (uint32_t rank = 0; rank < w_.ranks(); ++rank) w_.EndStep(rank);
    }
    return w_.Take();
  }

 private:
  // One direction each, so that no send waits behind one of the other direction.
  static constexpr uint32_t kSendForward = 2;
  static constexpr uint32_t kRecvForward = 3;
  static constexpr uint32_t kSendBackward = 4;
  static constexpr uint32_t kRecvBackward = 5;

  struct Group {
    uint32_t communicator;
    std::vector<uint32_t> ranks;
  };

  // The ranks of a stage in groups of `size`, whose members are `stride` apart.
  std::vector<Group> Groups(uint32_t stage, uint32_t size, uint32_t stride) {
    std::vector<Group> groups;
    if (size < 2) return groups;
    const uint32_t first = stage * per_stage_;
    for (uint32_t block = 0; block < per_stage_; block += size * stride) {
      for (uint32_t i = 0; i < stride; ++i) {
        std::vector<uint32_t> ranks;
        for (uint32_t k = 0; k < size; ++k) ranks.push_back(first + block + i + k * stride);
        groups.push_back({w_.AddCommunicator(ranks), ranks});
      }
    }
    return groups;
  }

  // One forward, one backward: as many forward passes as there are stages behind, then in turn.
  void Stage(uint32_t stage, uint32_t step) {
    const uint32_t warm_up = std::min(job_.pipeline - 1 - stage, job_.micro_batches);
    uint32_t forward = 0;
    for (; forward < warm_up; ++forward) Forward(stage, step, forward);
    for (uint32_t backward = 0; backward < job_.micro_batches; ++backward) {
      if (forward < job_.micro_batches) Forward(stage, step, forward++);
      Backward(stage, step, backward);
    }
    for (Bytes at{}; at < job_.gradients && !data_[stage].empty(); at += job_.bucket) {
      const Bytes size = std::min(job_.bucket, job_.gradients - at);
      CallGroups(data_[stage], {.kind = CollectiveKind::kReduceScatter, .size = size});
      CallGroups(data_[stage], {.kind = CollectiveKind::kAllGather, .size = size});
    }
  }

  void Forward(uint32_t stage, uint32_t step, uint32_t batch) {
    if (stage > 0) Receive(stage, stage - 1, kRecvForward, Tag(step, batch, 0));
    for (uint32_t layer = 0; layer < job_.layers; ++layer) Layer(stage, job_.layer_forward);
    if (stage + 1 < job_.pipeline) Send(stage, stage + 1, kSendForward, Tag(step, batch, 0));
  }
  void Backward(uint32_t stage, uint32_t step, uint32_t batch) {
    if (stage + 1 < job_.pipeline) Receive(stage, stage + 1, kRecvBackward, Tag(step, batch, 1));
    for (uint32_t layer = 0; layer < job_.layers; ++layer) Layer(stage, job_.layer_forward * 2);
    if (stage > 0) Send(stage, stage - 1, kSendBackward, Tag(step, batch, 1));
  }
  uint32_t Tag(uint32_t step, uint32_t batch, uint32_t direction) const {
    return (step * job_.micro_batches + batch) * 2 + direction;
  }

  // Attention, then feed-forward; each ends in an all-reduce of its tensor group. Experts are
  // between a dispatch and a combine.
  void Layer(uint32_t stage, Duration compute) {
    ComputeAll(stage, compute / 2);
    AllReduceTensor(stage);
    if (!expert_[stage].empty()) Exchange(stage, job_.dispatch, "alltoall dispatch");
    ComputeAll(stage, compute - compute / 2);
    if (!expert_[stage].empty()) Exchange(stage, job_.combine, "alltoall combine");
    AllReduceTensor(stage);
  }
  void AllReduceTensor(uint32_t stage) {
    if (tensor_[stage].empty()) return;
    const Bytes size = job_.tensor_size == Bytes(0) ? job_.activation : job_.tensor_size;
    CallGroups(tensor_[stage], {.kind = CollectiveKind::kAllReduce, .size = size});
    ComputeAwaits(stage);
  }
  void Exchange(uint32_t stage, Bytes size, const char* name) {
    CallGroups(expert_[stage], {.kind = CollectiveKind::kAllToAll, .size = size, .name = name});
    ComputeAwaits(stage);
  }

  struct Template {
    CollectiveKind kind;
    Bytes size;
    const char* name = "";
  };
  void CallGroups(const std::vector<Group>& groups, const Template& what) {
    for (const Group& group : groups) {
      const bool uneven = what.kind == CollectiveKind::kAllToAll && job_.dirichlet > 0;
      const uint32_t call = w_.AddCall(
          {.communicator = group.communicator,
           .kind = what.kind,
           .size = what.size,
           .matrix = uneven ? MatrixOf(DirichletShares(static_cast<uint32_t>(group.ranks.size()),
                                                       job_.dirichlet, rng_),
                                       what.size)
                            : std::vector<Bytes>{},
           .name = what.name});
      for (const uint32_t rank : group.ranks) {
        w_.AwaitStream(rank, WorkloadWriter::kComm, WorkloadWriter::kCompute);
        w_.Call(rank, call);
      }
    }
  }

  template <class Fn>
  void ForStage(uint32_t stage, Fn fn) {
    for (uint32_t i = 0; i < per_stage_; ++i) fn(stage * per_stage_ + i);
  }
  void ComputeAll(uint32_t stage, Duration length) {
    ForStage(stage, [&](uint32_t rank) { w_.Compute(rank, length); });
  }
  void ComputeAwaits(uint32_t stage) {
    ForStage(stage, [&](uint32_t rank) {
      w_.AwaitStream(rank, WorkloadWriter::kCompute, WorkloadWriter::kComm);
    });
  }
  // With tensor parallelism each rank carries its part of the activation.
  Bytes ActivationPart() const { return job_.activation / job_.tensor; }
  void Send(uint32_t stage, uint32_t to, uint32_t stream, uint32_t tag) {
    ForStage(stage, [&](uint32_t rank) {
      w_.AwaitStream(rank, stream, WorkloadWriter::kCompute);
      w_.AwaitStream(rank, stream, WorkloadWriter::kComm);
      w_.Send(rank, rank - stage * per_stage_ + to * per_stage_, ActivationPart(), tag, stream);
    });
  }
  void Receive(uint32_t stage, uint32_t from, uint32_t stream, uint32_t tag) {
    ForStage(stage, [&](uint32_t rank) {
      w_.Recv(rank, rank - stage * per_stage_ + from * per_stage_, ActivationPart(), tag, stream);
      w_.AwaitStream(rank, WorkloadWriter::kCompute, stream);
    });
  }

  const TransformerJob& job_;
  Rng& rng_;
  WorkloadWriter w_;
  uint32_t per_stage_;
  std::vector<std::vector<Group>> tensor_;  // by stage
  std::vector<std::vector<Group>> expert_;
  std::vector<std::vector<Group>> data_;
};

}  // namespace

Workload MakeTransformer(const TransformerJob& job, Rng& rng) {
  return Transformer(job, rng).Make();
}

}  // namespace weir
