// What `weir serve` and `weir perf` need to know of this host: a file, or options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "nic_drivers/host/context.h"

namespace weir {

struct HostOptions {
  std::string config;
  std::string device;
  std::string address;
  std::string gateway;
  std::string cc;
  std::string lb;
  uint32_t mtu = 0;
  uint32_t workers = 0;
  std::string payload;
  bool idle_sleep = false;
};

void AddHostOptions(CLI::App& command, HostOptions& options);
// Options stand above the file.
absl::StatusOr<ContextOptions> MakeContextOptions(const HostOptions& options);
// Tells on stderr what the device is and what could be better.
void ShowDevice(const Context& context);

}  // namespace weir
