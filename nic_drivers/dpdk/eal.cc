#include "nic_drivers/dpdk/eal.h"

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_random.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "nic_drivers/dpdk/eal_log.h"
#include "nic_drivers/dpdk/explain.h"
#include "nic_drivers/dpdk/host_facts.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

// Without huge pages: memory is reserved once and touched as it is used.
constexpr int64_t kOrdinaryMegabytes = 1024;
// Fewer free huge pages than this are not worth starting on.
constexpr int64_t kHugeBytesMin = 64 << 20;
// A device that no driver takes: with it as the only one allowed, DPDK probes none by itself.
constexpr const char* kNoDevice = "0000:00:00.0";

struct Eal {
  bool runs = false;
  std::vector<std::string> arguments;  // the user's
  std::vector<std::string> warnings;
  std::string memory;
};
Eal& TheEal() {
  static Eal& eal = *new Eal;
  return eal;
}

bool Has(const std::vector<std::string>& arguments, std::initializer_list<const char*> options) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return std::any_of(options.begin(), options.end(), [&](const char* option) {
      return argument == option || argument.rfind(std::string(option) + "=", 0) == 0;
    });
  });
}

int FirstCpu() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof cpus, &cpus);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) return cpu;
  }
  return 0;
}

// Decided before the start, since a start that fails cannot be repeated in this process.
void ChooseMemory(const std::vector<std::string>& user, Eal& eal, std::vector<std::string>& argv) {
  if (Has(user, {"--no-huge"})) {
    eal.memory = "memory: ordinary pages, as asked";
    return;
  }
  // Whoever names a file prefix wants files of that name: for other processes, for instance.
  const bool files = Has(user, {"--file-prefix"});
  if (FreeHugeBytes() >= kHugeBytesMin) {
    eal.memory = "memory: huge pages";
    if (!files && !Has(user, {"--in-memory", "--huge-dir", "--huge-unlink"})) {
      argv.push_back("--in-memory");
    }
    return;
  }
  eal.memory = absl::StrFormat("memory: ordinary pages, %d MB", kOrdinaryMegabytes);
  eal.warnings.push_back(
      "there are no free huge pages, so ordinary ones are used, which costs speed and cannot serve "
      "NICs that write to memory by themselves; reserve some: echo 1024 | sudo tee "
      "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
  argv.push_back("--no-huge");
  if (!files && !Has(user, {"--no-shconf"})) argv.push_back("--no-shconf");
  if (!Has(user, {"-m"})) {
    argv.insert(argv.end(), {"-m", absl::StrFormat("%d", kOrdinaryMegabytes)});
  }
}

std::vector<std::string> Arguments(const DeviceName& device, const std::vector<std::string>& user,
                                   Eal& eal) {
  std::vector<std::string> argv = {"weir"};
  if (!Has(user, {"-l", "-c", "--lcores"})) {
    argv.insert(argv.end(), {"-l", absl::StrFormat("%d", FirstCpu())});
  }
  if (!Has(user, {"--file-prefix"})) {
    argv.push_back(absl::StrFormat("--file-prefix=weir-%d", getpid()));
  }
  if (!Has(user, {"--log-level"})) argv.push_back("--log-level=notice");
  if (!fs::exists("/sys/bus/pci/devices")) {
    argv.push_back("--no-pci");
  } else if (!Has(user, {"--no-pci", "-a", "--allow", "-b", "--block"})) {
    // The first PCI device is there from the start, so that the way of addressing memory suits it.
    std::string allowed = kNoDevice;
    if (device.pci) {
      allowed = device.name + (device.arguments.empty() ? "" : "," + device.arguments);
    }
    argv.insert(argv.end(), {"-a", allowed});
  }
  ChooseMemory(user, eal, argv);
  argv.insert(argv.end(), user.begin(), user.end());
  return argv;
}

// DPDK keeps its files in $XDG_RUNTIME_DIR, or without it in a folder that belongs to whichever
// user came first: others get one of their own.
absl::Status ChooseRuntimeFolder() {
  if (geteuid() == 0 || std::getenv("XDG_RUNTIME_DIR") != nullptr) return absl::OkStatus();
  struct stat found {};
  if (lstat("/tmp/dpdk", &found) != 0 || found.st_uid == geteuid()) return absl::OkStatus();
  const std::string own = absl::StrFormat("/tmp/weir-%d", geteuid());
  (void)mkdir(own.c_str(), 0700);
  if (lstat(own.c_str(), &found) != 0 || found.st_uid != geteuid() || !S_ISDIR(found.st_mode)) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "DPDK's files can go neither to /tmp/dpdk nor to %s, which are not this user's; set "
        "XDG_RUNTIME_DIR to a folder that is",
        own));
  }
  setenv("XDG_RUNTIME_DIR", own.c_str(), 0);
  return absl::OkStatus();
}

