#include "testbed/nic/this_host.h"

#include <sys/utsname.h>

#include <fstream>

#include "absl/strings/str_format.h"

namespace weir {

HostFacts ThisHost() {
  utsname name{};
  (void)uname(&name);
  std::string processor = name.machine;
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    processor = line.substr(line.find(':') + 2);
    break;
  }
  return {.system = absl::StrFormat("%s %s, %s", name.sysname, name.release, processor),
          .version = WEIR_VERSION};
}

}  // namespace weir
