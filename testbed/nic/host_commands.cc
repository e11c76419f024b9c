#include "testbed/nic/host_commands.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"
#include "testbed/nic/host_json.h"

namespace weir {

using nlohmann::json;

const HostCommands::Command HostCommands::kCommands[] = {
    {"open", Needs::kClosed, &HostCommands::Open},
    {"close", Needs::kNothing, &HostCommands::Close},
    {"look", Needs::kDevice, &HostCommands::Look},
    {"set link", Needs::kDevice, &HostCommands::SetLink},
    {"resolve", Needs::kDevice, &HostCommands::Resolve},
    {"report", Needs::kNothing, &HostCommands::Report},
    {"start frames", Needs::kDevice, &HostCommands::StartFrames},
    {"go on", Needs::kFrames, &HostCommands::GoOn},
    {"end frames", Needs::kFrames, &HostCommands::EndFrames},
    {"start exchange", Needs::kDevice, &HostCommands::StartExchange},
    {"connect", Needs::kExchange, &HostCommands::Connect},
    {"drain", Needs::kExchange, &HostCommands::Drain},
    {"report exchange", Needs::kExchange, &HostCommands::ReportExchange},
    {"end exchange", Needs::kNothing, &HostCommands::EndExchange},
};

bool HostCommands::Ready(Needs needs) const {
  switch (needs) {
    case Needs::kNothing:
      return true;
    case Needs::kClosed:
      return !host_.open() && !host_.in_exchange();
    case Needs::kDevice:
      return host_.open();
    case Needs::kFrames:
      return host_.in_frames();
    case Needs::kExchange:
      return host_.open() && host_.in_exchange();
  }
  return false;
}

absl::StatusOr<json> HostCommands::Do(const json& request) {
  JsonFields fields("the request", request);
  std::string name;
  fields.Read("do", name);
  if (!fields.status().ok()) return fields.status();
  const auto* const command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                           [&name](const Command& c) { return name == c.name; });
  if (command == std::end(kCommands)) {
    return absl::InvalidArgumentError(absl::StrFormat("there is no request \"%s\"", name));
  }
  if (!Ready(command->needs)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("\"%s\" makes no sense as the device is now", name));
  }
  json reply = json::object();
  (this->*command->run)(fields, reply);
  if (!fields.status().ok()) return fields.status();
  host_.Poll();  // so that the answer is news
  reply["report"] = ToJson(
      HostReport{.progress = host_.progress(), .link_up = host_.link_up(), .gone = host_.gone()});
  return reply;
}

NetAddress HostCommands::ReadPeer(JsonFields& request) {
  NetAddress peer;
  const json value = request.ReadAny("peer");
  request.Update(FromJson(value, peer));
  if (peer.v6 != host_.Look().address.v6) {
    request.Fail("peer", "has an address of another version than the device");
  }
  return peer;
}

void HostCommands::Open(JsonFields& request, json& reply) {
  DeviceOptions asked;
  request.Update(FromJson(request.ReadAny("options"), asked));
  if (!request.status().ok()) return;
  DeviceOptions options = own_;
  options.address = asked.address;
  options.gateway = asked.gateway;
  options.queues = asked.queues;
  options.mtu = asked.mtu;
  options.vlan = asked.vlan;
  options.offloads = asked.offloads;
  absl::StatusOr<std::unique_ptr<NicDevice>> device = open_(options);
  if (device.ok()) host_.Take(*std::move(device));
  reply["status"] = ToJson(device.status());
}

void HostCommands::Close(JsonFields&, json&) { host_.Close(); }

void HostCommands::Look(JsonFields&, json& reply) { reply["device"] = ToJson(host_.Look()); }

void HostCommands::SetLink(JsonFields& request, json& reply) {
  bool up = false;
  request.Read("up", up);
  if (request.status().ok()) reply["status"] = ToJson(host_.SetLink(up));
}

void HostCommands::Resolve(JsonFields& request, json& reply) {
  NetAddress peer = ReadPeer(request);
  if (!request.status().ok()) return;
  reply["status"] = ToJson(host_.Resolve(peer));
  reply["peer"] = ToJson(peer);
}

void HostCommands::Report(JsonFields&, json&) {}  // every answer has one

void HostCommands::StartFrames(JsonFields& request, json&) {
  FrameTrialOptions options;
  bool sends = false;
  const NetAddress peer = ReadPeer(request);
  request.Update(FromJson(request.ReadAny("options"), options));
  request.Read("sends", sends);
  if (options.packet < FramePacketMin(peer.v6) || options.packet > host_.Look().caps.mtu) {
    request.Fail("options", "asks for packets that the device does not carry");
  }
  if (host_.in_exchange()) request.Fail("do", "is asked for in the midst of messages");
  if (request.status().ok()) host_.StartFrames(options, peer, sends);
}

void HostCommands::GoOn(JsonFields& request, json&) {
  uint32_t frames = 0;
  request.Read("frames", frames);
  if (request.status().ok()) host_.GoOnTo(frames);
}

void HostCommands::EndFrames(JsonFields&, json& reply) {
  reply["result"] = ToJson(host_.EndFrames());
}

void HostCommands::StartExchange(JsonFields& request, json&) {
  ExchangeOptions options;
  bool asks = false;
  request.Update(FromJson(request.ReadAny("options"), options));
  request.Read("asks", asks);
  if (host_.in_exchange() || host_.in_frames()) {
    request.Fail("do", "is asked for in the midst of something else");
  }
  if (request.status().ok()) host_.StartExchange(options, asks);
}

void HostCommands::Connect(JsonFields& request, json&) {
  const NetAddress peer = ReadPeer(request);
  if (request.status().ok()) host_.Connect(peer);
}

void HostCommands::Drain(JsonFields&, json&) { host_.Drain(); }

void HostCommands::ReportExchange(JsonFields&, json& reply) {
  reply["result"] = ToJson(host_.Report());
}

void HostCommands::EndExchange(JsonFields&, json&) { host_.EndExchange(); }

}  // namespace weir