// What DPDK leaves in the file system is of no use after this process.
void RemoveRuntimeFiles() {
  static const pid_t starter = getpid();
  if (getpid() != starter) return;  // a fork of the one that started it
  std::error_code ignored;
  fs::remove_all(rte_eal_get_runtime_dir(), ignored);
}

}  // namespace

absl::StatusOr<DeviceName> ParseDeviceName(const std::string& device) {
  const std::string text = device.rfind("dpdk:", 0) == 0 ? device.substr(5) : device;
  static const std::regex kPci("([0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]");
  DeviceName out;
  const size_t comma = text.find(',');
  out.name = text.substr(0, comma);
  if (comma != std::string::npos) out.arguments = text.substr(comma + 1);
  out.pci = std::regex_match(out.name, kPci);
  if (out.pci && out.name.size() == 7) out.name = "0000:" + out.name;
  static const std::regex kVirtual("(net|eth)_[a-z0-9_]+");
  if (out.pci || std::regex_match(out.name, kVirtual)) return out;
  return absl::InvalidArgumentError(absl::StrFormat(
      "\"%s\" names no DPDK device; write a PCI address (dpdk:0000:3b:00.0) or a virtual device "
      "(dpdk:net_af_packet0,iface=eth1)",
      device));
}

std::string ArgumentOf(const std::string& arguments, const std::string& key) {
  for (const auto& part : absl::StrSplit(arguments, ',')) {
    const std::string argument(part);
    if (argument.rfind(key + "=", 0) == 0) return argument.substr(key.size() + 1);
  }
  return "";
}

absl::Status StartEal(const DeviceName& device, const std::vector<std::string>& arguments) {
  Eal& eal = TheEal();
  if (eal.runs) {
    if (arguments.empty() || arguments == eal.arguments) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "DPDK already runs in this process and takes no further arguments; give them with the "
        "first device that is opened");
  }
  if (absl::Status status = ChooseRuntimeFolder(); !status.ok()) return status;
  std::vector<std::string> text = Arguments(device, arguments, eal);
  std::vector<char*> argv;
  for (std::string& argument : text) argv.push_back(argument.data());
  if (!Has(arguments, {"--log-level"})) KeepEalLog();

  // DPDK binds the thread that starts it to a core; threads are bound by their owner.
  cpu_set_t cpus;
  const bool known = sched_getaffinity(0, sizeof cpus, &cpus) == 0;
  // Seeded when its library was loaded: processes forked since would make up the same MAC
  // addresses.
  rte_srand(rte_rdtsc() ^ static_cast<uint64_t>(getpid()) << 32);
  const int result = rte_eal_init(static_cast<int>(argv.size()), argv.data());
  if (known) sched_setaffinity(0, sizeof cpus, &cpus);
  if (result < 0) return ExplainStart(rte_errno, TakeEalLog(), arguments);
  eal.arguments = arguments;
  eal.runs = true;
  if (!Has(arguments, {"--file-prefix"})) std::atexit(RemoveRuntimeFiles);
  return absl::OkStatus();
}

bool EalRuns() { return TheEal().runs; }
const std::vector<std::string>& EalWarnings() { return TheEal().warnings; }
const std::string& EalMemory() { return TheEal().memory; }

absl::StatusOr<uint16_t> AttachDevice(const DeviceName& device) {
  const auto find = [&]() -> int {
    for (uint64_t port = rte_eth_find_next_owned_by(0, RTE_ETH_DEV_NO_OWNER);
         port < RTE_MAX_ETHPORTS;
         port = rte_eth_find_next_owned_by(static_cast<uint16_t>(port + 1), RTE_ETH_DEV_NO_OWNER)) {
      const auto ethdev = static_cast<uint16_t>(port);
      rte_eth_dev_info info;
      if (rte_eth_dev_info_get(ethdev, &info) == 0 && device.name == rte_dev_name(info.device)) {
        return ethdev;
      }
    }
    return -1;
  };
  int port = find();
  if (port >= 0 && !device.pci) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "device %s is open already; give each virtual device a number of its own", device.name));
  }
  if (port >= 0) return static_cast<uint16_t>(port);
  if (absl::Status status = CheckBeforeAttach(device); !status.ok()) return status;
  (void)TakeEalLog();
  const int error = rte_eal_hotplug_add(device.pci ? "pci" : "vdev", device.name.c_str(),
                                        device.arguments.c_str());
  port = find();
  if (error != 0 || port < 0) return ExplainAttach(device, error, TakeEalLog());
  return static_cast<uint16_t>(port);
}

void DetachDevice(const DeviceName& device) {
  (void)rte_eal_hotplug_remove(device.pci ? "pci" : "vdev", device.name.c_str());
}

}  // namespace weir
