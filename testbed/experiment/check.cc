// What an experiment means, beyond what its file says.
#include <algorithm>
#include <set>

#include "absl/strings/str_format.h"
#include "datapath/signal_names.h"
#include "testbed/experiment/arm_rules.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/homes.h"
#include "testbed/loopback/time_scale.h"

namespace weir {

Signals SignalsOf(const FabricSpec& fabric) {
  Signals signals = Signal::kRtt | Signal::kCredit | Signal::kNicTimestamps;
  if (fabric.marking) signals = signals | Signal::kMarkEcho | Signal::kCnp;
  if (fabric.switches.telemetry) signals = signals | Signal::kTelemetry;
  if (fabric.switches.path_load) signals = signals | Signal::kPathLoad;
  if (fabric.switches.trimming) signals = signals | Signal::kTrimNotice;
  return signals;
}

std::string WhyUnfit(const Binding& binding, const FabricSpec& fabric) {
  if (const char* why = binding.mismatch(); why != nullptr) {
    return absl::StrFormat(
        "%s does not go with %s, because %s; choose a policy that keeps to a path, or a larger "
        "unit "
        "of spreading",
        binding.cc->name, binding.lb->name, why);
  }
  const Signals missing = (binding.cc->needs | binding.lb->needs).Without(SignalsOf(fabric));
  if (missing.empty()) return "";
  return absl::StrFormat(
      "%s with %s needs %s, which this fabric does not give; set marking, telemetry, path_load or "
      "trimming "
      "in [fabric], or choose another algorithm",
      binding.cc->name, binding.lb->name, SignalNames(missing));
}

namespace {

// Packets are the devices' own in RDMA mode: RTTs are all that it has.
std::string WhyNotRdma(const Binding& binding) {
  const Signals missing = (binding.cc->needs | binding.lb->needs).Without(Signal::kRtt);
  if (missing.empty()) return "";
  return absl::StrFormat(
      "%s with %s needs %s, which home = \"rdma\" does not give: RDMA devices show the times of "
      "completions alone; choose an algorithm and a policy that need no more, such as swift over "
      "power_of_two",
      binding.cc->name, binding.lb->name, SignalNames(missing));
}

size_t HostsThatTalk(const Traffic& traffic) {
  std::set<uint32_t> hosts;
  for (const TrafficConnection& c : traffic.connections) hosts.insert({c.from, c.to});
  return hosts.size();
}

// Host i is the i-th of [[ports]].
std::string WhyNotOnPorts(const Experiment& e, const Traffic& traffic) {
  uint32_t last = 0;
  for (const TrafficConnection& c : traffic.connections) last = std::max({last, c.from, c.to});
  if (e.ports.size() <= last) {
    return absl::StrFormat(
        "host %d talks, and [[ports]] names %d devices; add one for each host, or use home = "
        "\"virtual\"",
        last, e.ports.size());
  }
  if (!e.faults.empty()) {
    return "[[faults]] are of a modelled fabric, and devices have a real one between them; drop "
           "them, "
           "or "
           "use home = \"loopback\"";
  }
  return "";
}

}  // namespace

absl::Status CheckExperiment(Experiment& e) {
  const uint32_t hosts = e.fabric.topology.hosts;
  const auto fail = [&e](const std::string& message) {
    return absl::InvalidArgumentError(e.source + ": " + message);
  };
  if (e.traffic.kind == TrafficKind::kMatrix && e.traffic.matrix.hosts > hosts) {
    return fail(
        absl::StrFormat("the matrix is for %d hosts, the fabric has %d; choose a larger "
                        "topology",
                        e.traffic.matrix.hosts, hosts));
  }
  if (e.traffic.kind == TrafficKind::kIncast &&
      (e.traffic.senders >= hosts || e.traffic.receiver >= hosts)) {
    return fail(
        absl::StrFormat("incast of %d senders to host %d needs more than the %d hosts of "
                        "the fabric",
                        e.traffic.senders, e.traffic.receiver, hosts));
  }
  if (e.traffic.kind == TrafficKind::kRingAllReduce && e.traffic.ranks > hosts) {
    return fail(absl::StrFormat("%d ranks on %d hosts: one rank a host", e.traffic.ranks, hosts));
  }
  if (hosts < 2) return fail("the fabric has fewer than two hosts");
  if (e.home == HomeKind::kLoopback && !HasLoopback()) {
    return fail(
        "home = \"loopback\" needs DPDK, and this build has none; install libdpdk-dev and build "
        "again, or use home = \"virtual\"");
  }
  if (e.breakdown && e.traffic.kind != TrafficKind::kJobs) {
    return fail(
        "breakdown = true takes collectives and steps apart, and this traffic has none; drop it, "
        "or "
        "use a job, as in [traffic] type = \"collective\"");
  }
  const absl::StatusOr<Traffic> traffic = MakeTraffic(e, e.seeds.front());
  if (!traffic.ok()) return fail(std::string(traffic.status().message()));
  e.traffic.name = traffic->name;
  const size_t talkers = HostsThatTalk(*traffic);
  if (e.home == HomeKind::kLoopback && talkers > kLoopbackHostsMax) {
    return fail(
        absl::StrFormat("%d hosts talk, and the loopback testbed has room for %d; use fewer, or "
                        "home = \"virtual\"",
                        talkers, kLoopbackHostsMax));
  }
  if (e.OverPorts()) {
    if (const std::string why = WhyNotOnPorts(e, *traffic); !why.empty()) return fail(why);
  }
  for (const Arm& arm : e.arms) {
    std::string why = WhyUnfit(arm.binding, e.fabric);
    if (why.empty() && e.home == HomeKind::kRdma) why = WhyNotRdma(arm.binding);
    if (!why.empty()) return fail(absl::StrFormat("arm \"%s\": %s", arm.name, why));
    for (const ArmRule& rule : arm.rules) {
      std::string unfit = WhyUnfit(rule, arm, e.fabric);
      if (unfit.empty() && e.home == HomeKind::kRdma) unfit = WhyNotRdma(rule.binding);
      if (!unfit.empty()) {
        return fail(absl::StrFormat("arm \"%s\", %s: %s", arm.name, rule.name, unfit));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace weir
