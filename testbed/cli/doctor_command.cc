// weir doctor: is this host fit for NIC devices?
#include <cstdio>
#include <memory>
#include <string>

#include "testbed/cli/commands.h"
#ifdef WEIR_HAS_DPDK
#include "nic_drivers/dpdk/doctor.h"
#endif

namespace weir {
namespace {

#ifdef WEIR_HAS_DPDK

const char* Word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarn:
      return "warn";
    case Verdict::kFail:
      return "fail";
  }
  return "?";
}

int Examine(const std::string& device) {
  int exit_code = kExitOk;
  for (const Finding& finding : ExamineHost(device)) {
    std::printf("%-4s  %s\n", Word(finding.verdict), finding.text.c_str());
    if (!finding.remedy.empty()) std::printf("      %s\n", finding.remedy.c_str());
    if (finding.verdict == Verdict::kFail) exit_code = kExitMissing;
  }
  return exit_code;
}

#else

int Examine(const std::string& /*device*/) {
  std::printf(
      "fail  this build of Weir has no NIC driver\n"
      "      sudo apt-get install libdpdk-dev librte-meta-net, and build again\n");
  return kExitMissing;
}

#endif

}  // namespace

void AddDoctorCommand(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("doctor", "what this host lacks to run Weir on NICs, with the remedies");
  auto device = std::make_shared<std::string>();
  command->add_option("--device", *device, "look at this device, too, as in dpdk:0000:3b:00.0");
  command->callback([device, &exit_code] { exit_code = Examine(*device); });
}

}  // namespace weir
