#include "testbed/traffic/templates.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

using Writer = WorkloadWriter;

// Every rank of a communicator comes to a call on its communication stream.
uint32_t CallAll(Writer& w, const std::vector<uint32_t>& ranks, CollectiveCall call) {
  const uint32_t index = w.AddCall(std::move(call));
  for (const uint32_t rank : ranks) w.Call(rank, index);
  return index;
}

std::vector<uint32_t> Range(uint32_t first, uint32_t count, uint32_t stride = 1) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < count; ++i) out.push_back(first + i * stride);
  return out;
}

// Marsaglia and Tsang, 2000; for shapes below 1 by their note on U^(1/a).
double Gamma(double shape, Rng& rng) {
  if (shape < 1) return Gamma(shape + 1, rng) * std::pow(1 - rng.Unit(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double u = 1 - rng.Unit();
    const double normal = std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979 * rng.Unit());
    const double v = std::pow(1 + c * normal, 3);
    if (v <= 0) continue;
    if (std::log(1 - rng.Unit()) < normal * normal / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

}  // namespace

std::vector<double> DirichletShares(uint32_t n, double concentration, Rng& rng) {
  std::vector<double> shares(n);
  double sum = 0;
  for (double& share : shares) sum += share = Gamma(concentration, rng);
  for (double& share : shares) share = sum > 0 ? share / sum : 1.0 / n;
  return shares;
}

std::vector<Bytes> MatrixOf(const std::vector<double>& shares, Bytes size) {
  const size_t n = shares.size();
  std::vector<Bytes> matrix(n * n);
  for (size_t from = 0; from < n; ++from) {
    for (size_t to = 0; to < n; ++to) {
      if (from != to) matrix[from * n + to] = Scaled(size, shares[to]);
    }
  }
  return matrix;
}

Workload MakeCollectives(const CollectiveJob& job, Rng& rng) {
  Writer w(absl::StrFormat("%s over %d ranks", Name(job.kind), job.ranks), job.ranks);
  const std::vector<uint32_t> all = Range(0, job.ranks);
  std::vector<double> shares = job.shares;
  if (job.dirichlet > 0) shares = DirichletShares(job.ranks, job.dirichlet, rng);
  for (const Bytes size : job.sizes) {
    for (uint32_t i = 0; i < job.warmup + job.iterations; ++i) {
      CallAll(w, all,
              {.communicator = w.World(),
               .kind = job.kind,
               .size = size,
               .root = job.root,
               .matrix = shares.empty() ? std::vector<Bytes>{} : MatrixOf(shares, size),
               .name = i < job.warmup ? "warmup" : ""});
    }
  }
  return w.Take();
}

Workload MakeDdp(const DdpJob& job) {
  Writer w(absl::StrFormat("ddp over %d ranks", job.ranks), job.ranks);
  const Duration backward = Scaled(job.compute, job.backward);
  const Duration part = backward / static_cast<int64_t>(job.buckets.size());
  for (uint32_t step = 0; step < job.steps; ++step) {
    for (uint32_t rank = 0; rank < job.ranks; ++rank) w.Compute(rank, job.compute - backward);
    for (const Bytes bucket : job.buckets) {
      for (uint32_t rank = 0; rank < job.ranks; ++rank) {
        w.Await(rank, Writer::kComm, w.Compute(rank, part));
      }
      CallAll(w, Range(0, job.ranks),
              {.communicator = w.World(), .size = bucket, .matrix = {}, .name = {}});
    }
    for (uint32_t rank = 0; rank < job.ranks; ++rank) w.EndStep(rank);
  }
  return w.Take();
}

namespace {

class Fsdp {
 public:
  explicit Fsdp(const FsdpJob& job)
      : job_(job),
        w_(absl::StrFormat("fsdp (ZeRO-%d) over %d ranks", job.zero, job.ranks), job.ranks),
        shard_(job.ranks / job.replicas) {
    for (uint32_t r = 0; r < job.replicas; ++r) {
      shards_.push_back(w_.AddCommunicator(Range(r * shard_, shard_), "shard"));
    }
    for (uint32_t i = 0; job.replicas > 1 && i < shard_; ++i) {
      across_.push_back(w_.AddCommunicator(Range(i, job.replicas, shard_), "replicas"));
    }
  }

  Workload Make() {
    for (uint32_t step = 0; step < job_.steps; ++step) {
      Pass(job_.forward, job_.zero == 3, false);
      Pass(job_.backward, job_.zero == 3 && job_.reshard, true);
      if (job_.zero < 3) {
        // The optimizer's new weights.
        for (uint32_t unit = 0; unit < job_.units; ++unit) Gather();
      }
      for (uint32_t rank = 0; rank < job_.ranks; ++rank) w_.EndStep(rank);
    }
    return w_.Take();
  }

 private:
  // All units, each with its gather before and its reduction behind.
  void Pass(Duration compute, bool gathers, bool reduces) {
    std::vector<std::vector<uint32_t>> gathered;  // ops, by unit, then rank
    std::vector<std::vector<uint32_t>> computed;
    const auto gather = [&](uint32_t unit) {
      if (!gathers || unit >= job_.units) return;
      // A gather begins when the compute so many units before it has ended.
      if (unit > job_.prefetch) {
        for (uint32_t rank = 0; rank < job_.ranks; ++rank) {
          w_.Await(rank, Writer::kComm, computed[unit - job_.prefetch - 1][rank]);
        }
      }
      gathered.push_back(Gather());
    };
    for (uint32_t unit = 0; unit <= job_.prefetch; ++unit) gather(unit);
    for (uint32_t unit = 0; unit < job_.units; ++unit) {
      std::vector<uint32_t> done;
      for (uint32_t rank = 0; rank < job_.ranks; ++rank) {
        if (gathers) w_.Await(rank, Writer::kCompute, gathered[unit][rank]);
        done.push_back(w_.Compute(rank, compute));
      }
      computed.push_back(done);
      gather(unit + job_.prefetch + 1);
      if (reduces) Reduce(done);
    }
  }

  std::vector<uint32_t> Gather() {
    return Each(shards_, CollectiveKind::kAllGather, job_.weights, Writer::kComm);
  }
  void Reduce(const std::vector<uint32_t>& computed) {
    for (uint32_t rank = 0; rank < job_.ranks; ++rank) w_.Await(rank, kReduction, computed[rank]);
    Each(shards_, CollectiveKind::kReduceScatter, job_.gradients, kReduction);
    if (!across_.empty()) {
      Each(across_, CollectiveKind::kAllReduce, job_.gradients / shard_, kReduction);
    }
  }
  // The same call for each communicator; the ops by rank.
  std::vector<uint32_t> Each(const std::vector<uint32_t>& communicators, CollectiveKind kind,
                             Bytes size, uint32_t stream) {
    std::vector<uint32_t> calls;
    for (const uint32_t c : communicators) {
      calls.push_back(
          w_.AddCall({.communicator = c, .kind = kind, .size = size, .matrix = {}, .name = {}}));
    }
    std::vector<uint32_t> ops;
    const bool by_shard = communicators.size() == shards_.size() && &communicators == &shards_;
    for (uint32_t rank = 0; rank < job_.ranks; ++rank) {
      ops.push_back(w_.Call(rank, calls[by_shard ? rank / shard_ : rank % shard_], stream));
    }
    return ops;
  }

  // Reductions have a stream of their own, so that a gather need not wait for one.
  static constexpr uint32_t kReduction = 2;

  const FsdpJob& job_;
  Writer w_;
  uint32_t shard_;
  std::vector<uint32_t> shards_;
  std::vector<uint32_t> across_;
};

}  // namespace

Workload MakeFsdp(const FsdpJob& job) { return Fsdp(job).Make(); }

Workload MakeDlrm(const DlrmJob& job, Rng& rng) {
  Writer w(absl::StrFormat("dlrm over %d ranks", job.ranks), job.ranks);
  const std::vector<uint32_t> all = Range(0, job.ranks);
  const std::vector<Bytes> indices =
      MatrixOf(DirichletShares(job.ranks, job.dirichlet, rng), job.indices);
  const auto all_to_all = [&](Bytes size, std::vector<Bytes> matrix, const char* name) {
    CallAll(w, all,
            {.communicator = w.World(),
             .kind = CollectiveKind::kAllToAll,
             .size = size,
             .matrix = std::move(matrix),
             .name = name});
    for (uint32_t rank = 0; rank < job.ranks; ++rank) {
      w.AwaitStream(rank, Writer::kCompute, Writer::kComm);
    }
  };
  const auto compute = [&](int64_t tenths) {
    for (uint32_t rank = 0; rank < job.ranks; ++rank) {
      w.Compute(rank, job.compute * tenths / 10);
      w.AwaitStream(rank, Writer::kComm, Writer::kCompute);
    }
  };
  for (uint32_t step = 0; step < job.steps; ++step) {
    all_to_all(job.indices, indices, "alltoall indices");
    compute(1);  // look-up and pooling
    all_to_all(job.embeddings, {}, "alltoall embeddings");
    compute(3);  // dense layers, forward
    compute(3);  // and backward
    CallAll(w, all, {.communicator = w.World(), .size = job.dense, .matrix = {}, .name = {}});
    all_to_all(job.embeddings, {}, "alltoall gradients");
    compute(3);  // update of the tables
    for (uint32_t rank = 0; rank < job.ranks; ++rank) w.EndStep(rank);
  }
  return w.Take();
}

Workload MakeCheckpoint(const CheckpointJob& job, Rng& rng) {
  Writer w(absl::StrFormat("checkpoint %s, %d clients, %d servers", job.restore ? "read" : "write",
                           job.clients, job.servers),
           job.clients + job.servers);
  const uint32_t streams = std::min(job.in_flight, Writer::kStreams);
  for (uint32_t client = 0; client < job.clients; ++client) {
    const Duration begin = Scaled(job.spread, rng.Unit());
    uint32_t stripe = 0;
    for (Bytes at{}; at < job.shard; at += job.stripe, ++stripe) {
      const uint32_t server = job.clients + (client + stripe) % job.servers;
      const uint32_t stream = stripe % streams;
      const Bytes size = std::min(job.stripe, job.shard - at);
      const uint32_t from = job.restore ? server : client;
      const uint32_t to = job.restore ? client : server;
      // A server has no order of its own: each stripe meets it when it comes.
      if (stripe < streams) w.NotBefore(client, stream, begin);
      w.Transfer(client, stream, from, to, size, client * 65536 + stripe);
    }
  }
  return w.Take();
}

Workload MakeKvTransfer(const KvTransferJob& job) {
  Writer w(absl::StrFormat("key-value transfers, %d prefill to %d decode", job.prefill, job.decode),
           job.prefill + job.decode);
  uint32_t turn = 0;
  for (const KvRequest& request : job.requests) {
    const uint32_t from = turn % job.prefill;
    const uint32_t to = job.prefill + turn % job.decode;
    w.NotBefore(from, Writer::kCompute, request.arrival);
    const Bytes layer = job.per_token * request.tokens / job.layers;
    const Duration compute = job.prefill_per_token * request.tokens / job.layers;
    for (uint32_t i = 0; i < job.layers; ++i) {
      w.Await(from, Writer::kComm, w.Compute(from, compute));
      w.Transfer(from, Writer::kComm, from, to, layer, turn * 1024 + i);
    }
    ++turn;
  }
  return w.Take();
}

Workload MakeDecode(const DecodeJob& job) {
  Writer w(absl::StrFormat("decode over %d ranks", job.ranks), job.ranks);
  for (uint32_t token = 0; token < job.tokens; ++token) {
    for (uint32_t i = 0; i < 2 * job.layers; ++i) {
      for (uint32_t rank = 0; rank < job.ranks; ++rank) {
        w.Compute(rank, job.layer / 2);
        w.AwaitStream(rank, Writer::kComm, Writer::kCompute);
      }
      CallAll(w, Range(0, job.ranks),
              {.communicator = w.World(), .size = job.size, .matrix = {}, .name = {}});
      for (uint32_t rank = 0; rank < job.ranks; ++rank) {
        w.AwaitStream(rank, Writer::kCompute, Writer::kComm);
      }
    }
    for (uint32_t rank = 0; rank < job.ranks; ++rank) w.EndStep(rank);
  }
  return w.Take();
}

}  // namespace weir
