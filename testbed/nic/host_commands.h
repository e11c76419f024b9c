// What a checker on another host may have done to a device of this one.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "testbed/nic/check.h"
#include "testbed/nic/json_fields.h"
#include "testbed/nic/local_host.h"

namespace weir {

class HostCommands {
 public:
  // `own`: the device and how it is opened, which a checker changes in part (host_json.h); it has
  // no say in the device's name and in arguments of its library.
  HostCommands(const DeviceOptions& own, DeviceOpener open) : own_(own), open_(std::move(open)) {}

  // Does what {"do": ...} asks for, and answers with how far the host is. Fails, and nothing is
  // done, where the request makes no sense, or not now.
  absl::StatusOr<nlohmann::json> Do(const nlohmann::json& request);
  void Poll() { host_.Poll(); }
  bool open() const { return host_.open(); }

 private:
  enum class Needs { kNothing, kClosed, kDevice, kFrames, kExchange };
  using Handler = void (HostCommands::*)(JsonFields& request, nlohmann::json& reply);
  struct Command {
    const char* name;
    Needs needs;
    Handler run;
  };
  static const Command kCommands[];

  // Each does nothing if it finds something wrong with the request.
  void Open(JsonFields& request, nlohmann::json& reply);
  void Close(JsonFields& request, nlohmann::json& reply);
  void Look(JsonFields& request, nlohmann::json& reply);
  void SetLink(JsonFields& request, nlohmann::json& reply);
  void Resolve(JsonFields& request, nlohmann::json& reply);
  void Report(JsonFields& request, nlohmann::json& reply);
  void StartFrames(JsonFields& request, nlohmann::json& reply);
  void GoOn(JsonFields& request, nlohmann::json& reply);
  void EndFrames(JsonFields& request, nlohmann::json& reply);
  void StartExchange(JsonFields& request, nlohmann::json& reply);
  void Connect(JsonFields& request, nlohmann::json& reply);
  void Drain(JsonFields& request, nlohmann::json& reply);
  void ReportExchange(JsonFields& request, nlohmann::json& reply);
  void EndExchange(JsonFields& request, nlohmann::json& reply);

  bool Ready(Needs needs) const;
  // An address of the device's own kind.
  NetAddress ReadPeer(JsonFields& request);

  DeviceOptions own_;
  DeviceOpener open_;
  LocalHost host_;
};

}  // namespace weir
