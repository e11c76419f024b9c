// weir perf: bandwidth, message rate and latency between two hosts or processes.
#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>

#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"
#include "testbed/cli/commands.h"
#include "testbed/cli/failure.h"
#include "testbed/cli/host_options.h"
#include "testbed/perf/client.h"
#include "testbed/perf/report.h"
#include "testbed/perf/ring_peer.h"
#include "testbed/perf/server.h"

namespace weir {
namespace {

constexpr uint32_t kAllSizesMax = 1u << 23;

struct PerfArguments {
  HostOptions host;
  std::string test;
  std::string remote;
  PerfPlan plan;
  std::string size;
  bool use_send = false;
  bool all_sizes = false;
  bool gbits = false;
  bool discard = false;
  std::string json;
};

int Measure(const PerfArguments& a, Context& context, const std::string& remote,
            const std::function<void()>& turn) {
  ShowDevice(context);
  PerfPlan plan = a.plan;
  std::vector<PerfResult> results;
  std::printf("%s", PerfHeading(plan, a.gbits).c_str());
  std::fflush(stdout);
  for (uint64_t size = a.all_sizes ? 2 : plan.length; size <= (a.all_sizes ? kAllSizesMax : size);
       size *= 2) {
    plan.length = static_cast<uint32_t>(size);
    absl::StatusOr<PerfResult> result = RunPerf(context, remote, plan, turn);
    if (!result.ok()) return Fail("perf", result.status(), kExitFailed);
    std::printf("%s", PerfRow(*result, a.gbits).c_str());
    std::fflush(stdout);
    results.push_back(*std::move(result));
    if (!a.all_sizes) break;
  }
  std::printf("%s", PerfNotes(results.back()).c_str());
  if (a.json.empty()) return kExitOk;
  std::ofstream out(a.json);
  out << PerfJson(results, context).dump(2) << "\n";
  if (out.flush()) return kExitOk;
  return Fail("perf", absl::UnavailableError("cannot write " + a.json), kExitMissing);
}

int OverRing(const PerfArguments& a, ContextOptions options) {
  absl::StatusOr<RingPeers> peers = OpenRingPeers(options);
  if (!peers.ok()) return Fail("perf", peers.status(), kExitMissing);
  absl::StatusOr<std::unique_ptr<PerfServer>> server = PerfServer::Create(
      *peers->server, std::max<uint64_t>(a.plan.length, a.all_sizes ? kAllSizesMax : 0), a.discard);
  if (!server.ok()) return Fail("perf", server.status(), kExitFailed);
  return Measure(a, *peers->client, peers->server_address, [&server] { (*server)->Step(); });
}

int Perf(PerfArguments a) {
  const absl::StatusOr<Bytes> size = ParseBytes(a.size);
  if (!size.ok()) return Fail("perf", size.status(), kExitUsage);
  if (*size < Bytes(1) || *size > Bytes(kMessageMax)) {
    return Fail(
        "perf",
        absl::InvalidArgumentError(absl::StrFormat("--size must be 1B to %dB", kMessageMax)),
        kExitUsage);
  }
  a.plan.length = static_cast<uint32_t>(size->count());
  a.plan.kind = a.test == "lat" ? PerfKind::kEcho : a.use_send ? PerfKind::kSend : PerfKind::kWrite;
  if (a.plan.kind == PerfKind::kEcho && a.plan.connections > 1) {
    return Fail("perf", absl::InvalidArgumentError("lat measures one connection; drop --qp"),
                kExitUsage);
  }
  if (a.remote == "ring") {
    if (!a.host.device.empty() || !a.host.address.empty() || !a.host.config.empty()) {
      return Fail("perf",
                  absl::InvalidArgumentError(
                      "over \"ring\" both ends are in this process; drop --device, --address and "
                      "--config"),
                  kExitUsage);
    }
    a.host.device = "ring";
    a.host.address = "10.0.0.1/24";
    const absl::StatusOr<ContextOptions> options = MakeContextOptions(a.host);
    return options.ok() ? OverRing(a, *options) : Fail("perf", options.status(), kExitUsage);
  }
  if (a.discard) {
    return Fail("perf",
                absl::InvalidArgumentError("--discard is the server's: weir serve --discard"),
                kExitUsage);
  }
  const absl::StatusOr<ContextOptions> options = MakeContextOptions(a.host);
  if (!options.ok()) return Fail("perf", options.status(), kExitUsage);
  absl::StatusOr<std::unique_ptr<Context>> context = Context::Open(*options);
  if (!context.ok()) return Fail("perf", context.status(), kExitMissing);
  return Measure(a, **context, a.remote, {});
}

}  // namespace

void AddPerfCommand(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<PerfArguments>();
  PerfArguments& a = *arguments;
  auto* command = app.add_subcommand(
      "perf", "Bandwidth, message rate and latency to a `weir serve`, as perftest shows them");
  command->add_option("test", a.test, "bw or lat")->required()->check(CLI::IsMember({"bw", "lat"}));
  command
      ->add_option("remote", a.remote,
                   "the server's IP address; \"ring\": both ends in this process, over DPDK rings")
      ->required();
  command->add_option("-s,--size", a.size, "bytes of a message")->default_str("64KiB");
  a.size = "64KiB";
  command->add_flag("-a,--all", a.all_sizes, "all sizes from 2 to 2^23 bytes");
  command->add_option("-n,--iters", a.plan.iterations, "messages")->capture_default_str();
  command->add_option("-D,--duration", a.plan.seconds, "seconds, instead of --iters");
  command->add_option("-q,--qp", a.plan.connections, "connections")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("-t,--tx-depth", a.plan.depth, "messages under way, a connection")
      ->capture_default_str()
      ->check(CLI::Range(1, 2000));
  command->add_option("-w,--warm-up", a.plan.warm_up, "messages before")->capture_default_str();
  command->add_flag("--send", a.use_send, "bw: send/receive instead of one-sided writes");
  command->add_flag("--report_gbits", a.gbits, "Gb/s instead of MB/s (2^20 bytes)");
  command->add_flag("--discard", a.discard, "over \"ring\": place nothing at the receiver");
  command->add_option("--json", a.json, "also write the results to this file");
  AddHostOptions(*command, a.host);
  command->footer(
      "Latency is half of a round trip, as in perftest. Start `weir serve` on the other side "
      "first.\n"
      "Examples:\n"
      "  weir perf bw ring --report_gbits\n"
      "  weir perf lat 10.0.0.2 -s 8B --device dpdk:net_memif0,role=client --address 10.0.0.1/24");
  command->callback([arguments, &exit_code] { exit_code = Perf(*arguments); });
}

}  // namespace weir
