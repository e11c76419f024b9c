// What a port can do, as the framework sees it, and what it can therefore run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datapath/nic_device.h"

namespace weir {

// Whether an algorithm or a policy can run over a port.
struct PluginFit {
  enum class State {
    kRuns,          // on this port, in any network
    kNeedsNetwork,  // the port does its part; switches have to do theirs
    kCannot,        // the port lacks something
  };
  std::string kind;  // "cc" or "lb"
  std::string name;
  State state = State::kRuns;
  std::string missing{};  // signals, by name
  std::string remark{};   // what it does not go with, and why; empty: nothing
};

struct ProbeReport {
  std::string device;
  std::string mac;
  PortCaps caps{};
  bool link_up = false;
  DeviceFacts facts{};
  std::vector<std::string> features{};
  std::vector<std::string> warnings{};
  std::vector<PluginFit> plugins{};
};

ProbeReport Probe(const NicDevice& device, const std::string& name);
// All registered plug-ins, over a port that supplies `signals`.
std::vector<PluginFit> PluginsOver(Signals signals);

std::string ProbeText(const ProbeReport& report);
// Schema "weir.nic_probe/1".
nlohmann::json ProbeJson(const ProbeReport& report);
nlohmann::json FactsJson(const DeviceFacts& facts);

}  // namespace weir
