// What a result depends on beside its configuration: the program, the machine, and its clock.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "testbed/experiment/experiment.h"

namespace weir {

// Of the source when it was built: `git describe --always --dirty`, then a hash of what was changed
// if something was; "unknown" outside of git.
const char* Revision();

struct Fingerprint {
  std::string version{};
  std::string revision{};
  std::string compiler{};
  std::string build{};   // type and flags
  std::string system{};  // "Linux 6.1.0-18-amd64 x86_64"
  std::string cpu{};     // model name, and how many are usable
  std::string clock{};   // of the machine: "tsc"
};
// Of this program on this machine.
Fingerprint MakeFingerprint();
nlohmann::json ToJson(const Fingerprint& fingerprint);

// What carries the packets of an experiment: "virtual time", the DPDK version, or the devices.
std::string DriverText(const Experiment& experiment);

}  // namespace weir
