#include "testbed/experiment/fingerprint.h"

#include <sched.h>
#include <sys/utsname.h>

#include <fstream>

#include "absl/strings/str_format.h"
#include "testbed/experiment/report_parts.h"
#include "testbed/generated/build_facts.h"

namespace weir {
namespace {

std::string FirstLine(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line.empty() ? "unknown" : line;
}

std::string SystemText() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return absl::StrFormat("%s %s %s", name.sysname, name.release, name.machine);
}

std::string CpuText() {
  std::ifstream in("/proc/cpuinfo");
  std::string model = "unknown";
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, 10, "model name") != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) model = line.substr(colon + 2);
    break;
  }
  cpu_set_t usable;
  CPU_ZERO(&usable);
  const int count = sched_getaffinity(0, sizeof(usable), &usable) == 0 ? CPU_COUNT(&usable) : 0;
  return absl::StrFormat("%s, %d usable", model, count);
}

}  // namespace

const char* Revision() { return WEIR_REVISION; }

Fingerprint MakeFingerprint() {
  return {.version = WEIR_VERSION,
          .revision = Revision(),
          .compiler = __VERSION__,
          .build = WEIR_BUILD,
          .system = SystemText(),
          .cpu = CpuText(),
          .clock = FirstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource")};
}

nlohmann::json ToJson(const Fingerprint& f) {
  return {{"version", f.version}, {"revision", f.revision}, {"compiler", f.compiler},
          {"build", f.build},     {"system", f.system},     {"cpu", f.cpu},
          {"clock", f.clock}};
}

std::string DriverText(const Experiment& e) {
  if (e.home == HomeKind::kVirtual) return "virtual time";
  return e.home == HomeKind::kLoopback ? "DPDK " WEIR_DPDK_VERSION ", net_ring" : PortsText(e);
}

}  // namespace weir
