// An experiment: fabric, traffic, faults, arms and seeds. What one TOML file says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"
#include "datapath/sender.h"
#include "testbed/experiment/samples.h"
#include "testbed/fabric/fabric.h"
#include "testbed/fabric/faults.h"
#include "testbed/fabric/topology.h"
#include "testbed/traffic/job.h"
#include "testbed/traffic/traffic.h"

namespace weir {

// A number of bytes, absolute or in bandwidth-delay products of the longest path: "64KiB",
// "0.8bdp".
struct Depth {
  Bytes bytes{};
  double bdps = 0;

  Bytes Of(Bytes bdp) const { return bytes + Scaled(bdp, bdps); }
  bool zero() const { return bytes == Bytes(0) && bdps == 0; }
};

struct FabricSpec {
  Topology topology{};
  SwitchConfig switches{};  // with the depths below still to be filled in
  Depth queue_limit{.bdps = 1};
  Depth control_limit{};
  Depth buffer{};
  Depth mark_min{.bdps = 0.2};
  Depth mark_max{.bdps = 0.8};
  Depth pfc_xoff{};
  bool marking = true;
  std::vector<std::string> classes{};  // names of switches.classes; the first is of what says none
  // Whether outputs towards hosts mark; by default not for an algorithm whose receiver grants.
  enum class LastHop : uint8_t { kAuto, kOn, kOff } mark_last_hop = LastHop::kAuto;
};

enum class TrafficKind : uint8_t {
  kMatrix,
  kPermutation,
  kIncast,
  kAllToAll,
  kRingAllReduce,
  kJobs,
};
struct TrafficSpec {
  TrafficKind kind = TrafficKind::kPermutation;
  Traffic matrix{};  // of kMatrix
  Bytes size = Bytes(2'000'000);
  uint32_t senders = 8;   // of kIncast
  uint32_t receiver = 0;  // of kIncast
  Duration jitter{};      // of kIncast: senders begin within this, by the seed
  uint32_t ranks = 0;     // of kRingAllReduce; 0: all hosts
  std::vector<JobSpec> jobs{};
  std::string name{};  // for people; CheckExperiment fills it in
};

struct TransportSpec {
  uint16_t payload = 4096;
  bool v6 = false;
  Duration reorder_window{};  // 0: derived
  Duration rto_min{};         // 0: derived
  Duration ack_delay{};       // 0: derived
  int retries_max = 8;
  uint32_t chunk = 64 * 1024;  // bytes, of HomeKind::kRdma
};

// Another algorithm and policy for some connections of an arm. What is not said matches all.
struct ArmRule {
  std::string name{};
  std::optional<Distance> distance{};
  Bytes size_min{};  // of the largest message of the connection
  Bytes size_max = Bytes::Max();
  std::optional<uint8_t> traffic_class{};
  std::string class_name{};  // of that, for people
  std::string collective{};  // all that the connection carries is of these; "sendrecv": single ones
  Binding binding{};

  bool matches_all() const {
    return !distance.has_value() && size_min <= Bytes(0) && size_max == Bytes::Max() &&
           !traffic_class.has_value() && collective.empty();
  }
};

struct Arm {
  std::string name{};
  Binding binding{};
  std::vector<ArmRule> rules{};  // the first that matches a connection decides
  // Other than 0: other random choices of switches and policies, on the same traffic. Two arms that
  // differ in nothing else make an A/A experiment.
  uint64_t salt = 0;
};

// One key of the experiment's file, or an override: "fabric.rate" and "'100Gbps'".
struct GivenValue {
  std::string key{};
  std::string value{};
};

// Where it runs: in virtual time; in the loopback testbed; over devices and whatever is between
// them; over RDMA devices in RDMA mode.
enum class HomeKind : uint8_t { kVirtual, kLoopback, kPorts, kRdma };

struct Experiment {
  std::string name;
  std::string source;  // file, or the command line
  FabricSpec fabric{};
  TrafficSpec traffic{};
  TransportSpec transport{};
  std::vector<Fault> faults;
  std::vector<Arm> arms;
  std::vector<uint64_t> seeds{1};
  Duration time_limit = Seconds(1);  // of the experiment's time after the start of traffic
  HomeKind home = HomeKind::kVirtual;
  std::vector<GivenValue> given{};  // see given.h
  SampleSpec samples{};
  bool breakdown = false;  // of the times of collectives and steps
  double time_scale = 0;   // in real time; 0: chosen for the machine (loopback), 1 (ports)
  std::vector<DeviceOptions> ports{};  // of HomeKind::kPorts and kRdma, by host

  bool OverPorts() const { return home == HomeKind::kPorts || home == HomeKind::kRdma; }
};

// The traffic of one seed. Fails if jobs do not fit the fabric, which CheckExperiment finds.
absl::StatusOr<Traffic> MakeTraffic(const Experiment& experiment, uint64_t seed);

// Reads an experiment from TOML text; `file` stands in messages and is where relative paths start.
// Each of `overrides` is "section.key=value". Errors give file, line, what is wrong and the remedy.
absl::StatusOr<Experiment> ParseExperiment(const std::string& text, const std::string& file,
                                           const std::vector<std::string>& overrides);
absl::StatusOr<Experiment> LoadExperiment(const std::string& path,
                                          const std::vector<std::string>& overrides);

// Refuses what cannot work: an algorithm whose signals the fabric does not give, traffic for more
// hosts than there are, a home that is not built in; and names the traffic. ParseExperiment has
// called it.
absl::Status CheckExperiment(Experiment& experiment);

// The signals that the fabric of an experiment supplies.
Signals SignalsOf(const Experiment& experiment);
// Why an arm cannot run there; empty: it can.
std::string WhyUnfit(const Binding& binding, const Experiment& experiment);

}  // namespace weir
