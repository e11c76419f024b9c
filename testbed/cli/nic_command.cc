// weir nic: what a port can do, whether two of them keep what Weir needs, and a table of many.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "nic_drivers/registry.h"
#include "testbed/cli/commands.h"
#include "testbed/cli/failure.h"
#include "testbed/cli/nic_address.h"
#include "testbed/cli/nic_answer.h"
#include "testbed/nic/check.h"
#include "testbed/nic/matrix.h"
#include "testbed/nic/probe.h"
#include "testbed/nic/remote_host.h"

namespace weir {
namespace {

using nlohmann::json;

// "-" is standard output; "" is nowhere.
absl::Status WriteTo(const std::string& path, const std::string& text) {
  if (path.empty()) return absl::OkStatus();
  if (path == "-") {
    std::cout << text;
    return absl::OkStatus();
  }
  std::ofstream out(path);
  out << text;
  if (out.flush()) return absl::OkStatus();
  return absl::UnavailableError("cannot write " + path + "; give a path that can be");
}

// --- probe ---

struct ProbeArguments {
  std::string device, address, json_path;
  uint32_t queues = 1;
  std::vector<std::string> arguments;
};

// Drivers, and the devices of those that can list them.
int ListDevices() {
  for (const DriverEntry* driver : AllDrivers()) {
    std::printf("%s: %s\n", driver->name, driver->summary);
    if (driver->list == nullptr) continue;
    const std::vector<std::string> names = driver->list();
    for (const std::string& name : names) std::printf("  %s\n", name.c_str());
    if (names.empty()) std::printf("  this host has none\n");
  }
  return kExitOk;
}

int RunProbe(const ProbeArguments& a) {
  if (a.device.empty()) return ListDevices();
  DeviceOptions options;
  options.device = a.device;
  options.address = AddressFor(a.device, a.address, "192.0.2.1/24");
  options.queues = a.queues;
  options.arguments = a.arguments;
  const absl::StatusOr<std::unique_ptr<NicDevice>> device = OpenDevice(options);
  if (!device.ok()) return Fail("nic probe", device.status(), kExitMissing);
  const ProbeReport report = Probe(**device, a.device);
  if (a.json_path != "-") std::printf("%s", ProbeText(report).c_str());
  const absl::Status status = WriteTo(a.json_path, ProbeJson(report).dump(2) + "\n");
  return status.ok() ? kExitOk : Fail("nic probe", status, kExitMissing);
}

// --- check ---

struct CheckArguments {
  std::string a, b, with, label, markdown, json_path, after_open, link_with;
  std::string address_a, address_b;
  uint32_t mtu = 0, queues = 4, frames = 1000;
  bool remove = false;
  std::vector<std::string> arguments, only;
};

absl::Status RunCommand(const char* option, const std::string& command) {
  if (command.empty() || std::system(command.c_str()) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("%s: this command failed: %s", option, command));
}

CheckOptions OptionsOf(const CheckArguments& a) {
  CheckOptions options;
  options.label = a.label;
  options.a.device = a.a;
  options.b.device = a.b;
  options.a.address = AddressFor(a.a, a.address_a, "10.94.0.1/24");
  options.b.address = AddressFor(a.b, a.address_b, "10.94.0.2/24");
  options.a.arguments = options.b.arguments = a.arguments;
  options.queues = a.queues;
  options.frames = a.frames;
  options.remove = a.remove;
  options.only = a.only;
  if (!a.link_with.empty()) {
    options.set_link = [with = a.link_with](bool up) {
      return RunCommand("--link-with", with + (up ? " up" : " down"));
    };
  }
  return options;
}

absl::StatusOr<std::unique_ptr<NicDevice>> OpenAnd(const std::string& after,
                                                   const DeviceOptions& options) {
  absl::StatusOr<std::unique_ptr<NicDevice>> device = OpenDevice(options);
  if (!device.ok()) return device;
  if (absl::Status status = RunCommand("--after-open", after); !status.ok()) device = status;
  return device;
}

absl::StatusOr<DevicePair> OpenPairAnd(const std::string& after, const DeviceOptions& a,
                                       const DeviceOptions& b) {
  absl::StatusOr<DevicePair> pair = OpenPair(a, b);
  if (!pair.ok()) return pair;
  if (absl::Status status = RunCommand("--after-open", after); !status.ok()) pair = status;
  return pair;
}

// What --with and the names of devices say together; `options` learns of the other host's device.
absl::StatusOr<CheckHosts> HostsOf(const CheckArguments& a, CheckOptions& options) {
  const auto open_a = [after = a.after_open](const DeviceOptions& o) { return OpenAnd(after, o); };
  if (a.with.empty()) {
    const auto open = [after = a.after_open](const DeviceOptions& first,
                                             const DeviceOptions& second) {
      return OpenPairAnd(after, first, second);
    };
    // A ring can only be opened with the other.
    return HostsHere(open, a.a == "ring" ? DeviceOpener() : DeviceOpener(open_a));
  }
  const absl::StatusOr<HostPort> to = ParseHostPort(a.with, kAnswerPort);
  if (!to.ok()) return to.status();
  absl::StatusOr<std::unique_ptr<RemoteHost>> b = RemoteHost::Dial(*to, {});
  if (!b.ok()) return b.status();
  options.b = (*b)->options();
  return HostsWith(*std::move(b), open_a);
}

// What makes no sense together.
absl::Status CheckUsage(const CheckArguments& a) {
  if (a.b.empty() == a.with.empty()) {
    return absl::InvalidArgumentError(
        "name a second device of this host, or another host (--with), and not both");
  }
  if (a.with.empty() && (a.a == "ring") != (a.b == "ring")) {
    return absl::InvalidArgumentError("a ring has two ends: weir nic check ring ring");
  }
  if (a.with.empty()) return absl::OkStatus();
  if (a.a == "ring") {
    return absl::InvalidArgumentError("a ring does not leave this process; name another device");
  }
  if (!a.address_b.empty()) {
    return absl::InvalidArgumentError(
        "with --with the address of B is the other host's to say: weir nic answer --address");
  }
  return absl::OkStatus();
}

void Show(const CheckOutcome& outcome) {
  std::string figures;
  for (const auto& [name, value] : outcome.figures) {
    figures += absl::StrFormat("%s%s %s", figures.empty() ? "" : ", ", name, value);
  }
  if (!outcome.text.empty()) {
    figures = outcome.text + (figures.empty() ? "" : "\n" + std::string(34, ' ') + figures);
  }
  std::printf("%-7s  %-23s  %s\n", Name(outcome.result), outcome.name.c_str(), figures.c_str());
  std::fflush(stdout);
}

int RunCheck(const CheckArguments& a) {
  if (absl::Status status = CheckUsage(a); !status.ok()) {
    return Fail("nic check", status, kExitUsage);
  }
  CheckOptions options = OptionsOf(a);
  absl::StatusOr<CheckHosts> hosts = HostsOf(a, options);
  if (!hosts.ok()) {
    return Fail("nic check", hosts.status(),
                absl::IsInvalidArgument(hosts.status()) ? kExitUsage : kExitMissing);
  }
  options.a.mtu = options.b.mtu = a.mtu;
  if (options.label.empty()) options.label = options.a.device + " - " + options.b.device;
  const absl::StatusOr<CheckReport> report = RunChecks(options, *std::move(hosts), Show);
  if (!report.ok()) {
    return Fail("nic check", report.status(),
                absl::IsAborted(report.status()) ? kExitFailed : kExitMissing);
  }
  std::printf("%zu passed, %zu failed, %zu skipped\n", report->Count(CheckResult::kPassed),
              report->Count(CheckResult::kFailed), report->Count(CheckResult::kSkipped));
  absl::Status status = WriteTo(a.markdown, CheckMarkdown(*report));
  status.Update(WriteTo(a.json_path, CheckJson(*report).dump(2) + "\n"));
  if (!status.ok()) return Fail("nic check", status, kExitMissing);
  return report->Count(CheckResult::kFailed) == 0 ? kExitOk : kExitFailed;
}

// --- matrix ---

int RunMatrix(const std::vector<std::string>& files) {
  std::vector<json> reports;
  for (const std::string& file : files) {
    std::ifstream in(file);
    json report = json::parse(in, nullptr, false);
    if (report.is_discarded()) {
      return Fail("nic matrix", absl::InvalidArgumentError(file + " cannot be read as JSON"),
                  kExitUsage);
    }
    reports.push_back(std::move(report));
  }
  const absl::StatusOr<std::string> text = MatrixMarkdown(reports);
  if (!text.ok()) return Fail("nic matrix", text.status(), kExitUsage);
  std::printf("%s", text->c_str());
  return kExitOk;
}

void AddProbe(CLI::App& nic, int& exit_code) {
  auto a = std::make_shared<ProbeArguments>();
  auto* command = nic.add_subcommand(
      "probe", "What a port can do, and which algorithms and policies it can run");
  command->add_option("device", a->device,
                      "such as dpdk:0000:3b:00.0 (docs/drivers.md); without it: what there is");
  command->add_option("--address", a->address,
                      "IP address and prefix while it is open; without it 192.0.2.1/24, or an RDMA "
                      "device's own");
  command->add_option("--queues", a->queues, "queue pairs to open")->capture_default_str();
  command->add_option("--argument", a->arguments, "passed to DPDK as it is; may be given again");
  command->add_option("--json", a->json_path, "also write it to this file; -: only JSON, here");
  command->callback([a, &exit_code] { exit_code = RunProbe(*a); });
}

void AddCheck(CLI::App& nic, int& exit_code) {
  auto a = std::make_shared<CheckArguments>();
  auto* command = nic.add_subcommand(
      "check",
      "The conformance suite over two ports that reach each other, of this host or of two");
  command->add_option("A", a->a, "a device; \"ring\", twice: two devices over rings")->required();
  command->add_option("B", a->b, "the other, of this host; it is opened first");
  command->add_option(
      "--with", a->with,
      absl::StrFormat(
          "instead of B: host and TCP port (without it %d) where `weir nic answer` runs",
          kAnswerPort));
  command->add_option("--label", a->label, "name of the pair in the report");
  command->add_option(
      "--address-a", a->address_a,
      "IP address and prefix of A; without it 10.94.0.1/24, or an RDMA device's own");
  command->add_option("--address-b", a->address_b, "of B; without it 10.94.0.2/24, or its own");
  command->add_option("-m,--mtu", a->mtu, "largest IP packet, bytes; 0: as the devices are set");
  command->add_option("--queues", a->queues, "of the check of several")
      ->capture_default_str()
      ->check(CLI::Range(2, 64));
  command->add_option("--frames", a->frames, "numbered frames of each length, each way")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--only", a->only, "a check to run, instead of all; may be given again")
      ->check(CLI::IsMember(CheckNames()));
  command->add_flag("--remove", a->remove,
                    "take A out of its slot while it works, and put it back");
  command->add_option(
      "--after-open", a->after_open,
      "a command to run here each time they were opened, such as joining interfaces");
  command->add_option("--link-with", a->link_with,
                      "a command that takes the link of A down and up, with down or up behind it: "
                      "\"ip link set eth1\"; without it, A's driver does");
  command->add_option("--argument", a->arguments,
                      "passed to DPDK of this host as it is; may be given again");
  command->add_option("--markdown", a->markdown, "write the report to this file; -: here");
  command->add_option("--json", a->json_path, "write it as JSON; -: here");
  command->footer(
      "Exit code 1 if a check failed. What a device cannot do is skipped, with why.\n"
      "Over two hosts, in this order; frames go from port to port, orders over TCP, and that port\n"
      "asks nobody who they are: use it on a trusted network.\n"
      "  host2$ weir nic answer dpdk:0000:5e:00.0\n"
      "  host1$ weir nic check dpdk:0000:3b:00.0 --with host2");
  command->callback([a, &exit_code] { exit_code = RunCheck(*a); });
}

}  // namespace

void AddNicCommand(CLI::App& app, int& exit_code) {
  CLI::App* nic = app.add_subcommand("nic", "Look at ports: probe one, check two, compare many");
  nic->require_subcommand(1);
  AddProbe(*nic, exit_code);
  AddCheck(*nic, exit_code);
  AddNicAnswer(*nic, exit_code);
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* matrix =
      nic->add_subcommand("matrix", "Reports of `weir nic check --json` as tables in Markdown");
  matrix->add_option("files", *files, "the reports")->required()->check(CLI::ExistingFile);
  matrix->callback([files, &exit_code] { exit_code = RunMatrix(*files); });
}

}  // namespace weir
