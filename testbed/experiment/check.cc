// What an experiment means, beyond what its file says.
#include <set>

#include "absl/strings/str_format.h"
#include "datapath/signal_names.h"
#include "testbed/experiment/arm_rules.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/homes.h"
#include "testbed/loopback/time_scale.h"

namespace weir {

Signals SignalsOf(const Experiment& e) {
  // Packets are the devices' own in RDMA mode.
  if (e.home == HomeKind::kRdma) return Signal::kRtt;
  const FabricSpec& fabric = e.fabric;
  Signals signals = Signal::kRtt | Signal::kCredit | Signal::kNicTimestamps;
  if (fabric.marking) signals = signals | Signal::kMarkEcho | Signal::kCnp;
  if (fabric.switches.telemetry) signals = signals | Signal::kTelemetry;
  if (fabric.switches.path_load) signals = signals | Signal::kPathLoad;
  if (fabric.switches.trimming) signals = signals | Signal::kTrimNotice;
  return signals;
}

std::string WhyUnfit(const Binding& binding, const Experiment& e) {
  if (const char* why = binding.mismatch(); why != nullptr) {
    return absl::StrFormat(
        "%s does not go with %s, because %s; choose a policy that keeps to a path, or a larger "
        "unit of spreading",
        binding.cc->name, binding.lb->name, why);
  }
  const Signals missing = (binding.cc->needs | binding.lb->needs).Without(SignalsOf(e));
  if (missing.empty()) return "";
  const char* remedy =
      e.home == HomeKind::kRdma
          ? "home = \"rdma\" does not give: RDMA devices show the times of completions alone; "
            "choose an algorithm and a policy that need no more, such as swift over power_of_two"
          : "this fabric does not give; set marking, telemetry, path_load or trimming in [fabric], "
            "or choose another algorithm";
  return absl::StrFormat("%s with %s needs %s, which %s", binding.cc->name, binding.lb->name,
                         SignalNames(missing), remedy);
}

namespace {

size_t HostsThatTalk(const Traffic& traffic) {
  std::set<uint32_t> hosts;
  for (const TrafficConnection& c : traffic.connections) hosts.insert({c.from, c.to});
  return hosts.size();
}

// Host i is the i-th of [[ports]].
std::string WhyNotOnPorts(const Experiment& e) {
  if (e.ports.size() != e.fabric.topology.hosts) {
    return absl::StrFormat(
        "the fabric has %d hosts, and [[ports]] names %d devices; name one for each host, or use "
        "home = \"virtual\"",
        e.fabric.topology.hosts, e.ports.size());
  }
  if (e.faults.empty()) return "";
  return "[[faults]] are of a modelled fabric, and devices have a real one between them; drop "
         "them, or use home = \"loopback\"";
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
    if (const std::string why = WhyNotOnPorts(e); !why.empty()) return fail(why);
  }
  for (const Arm& arm : e.arms) {
    const std::string why = WhyUnfit(arm.binding, e);
    if (!why.empty()) return fail(absl::StrFormat("arm \"%s\": %s", arm.name, why));
    for (const ArmRule& rule : arm.rules) {
      const std::string unfit = WhyUnfit(rule, arm, e);
      if (!unfit.empty()) {
        return fail(absl::StrFormat("arm \"%s\", %s: %s", arm.name, rule.name, unfit));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace weir
