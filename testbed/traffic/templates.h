// Jobs as frameworks run them: what each rank computes and sends in a step.
#pragma once

#include <cstdint>
#include <vector>

#include "datapath/api/rng.h"
#include "testbed/traffic/workload.h"

namespace weir {

// One collective after another, `iterations` of each size, as nccl-tests measures.
struct CollectiveJob {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  uint32_t ranks = 8;
  std::vector<Bytes> sizes{MiB(64)};
  uint32_t iterations = 1;
  uint32_t warmup = 0;  // calls of each size before those, reported under "warmup"
  uint32_t root = 0;
  // Of an all-to-all: expert popularity from a symmetric Dirichlet distribution; 0: even. 100 is
  // nearly uniform, 1 moderate, 0.3 heavy skew.
  double dirichlet = 0;
  std::vector<double> shares;  // of all bytes, by receiver; for a skew that was measured
};
Workload MakeCollectives(const CollectiveJob& job, Rng& rng);

// Data parallel: buckets of gradients are all-reduced while the rest of the backward pass computes.
struct DdpJob {
  uint32_t ranks = 16;
  std::vector<Bytes> buckets{Bytes(8'200'000), Bytes(31'500'000), Bytes(26'260'000),
                             Bytes(26'550'000), Bytes(9'720'000)};  // ResNet-50, fp32
  Duration compute = Millis(100);                                   // of a step
  double backward = 0.65;                                           // of it, at its end
  uint32_t steps = 1;
};
Workload MakeDdp(const DdpJob& job);

// Fully sharded data parallel, ZeRO-1 to 3: weights are gathered unit by unit ahead of their use,
// and gradients reduced and scattered behind it.
struct FsdpJob {
  uint32_t ranks = 16;
  uint32_t units = 40;
  Bytes weights = Bytes(160'000'000);    // S of a unit's all-gather
  Bytes gradients = Bytes(320'000'000);  // S of a unit's reduce-scatter
  Duration forward = Millis(4);          // compute of a unit
  Duration backward = Millis(8);
  uint32_t prefetch = 1;  // gathers ahead of the compute; two may be under way
  uint32_t zero = 3;      // 3: gathered in both passes; 1, 2: once, after the optimizer
  bool reshard = true;    // ZeRO-3: weights are dropped after the forward pass
  uint32_t replicas = 1;  // HSDP: shards are all-reduced over so many replicas; divides ranks
  uint32_t steps = 1;
};
Workload MakeFsdp(const FsdpJob& job);

// A transformer over pipeline, tensor, expert and data parallel ranks. Rank numbers go through
// tensor first, then data (of which experts are a part), then pipeline stages.
struct TransformerJob {
  uint32_t tensor = 1;
  uint32_t data = 2;
  uint32_t pipeline = 4;
  uint32_t expert = 1;  // ranks of an expert group; divides data * tensor. 1: a dense model
  uint32_t layers = 8;  // of one stage
  uint32_t micro_batches = 8;
  Bytes activation = Bytes(32'000'000);  // a micro-batch, between stages
  Bytes tensor_size{};                   // S of each tensor-parallel all-reduce; 0: `activation`
  Bytes dispatch = Bytes(8'000'000);     // S a rank of an expert dispatch; a combine is `combine`
  Bytes combine = Bytes(16'000'000);
  double dirichlet = 1;                  // skew of the experts; 0: even
  Bytes gradients = Bytes(100'000'000);  // of a rank: reduced over its data group
  Bytes bucket = Bytes(25'000'000);
  Duration layer_forward = Millis(1);  // compute of one layer and micro-batch; backward twice
  uint32_t steps = 1;
};
Workload MakeTransformer(const TransformerJob& job, Rng& rng);

// A recommendation model: indices and pooled embeddings all to all, dense gradients all-reduced.
struct DlrmJob {
  uint32_t ranks = 128;
  Bytes indices = Bytes(12'000'000);      // a rank, uneven
  Bytes embeddings = Bytes(400'000'000);  // a rank, forward; the same backward
  Bytes dense = Bytes(100'000'000);
  Duration compute = Millis(150);
  double dirichlet = 1;
  uint32_t steps = 1;
};
Workload MakeDlrm(const DlrmJob& job, Rng& rng);

// Everybody writes its shard to a few servers, in stripes that go round the servers.
struct CheckpointJob {
  uint32_t clients = 64;
  uint32_t servers = 8;  // the ranks after the clients
  Bytes shard = Bytes(64'000'000);
  Bytes stripe = MiB(4);
  uint32_t in_flight = 4;       // stripes of a client
  Duration spread = Millis(1);  // clients begin within this
  bool restore = false;         // reads: servers send
};
Workload MakeCheckpoint(const CheckpointJob& job, Rng& rng);

// Requests that prefill ranks have worked on: their key-value cache goes to a decode rank, layer by
// layer.
struct KvRequest {
  Duration arrival{};
  uint32_t tokens = 0;  // of context that has to move
};
struct KvTransferJob {
  uint32_t prefill = 8;
  uint32_t decode = 2;  // the ranks after the prefill ranks
  std::vector<KvRequest> requests;
  Bytes per_token = Bytes(327'680);  // Llama-3-70B: 2 x 80 layers x 8 heads x 128 x 2 B
  uint32_t layers = 80;              // messages a request
  Duration prefill_per_token = Nanos(50'000);
};
Workload MakeKvTransfer(const KvTransferJob& job);

// Tensor-parallel decode: two small all-reduces a layer for each token.
struct DecodeJob {
  uint32_t ranks = 8;
  Bytes size = KiB(256);  // batch x hidden size x bytes
  uint32_t layers = 80;
  uint32_t tokens = 4;
  Duration layer = Micros(300);  // compute between all-reduces
};
Workload MakeDecode(const DecodeJob& job);

// Shares of `n` experts' popularity: Dirichlet(concentration), summing to 1.
std::vector<double> DirichletShares(uint32_t n, double concentration, Rng& rng);
// Every rank sends `size` in all, to receivers by `shares`; nothing to itself is left out.
std::vector<Bytes> MatrixOf(const std::vector<double>& shares, Bytes size);

}  // namespace weir
