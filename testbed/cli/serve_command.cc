// weir serve: the passive side of weir perf.
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>

#include "datapath/text/quantity_text.h"
#include "testbed/cli/commands.h"
#include "testbed/cli/failure.h"
#include "testbed/cli/host_options.h"
#include "testbed/perf/server.h"

namespace weir {
namespace {

volatile std::sig_atomic_t stopped = 0;

struct ServeArguments {
  HostOptions host;
  std::string size_max = "64MiB";
  bool discard = false;
  bool once = false;
};

int Serve(const ServeArguments& a) {
  const absl::StatusOr<Bytes> size = ParseBytes(a.size_max);
  if (!size.ok()) return Fail("serve", size.status(), kExitUsage);
  absl::StatusOr<ContextOptions> options = MakeContextOptions(a.host);
  if (!options.ok()) return Fail("serve", options.status(), kExitUsage);
  options->listen = true;
  absl::StatusOr<std::unique_ptr<Context>> context = Context::Open(*options);
  if (!context.ok()) return Fail("serve", context.status(), kExitMissing);
  ShowDevice(**context);
  absl::StatusOr<std::unique_ptr<PerfServer>> server =
      PerfServer::Create(**context, static_cast<uint64_t>(size->count()), a.discard);
  if (!server.ok()) return Fail("serve", server.status(), kExitFailed);
  std::signal(SIGINT, [](int) { stopped = 1; });
  std::signal(SIGTERM, [](int) { stopped = 1; });
  std::printf("listening on %s\n", options->device.address.c_str());
  std::fflush(stdout);
  while (stopped == 0) {
    const bool busy = (*server)->Step();
    for (const std::string& news : (*server)->TakeNews()) {
      std::printf("%s\n", news.c_str());
      std::fflush(stdout);
    }
    if (a.once && (*server)->clients() > 0 && (*server)->ended() == (*server)->clients()) break;
    if (!busy) std::this_thread::yield();
  }
  const size_t connections = (*context)->Connections().size();
  server->reset();
  std::printf("left: %zu connections, %llu buffers\n", connections,
              static_cast<unsigned long long>((*context)->device().counters().buffers_in_use));
  return kExitOk;
}

}  // namespace

void AddServeCommand(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ServeArguments>();
  auto* command = app.add_subcommand("serve", "Answer `weir perf` on a device of this host");
  AddHostOptions(*command, arguments->host);
  command->add_option("--size-max", arguments->size_max, "longest message")->capture_default_str();
  command->add_flag("--discard", arguments->discard,
                    "count what arrives and place it nowhere, as a receiver in place would");
  command->add_flag("--once", arguments->once, "end when the last client has gone");
  command->footer(
      "Example, two processes on one machine:\n"
      "  weir serve --device dpdk:net_memif0,role=server --address 10.0.0.2/24\n"
      "  weir perf bw 10.0.0.2 --device dpdk:net_memif0,role=client --address 10.0.0.1/24");
  command->callback([arguments, &exit_code] { exit_code = Serve(*arguments); });
}

}  // namespace weir
