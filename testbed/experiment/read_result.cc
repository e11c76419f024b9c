#include "testbed/experiment/read_result.h"

#include <cstdlib>

#include "absl/strings/str_format.h"
#include "testbed/experiment/load_parts.h"

namespace weir {
namespace {

using Json = nlohmann::json;

Duration DurationOf(const Json& json) {
  return json.is_null() ? Duration::Max() : Duration(json.get<int64_t>());
}

Summary SummaryOf(const Json& json) {
  return {.count = json.at("count"),
          .mean = json.at("mean"),
          .median = json.at("median"),
          .p99 = json.at("p99"),
          .min = json.at("min"),
          .max = json.at("max")};
}

TransferResult TransferOf(const Json& json) {
  return {.from = json.at("from"),
          .to = json.at("to"),
          .label = json.at("label"),
          .size = Bytes(json.at("size_bytes").get<int64_t>()),
          .start = DurationOf(json.at("start_ns")),
          .sent = DurationOf(json.at("sent_ns")),
          .received = DurationOf(json.at("received_ns")),
          .ideal = DurationOf(json.at("ideal_ns"))};
}

OperationResult OperationOf(const Json& json) {
  OperationResult o{.name = json.at("name"),
                    .size = Bytes(json.at("size_bytes").get<int64_t>()),
                    .ranks = json.at("ranks"),
                    .first_arrival = DurationOf(json.at("first_arrival_ns")),
                    .last_arrival = DurationOf(json.at("last_arrival_ns")),
                    .end = DurationOf(json.at("end_ns")),
                    .last_rank = json.at("last_rank"),
                    .ideal = DurationOf(json.at("ideal_ns"))};
  const double algorithm = json.at("algbw_Bps");
  if (algorithm > 0) o.bus_factor = json.at("busbw_Bps").get<double>() / algorithm;
  return o;
}

JobResult JobOf(const Json& json) {
  JobResult job{.name = json.at("name"), .ranks = json.at("ranks"), .steps = {}, .slow_ranks = {}};
  for (const Json& s : json.at("steps")) {
    job.steps.push_back({.time = DurationOf(s.at("time_ns")),
                         .compute = DurationOf(s.at("compute_ns")),
                         .exposed = DurationOf(s.at("exposed_ns"))});
  }
  return job;
}

void ReadCounts(const Json& json, RunResult& r) {
  const Json& c = json.at("counters");
  c.at("data_packets_sent").get_to(r.counters.data_packets_sent);
  c.at("data_bytes_sent").get_to(r.counters.data_bytes_sent);
  c.at("retransmitted_packets").get_to(r.counters.retransmitted_packets);
  c.at("spurious_retransmissions").get_to(r.counters.spurious_retransmissions);
  c.at("timeouts").get_to(r.counters.timeouts);
  c.at("marks_received").get_to(r.counters.marks_received);
}

std::optional<FabricResult> FabricOf(const Json& json) {
  const Json& counts = json.at("fabric");
  if (counts.is_null()) return std::nullopt;
  FabricResult f;
  counts.at("dropped").get_to(f.stats.dropped);
  counts.at("trims").get_to(f.stats.trims);
  counts.at("marks").get_to(f.stats.marks);
  counts.at("lost_by_fault").get_to(f.stats.lost_by_fault);
  json.at("link_load_ratio").get_to(f.link_load_ratio);
  json.at("links_used").get_to(f.links_used);
  f.queue_peak = Bytes(json.at("queue_peak_bytes").get<int64_t>());
  json.at("pauses").get_to(f.pauses);
  f.paused = DurationOf(json.at("paused_ns"));
  return f;
}

RunResult RunOf(const Json& json) {
  RunResult r;
  json.at("arm").get_to(r.arm);
  json.at("seed").get_to(r.seed);
  json.at("finished").get_to(r.finished);
  r.completion = SummaryOf(json.at("completion_ns"));
  r.slowdown = SummaryOf(json.at("slowdown"));
  r.makespan = DurationOf(json.at("makespan_ns"));
  r.ideal = DurationOf(json.at("ideal_ns"));
  json.at("goodput_bps").get_to(r.goodput_bps);
  json.at("fairness").get_to(r.fairness);
  r.base_rtt = DurationOf(json.at("base_rtt_ns"));
  r.bdp = Bytes(json.at("bdp_bytes").get<int64_t>());
  json.at("events").get_to(r.events);
  if (const Json& digest = json.at("digest"); digest.is_string()) {
    r.digest = std::strtoull(digest.get<std::string>().c_str(), nullptr, 16);
  }
  if (const Json& real = json.at("real_time"); real.is_object()) {
    r.real_time = RealTimeStats{.time_scale = real.at("time_scale"),
                                .seconds = real.at("seconds"),
                                .too_busy = real.at("too_busy")};
  }
  ReadCounts(json, r);
  r.fabric = FabricOf(json);
  json.at("warnings").get_to(r.warnings);
  json.at("breaches").get_to(r.breaches);
  for (const Json& o : json.at("operations")) r.operations.push_back(OperationOf(o));
  for (const Json& j : json.at("jobs")) r.jobs.push_back(JobOf(j));
  for (const Json& t : json.at("transfers")) r.transfers.push_back(TransferOf(t));
  return r;
}

std::string PointText(const Json& values) {
  std::string out;
  for (const auto& [key, value] : values.items()) {
    out += absl::StrFormat("%s%s = %s", out.empty() ? "" : ", ", key, value.get<std::string>());
  }
  return out;
}

}  // namespace

absl::StatusOr<RunResult> ReadRun(const Json& json) {
  try {
    return RunOf(json);
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrFormat("is not a run as docs/results.md has it: %s", error.what()));
  }
}

absl::StatusOr<StoredResult> ReadResult(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  const auto fail = [&path](const std::string& message) {
    return absl::InvalidArgumentError(path + ": " + message);
  };
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return fail("is not JSON; name a file that --json or `weir merge` wrote");
  const auto found = json.find("schema");
  const std::string schema =
      found != json.end() && found->is_string() ? found->get<std::string>() : "(none)";
  const bool sweep = schema == "weir.sweep/1";
  if (schema != "weir.result/1" && !sweep) {
    return fail(
        absl::StrFormat("has the schema \"%s\"; weir.result/1 or weir.sweep/1 is wanted", schema));
  }
  StoredResult out{.file = path};
  try {
    out.fingerprint = json.at("fingerprint");
    if (!sweep) out.experiment = json.at("experiment");
    for (const Json& run : json.at(sweep ? "runs" : "results")) {
      out.runs.push_back(RunOf(run));
      out.points.push_back(
          sweep ? PointText(json.at("points").at(run.at("point").get<size_t>()).at("values")) : "");
    }
  } catch (const Json::exception& error) {
    return fail(
        absl::StrFormat("is not a result as docs/results.md has it: %s; write it again "
                        "with this version",
                        error.what()));
  }
  return out;
}

}  // namespace weir
