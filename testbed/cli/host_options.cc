#include "testbed/cli/host_options.h"

#include <cstdio>
#include <fstream>
#include <sstream>

#include "absl/strings/str_format.h"
#include "nic_drivers/host/binding_text.h"

namespace weir {
namespace {

constexpr uint32_t kMessages = 1 << 14;  // under way at once, without a file

// The text of a file that says what the options say; what is empty stays out.
std::string ConfigOf(const HostOptions& o) {
  std::string text = "schema = 1\n[device]\n";
  const auto line = [&text](const char* key, const std::string& value) {
    if (!value.empty()) text += absl::StrFormat("%s = '%s'\n", key, value);
  };
  line("name", o.device);
  line("address", o.address);
  line("gateway", o.gateway);
  if (o.mtu > 0) text += absl::StrFormat("mtu = %d\n", o.mtu);
  text += "[engine]\n";
  if (o.workers > 0) text += absl::StrFormat("workers = %d\n", o.workers);
  if (o.idle_sleep) text += "idle_sleep = true\n";
  text += "[network]\n";
  line("payload", o.payload);
  text += "[connections]\n";
  line("cc", o.cc);
  line("lb", o.lb);
  return text;
}

}  // namespace

void AddHostOptions(CLI::App& command, HostOptions& o) {
  command.add_option("--config", o.config, "TOML file of this host (docs/hosts.md)");
  command.add_option("-d,--device", o.device,
                     "device, such as dpdk:0000:3b:00.0 (docs/drivers.md)");
  command.add_option("--address", o.address, "IP address and prefix of this host: 10.0.0.1/24");
  command.add_option("--gateway", o.gateway, "next hop of what is not on the link");
  command.add_option("--cc", o.cc, "congestion control (weir list cc)");
  command.add_option("--lb", o.lb, "load balancing (weir list lb)");
  command.add_option("-m,--mtu", o.mtu, "largest IP packet, bytes; 0: as the device is set");
  command.add_option("--payload", o.payload, "bytes a packet: 4096B; default: what the MTU takes");
  command.add_option("--workers", o.workers, "endpoints, a core each");
  command.add_flag("--idle-sleep", o.idle_sleep, "sleep while nothing is due, instead of polling");
}

absl::StatusOr<ContextOptions> MakeContextOptions(const HostOptions& o) {
  const bool options_too = !o.device.empty() || !o.address.empty() || !o.gateway.empty() ||
                           !o.cc.empty() || !o.lb.empty() || o.mtu > 0 || o.workers > 0 ||
                           !o.payload.empty();
  if (!o.config.empty() && options_too) {
    return absl::InvalidArgumentError(
        "--config and options of the host exclude each other; write all of it in the file");
  }
  if (o.config.empty()) {
    absl::StatusOr<ContextOptions> options = ParseContext(ConfigOf(o), "command line");
    if (options.ok()) options->messages_max = kMessages;
    return options;
  }
  absl::StatusOr<ContextOptions> options = LoadContext(o.config);
  if (options.ok() && o.idle_sleep) options->idle_sleep = true;
  return options;
}

void ShowDevice(const Context& context) {
  for (const std::string& feature : context.device().features()) {
    std::fprintf(stderr, "device: %s\n", feature.c_str());
  }
  for (const std::string& warning : context.device().warnings()) {
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  }
}

}  // namespace weir
