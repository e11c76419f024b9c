// weir doctor: is this host fit for NIC devices?
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "testbed/cli/commands.h"
#ifdef WEIR_HAS_DPDK
#include "nic_drivers/dpdk/doctor.h"
#endif
#ifdef WEIR_HAS_VERBS
#include "nic_drivers/verbs/doctor.h"
#endif
#include "nic_drivers/finding.h"

namespace weir {
namespace {

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

// By all drivers that are built in.
std::vector<Finding> ExamineAll(const std::string& device) {
  std::vector<Finding> findings;
  [[maybe_unused]] const bool rdma = device.rfind("verbs:", 0) == 0;
#ifdef WEIR_HAS_DPDK
  findings = ExamineHost(rdma ? "" : device);
#else
  findings.push_back(
      {.verdict = rdma ? Verdict::kWarn : Verdict::kFail,
       .text = "this build of Weir has no DPDK driver",
       .remedy = "sudo apt-get install libdpdk-dev librte-meta-net, and build again"});
#endif
#ifdef WEIR_HAS_VERBS
  for (Finding& finding : ExamineRdma(device)) findings.push_back(std::move(finding));
#else
  findings.push_back({.verdict = rdma ? Verdict::kFail : Verdict::kWarn,
                      .text = "this build of Weir has no driver for RDMA devices",
                      .remedy = "sudo apt-get install libibverbs-dev ibverbs-providers, and build "
                                "again"});
#endif
  return findings;
}

int Examine(const std::string& device) {
  int exit_code = kExitOk;
  for (const Finding& finding : ExamineAll(device)) {
    std::printf("%-4s  %s\n", Word(finding.verdict), finding.text.c_str());
    if (!finding.remedy.empty()) std::printf("      %s\n", finding.remedy.c_str());
    if (finding.verdict == Verdict::kFail) exit_code = kExitMissing;
  }
  return exit_code;
}

}  // namespace

void AddDoctorCommand(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("doctor", "what this host lacks to run Weir on NICs, with the remedies");
  auto device = std::make_shared<std::string>();
  command->add_option("--device", *device,
                      "look at this device, too, as in dpdk:0000:3b:00.0 or verbs:rxe0");
  command->callback([device, &exit_code] { exit_code = Examine(*device); });
}

}  // namespace weir
