// Jobs, from TOML.
#include <functional>
#include <map>

#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"
#include "testbed/experiment/load_parts.h"
#include "testbed/traffic/import/import.h"

namespace weir {
namespace {

constexpr int64_t kRanksMax = 1'000'000;
constexpr double kScaleMin = 1e-9;
constexpr double kScaleMax = 1e9;

// A list of sizes, or one.
void ReadSizes(TableReader& r, const std::string& key, std::vector<Bytes>& out) {
  const toml::node* node = r.Node(key);
  if (node == nullptr) return;
  std::vector<std::string> texts;
  if (const auto* one = node->as_string()) texts.push_back(one->get());
  if (const toml::array* array = node->as_array()) {
    for (const toml::node& item : *array) {
      texts.push_back(item.is_string() ? item.as_string()->get() : std::string());
    }
  }
  if (texts.empty()) return r.FailKey(key, "must be a size as in \"64MiB\", or a list of them");
  out.clear();
  for (const std::string& text : texts) {
    const absl::StatusOr<Bytes> size = ParseBytes(text);
    if (!size.ok()) return r.FailKey(key, std::string(size.status().message()));
    if (*size <= Bytes(0)) return r.FailKey(key, "must be above 0 B");
    out.push_back(*size);
  }
}

void ReadPositive(TableReader& r, const std::string& key, Bytes& out) {
  r.Size(key, out);
  if (out <= Bytes(0)) r.FailKey(key, "must be above 0 B");
}

void Read(TableReader& r, CollectiveJob& out) {
  std::vector<std::string> names;
  for (int i = 0; i < kCollectiveKinds; ++i) {
    names.emplace_back(Name(static_cast<CollectiveKind>(i)));
  }
  int kind = 0;
  r.Choice("collective", names, kind);
  out.kind = static_cast<CollectiveKind>(kind);
  r.Integer("ranks", 2, kRanksMax, out.ranks);
  ReadSizes(r, "size", out.sizes);
  r.Integer("iterations", 1, 1'000'000, out.iterations);
  r.Integer("warmup", 0, 1'000'000, out.warmup);
  if (HasRoot(out.kind)) r.Integer("root", 0, kRanksMax, out.root);
  if (out.kind == CollectiveKind::kAllToAll) {
    r.Number("dirichlet", 0, 1e6, out.dirichlet);
    if (const toml::array* shares = r.Array("shares"); shares != nullptr && !shares->empty()) {
      double sum = 0;
      for (const toml::node& node : *shares) {
        const double share = node.value_or(-1.0);
        if (share < 0) return r.FailKey("shares", "must hold numbers, none below 0");
        out.shares.push_back(share);
        sum += share;
      }
      if (out.shares.size() != out.ranks || sum <= 0) {
        return r.FailKey("shares", absl::StrFormat("must hold %d numbers, one a rank", out.ranks));
      }
      for (double& share : out.shares) share /= sum;
    }
  }
}

void Read(TableReader& r, DdpJob& out) {
  r.Integer("ranks", 2, kRanksMax, out.ranks);
  ReadSizes(r, "buckets", out.buckets);
  r.Time("compute", out.compute);
  r.Number("backward", 0.01, 1, out.backward);
  r.Integer("steps", 1, 10'000, out.steps);
}

void Read(TableReader& r, FsdpJob& out) {
  r.Integer("ranks", 2, kRanksMax, out.ranks);
  r.Integer("units", 1, 10'000, out.units);
  ReadPositive(r, "weights", out.weights);
  ReadPositive(r, "gradients", out.gradients);
  r.Time("forward", out.forward);
  r.Time("backward", out.backward);
  r.Integer("prefetch", 0, 100, out.prefetch);
  r.Integer("zero", 1, 3, out.zero);
  r.Bool("reshard", out.reshard);
  r.Integer("replicas", 1, kRanksMax, out.replicas);
  r.Integer("steps", 1, 10'000, out.steps);
  if (out.ranks % out.replicas != 0) {
    r.FailKey("replicas",
              absl::StrFormat("is %d; it must divide ranks, %d", out.replicas, out.ranks));
  }
}

void Read(TableReader& r, TransformerJob& out) {
  r.Integer("tensor", 1, 1024, out.tensor);
  r.Integer("data", 1, kRanksMax, out.data);
  r.Integer("pipeline", 1, 1024, out.pipeline);
  r.Integer("expert", 1, kRanksMax, out.expert);
  r.Integer("layers", 1, 10'000, out.layers);
  r.Integer("micro_batches", 1, 10'000, out.micro_batches);
  ReadPositive(r, "activation", out.activation);
  r.Size("tensor_size", out.tensor_size);
  ReadPositive(r, "dispatch", out.dispatch);
  ReadPositive(r, "combine", out.combine);
  r.Number("dirichlet", 0, 1e6, out.dirichlet);
  ReadPositive(r, "gradients", out.gradients);
  ReadPositive(r, "bucket", out.bucket);
  r.Time("layer_forward", out.layer_forward);
  r.Integer("steps", 1, 10'000, out.steps);
  const uint32_t stage = out.tensor * out.data;
  if (stage % out.expert != 0) {
    r.FailKey("expert",
              absl::StrFormat("is %d; it must divide tensor x data, %d", out.expert, stage));
  }
  if (stage * out.pipeline < 2) r.FailKey("data", "needs at least two ranks in all");
}

void Read(TableReader& r, DlrmJob& out) {
  r.Integer("ranks", 2, kRanksMax, out.ranks);
  ReadPositive(r, "indices", out.indices);
  ReadPositive(r, "embeddings", out.embeddings);
  ReadPositive(r, "dense", out.dense);
  r.Time("compute", out.compute);
  r.Number("dirichlet", 0.001, 1e6, out.dirichlet);
  r.Integer("steps", 1, 10'000, out.steps);
}

void Read(TableReader& r, CheckpointJob& out) {
  r.Integer("clients", 1, kRanksMax, out.clients);
  r.Integer("servers", 1, kRanksMax, out.servers);
  ReadPositive(r, "shard", out.shard);
  ReadPositive(r, "stripe", out.stripe);
  r.Integer("in_flight", 1, WorkloadWriter::kStreams, out.in_flight);
  r.Time("spread", out.spread);
  r.Bool("restore", out.restore);
  if (out.shard / out.stripe >= 65536) r.FailKey("stripe", "cuts a shard into over 65535 stripes");
}

void Read(TableReader& r, KvTransferJob& out) {
  r.Integer("prefill", 1, kRanksMax, out.prefill);
  r.Integer("decode", 1, kRanksMax, out.decode);
  ReadPositive(r, "per_token", out.per_token);
  r.Integer("layers", 1, 1000, out.layers);
  r.Time("prefill_per_token", out.prefill_per_token);
  std::string requests;
  r.String("requests", requests);
  int64_t count = 100;
  r.Integer("count", 1, 1'000'000, count);
  double speed = 1;
  r.Number("speed", 1e-6, 1e6, speed);
  if (requests.empty()) {
    return r.FailKey("requests", "is missing: name a request trace, as in \"requests.csv.gz\"");
  }
  const absl::StatusOr<RequestTrace> trace = ImportRequests(PathFrom(r.file(), requests));
  if (!trace.ok()) return r.FailKey("requests", std::string(trace.status().message()));
  for (const Request& request : trace->requests) {
    if (std::ssize(out.requests) == count) break;
    out.requests.push_back({.arrival = Scaled(request.arrival, 1 / speed),
                            .tokens = request.context - request.cached});
  }
}

void Read(TableReader& r, DecodeJob& out) {
  r.Integer("ranks", 2, kRanksMax, out.ranks);
  ReadPositive(r, "size", out.size);
  r.Integer("layers", 1, 10'000, out.layers);
  r.Integer("tokens", 1, 1'000'000, out.tokens);
  r.Time("layer", out.layer);
}

// A workload from a file, or from the files of its ranks.
void Read(TableReader& r, std::shared_ptr<const Workload>& out) {
  std::string file;
  std::string format = "auto";
  r.String("file", file);
  std::vector<std::string> names{"auto"};
  for (const WorkloadFormat& f : WorkloadFormats()) names.push_back(f.name);
  int choice = 0;
  r.Choice("format", names, choice);
  ImportOptions options;
  r.Integer("ranks", 0, kRanksMax, options.ranks);
  r.Integer("micro_batches", 1, 1'000'000, options.micro_batches);
  r.Time("tick", options.tick);
  if (file.empty()) return r.FailKey("file", "is missing: name the workload's file or folder");
  absl::StatusOr<Workload> workload =
      ImportWorkload(PathFrom(r.file(), file), names[static_cast<size_t>(choice)], options);
  if (!workload.ok()) return r.FailKey("file", std::string(workload.status().message()));
  out = std::make_shared<const Workload>(*std::move(workload));
}

template <class Job>
void ReadAs(TableReader& r, JobSpec& out) {
  Job job{};
  Read(r, job);
  out.what = std::move(job);
}

struct JobType {
  const char* name;
  void (*read)(TableReader& r, JobSpec& out);
};
const JobType kJobTypes[] = {
    {"collective", ReadAs<CollectiveJob>},
    {"ddp", ReadAs<DdpJob>},
    {"fsdp", ReadAs<FsdpJob>},
    {"transformer", ReadAs<TransformerJob>},
    {"dlrm", ReadAs<DlrmJob>},
    {"checkpoint", ReadAs<CheckpointJob>},
    {"kv_transfer", ReadAs<KvTransferJob>},
    {"decode", ReadAs<DecodeJob>},
    {"import", ReadAs<std::shared_ptr<const Workload>>},
};

void ReadProtocol(TableReader& r, JobOptions& out) {
  int protocol = 0;
  r.Choice("protocol", {"auto", "simple", "ll128", "ll", "whole"}, protocol);
  switch (protocol) {
    case 1:
      out.protocol = SimpleProtocol();
      break;
    case 2:
      out.protocol = LL128Protocol();
      break;
    case 3:
      out.protocol = LLProtocol();
      break;
    case 4:
      out.protocol = WholeProtocol();
      break;
    default:
      break;
  }
}

void ReadCarry(TableReader& r, CarryOptions& out) {
  r.Integer("qps", 1, 128, out.qps);
  if (out.qps > 1) r.Bool("split", out.split);
  int admission = 0;
  r.Choice("admission", {"none", "cts", "segments"}, admission);
  out.cts = admission == 1;
  if (out.cts) {
    r.Integer("window", 1, 1'000'000, out.window);
    int cts_class = 0;
    r.Choice("cts_class", {"data", "control"}, cts_class);
    out.cts_urgent = cts_class == 1;
  }
  if (admission == 2) {
    // As CTran sets them: within a rack and a pod, and across the fabric.
    std::vector<Bytes> segments{KiB(512), KiB(512), MiB(1)};
    ReadSizes(r, "segment", segments);
    uint32_t outstanding = 128;
    r.Integer("outstanding", 1, 1'000'000, outstanding);
    if (segments.size() == 1) segments.resize(kDistances, segments[0]);
    if (segments.size() != kDistances) {
      return r.FailKey("segment", "must be one size, or three: within a leaf, a pod, the fabric");
    }
    for (size_t i = 0; i < kDistances; ++i) {
      out.limits[i] = {.segment = segments[i], .outstanding = outstanding};
    }
  }
  r.Speed("node_rate", out.node_rate);
  r.Time("node_latency", out.node_latency);
}

void ReadTiming(TableReader& r, Timing& out) {
  r.Number("jitter", 0, 10, out.jitter);
  r.Number("slow_probability", 0, 1, out.slow_probability);
  if (out.slow_probability > 0) r.Number("slow_factor", 0.01, 1000, out.slow_factor);
  r.Time("skew", out.skew_mean);
  if (out.skew_mean > Duration(0)) out.skew = Timing::Skew::kExponential;
  r.Time("skew_p99", out.skew_p99);
  if (out.skew_p99 > Duration(0)) {
    if (out.skew != Timing::Skew::kNone) r.FailKey("skew_p99", "and skew exclude each other");
    out.skew = Timing::Skew::kLogNormal;
  }
}

void ReadPlacement(TableReader& r, JobSpec& out) {
  int order = 0;
  r.Choice("placement", {"packed", "random"}, order);
  out.placement.order = static_cast<Placement::Order>(order);
  if (order == 0) r.Number("fragmentation", 0, 1, out.placement.fragmentation);
  r.String("share", out.share);
}

}  // namespace

std::vector<std::string> JobTypeNames() {
  std::vector<std::string> names;
  for (const JobType& type : kJobTypes) names.emplace_back(type.name);
  return names;
}

void ReadClass(TableReader& r, const std::vector<std::string>& classes, int& out) {
  if (!classes.empty()) return r.Choice("class", classes, out);
  if (r.Has("class")) {
    r.FailKey("class", "names a class of traffic, and the fabric has none; add [[fabric.classes]]");
  }
}

void ReadJob(TableReader& r, size_t type, const std::vector<std::string>& classes, JobSpec& out) {
  kJobTypes[type].read(r, out);
  r.String("name", out.name);
  std::vector<std::string> algorithms;
  for (int i = 0; i < kCollectiveAlgorithms; ++i) {
    algorithms.emplace_back(Name(static_cast<CollectiveAlgorithm>(i)));
  }
  int algorithm = 0;
  r.Choice("algorithm", algorithms, algorithm);
  out.options.algorithm = static_cast<CollectiveAlgorithm>(algorithm);
  r.Integer("ranks_per_node", 1, 1024, out.options.ranks_per_node);
  r.Integer("nics", 1, 64, out.options.nics);
  // One collective either has channels or goes through its peers; the others may have both kinds.
  const auto* one = std::get_if<CollectiveJob>(&out.what);
  const bool all_to_all = one != nullptr && one->kind == CollectiveKind::kAllToAll;
  if (!all_to_all) r.Integer("channels", 1, 64, out.options.channels);
  if (one == nullptr || all_to_all) {
    r.Integer("concurrent_peers", 1, kRanksMax, out.options.concurrent_peers);
  }
  ReadProtocol(r, out.options);
  ReadCarry(r, out.options.carry);
  int traffic_class = 0;
  ReadClass(r, classes, traffic_class);
  out.options.carry.traffic_class = static_cast<uint8_t>(traffic_class);
  ReadTiming(r, out.options.timing);
  r.Time("start", out.options.start);
  r.Number("size_scale", kScaleMin, kScaleMax, out.options.size_scale);
  r.Number("compute_scale", 0, kScaleMax, out.options.compute_scale);
  ReadPlacement(r, out);
}

}  // namespace weir
