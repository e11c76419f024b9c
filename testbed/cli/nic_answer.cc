#include "testbed/cli/nic_answer.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "nic_drivers/registry.h"
#include "testbed/cli/commands.h"
#include "testbed/cli/failure.h"
#include "testbed/cli/nic_address.h"
#include "testbed/nic/answerer.h"
#include "testbed/nic/remote_host.h"

namespace weir {
namespace {

volatile std::sig_atomic_t answer_stopped = 0;

struct AnswerArguments {
  std::string device, address;
  // Checkers are on other hosts: the loopback address would reach none of them.
  std::string listen = absl::StrFormat("0.0.0.0:%d", kAnswerPort);
  std::vector<std::string> arguments;
  bool once = false;
};

int RunAnswer(const AnswerArguments& a) {
  Answerer::Config config{.open = OpenDevice};
  config.device.device = a.device;
  config.device.address = AddressFor(a.device, a.address, "10.94.0.2/24");
  config.device.arguments = a.arguments;
  if (FindDriver(a.device) == nullptr) {
    return Fail("nic answer", OpenDevice(config.device).status(), kExitUsage);
  }
  const absl::StatusOr<HostPort> at = ParseHostPort(a.listen, kAnswerPort);
  if (!at.ok()) return Fail("nic answer", at.status(), kExitUsage);
  absl::StatusOr<LineListener> listener = LineListener::Open(*at);
  if (!listener.ok()) return Fail("nic answer", listener.status(), kExitMissing);
  Answerer answerer(*std::move(listener), std::move(config));
  std::signal(SIGINT, [](int) { answer_stopped = 1; });
  std::signal(SIGTERM, [](int) { answer_stopped = 1; });
  const HostPort listening = {.host = at->host, .port = answerer.port()};
  std::printf("listening on %s\n", listening.Text().c_str());
  std::fflush(stdout);
  while (answer_stopped == 0 && !(a.once && answerer.ended() > 0)) {
    answerer.Step();
    for (const std::string& news : answerer.TakeNews()) {
      std::printf("%s\n", news.c_str());
      std::fflush(stdout);
    }
  }
  return answerer.done() == answerer.ended() ? kExitOk : kExitFailed;
}

}  // namespace

void AddNicAnswer(CLI::App& nic, int& exit_code) {
  auto a = std::make_shared<AnswerArguments>();
  auto* command = nic.add_subcommand(
      "answer", "Be the other host of `weir nic check A --with HOST`, with a port of this one");
  command->add_option("device", a->device, "such as dpdk:0000:3b:00.0 (docs/drivers.md)")
      ->required();
  command
      ->add_option("--listen", a->listen,
                   "IP address and TCP port on which checkers direct what this host does")
      ->capture_default_str();
  command->add_option("--address", a->address,
                      "IP address and prefix of the device, on the checker's link; without it "
                      "10.94.0.2/24, or its own");
  command->add_option("--argument", a->arguments, "passed to DPDK as it is; may be given again");
  command->add_flag("--once", a->once, "end when one check has ended; exit code 1 if it broke off");
  command->footer(
      "Nobody is asked who they are on that port: whoever reaches it can open and close this\n"
      "device and send test frames from it. Let it be reached from a trusted network only; the\n"
      "default is every address of this host, since a checker is on another one.");
  command->callback([a, &exit_code] { exit_code = RunAnswer(*a); });
}

}  // namespace weir
