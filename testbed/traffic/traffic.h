// What an experiment sends: connections, transfers on them, and which transfer waits for which.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/api/units.h"

namespace weir {

struct TrafficConnection {
  uint32_t from = 0;    // host
  uint32_t to = 0;      // host, another one
  bool urgent = false;  // in the control class
  uint8_t traffic_class = 0;
  bool clears = false;  // carries nothing but clear-to-send messages
};

inline constexpr uint32_t kNoTrigger = 0xFFFF'FFFF;

// One message. It starts at `start` after the beginning of the experiment or, with `after`, when
// that trigger fires.
struct Transfer {
  uint32_t connection = 0;
  Bytes size{};  // > 0
  Duration start{};
  uint32_t after = kNoTrigger;
  uint32_t on_sent = kNoTrigger;      // fires when the sender has the last acknowledgement
  uint32_t on_received = kNoTrigger;  // fires when the receiver has the last byte
  uint32_t label = 0;                 // groups transfers in reports: flow id, step
};

// Starts every transfer and delay that names it in `after`, once it has been fired `count` times;
// again with each further firing if it repeats.
struct Trigger {
  uint32_t count = 1;
  bool repeats = false;
};

// What takes time and no network: computing, a copy within a node, a late start. It begins `length`
// before it fires `on_done`; with length 0 it only joins two triggers.
struct Delay {
  static constexpr uint32_t kNoRank = 0xFFFF'FFFF;

  uint32_t after = kNoTrigger;  // kNoTrigger: at the beginning of the experiment
  Duration length{};
  uint32_t on_done = kNoTrigger;
  uint32_t computes = kNoRank;  // the rank that is busy with it, as its own time counts
};

// Something that users measure from its ranks' arrival to its end: a collective, a transfer.
struct Operation {
  struct Member {
    uint32_t rank = 0;
    uint32_t arrived = kNoTrigger;  // fires when the rank's program comes to it
    uint32_t done = kNoTrigger;     // fires when the rank may go on
  };
  std::string name;       // "all_reduce", "alltoall": as nccl-tests names it
  Bytes size{};           // as nccl-tests counts it
  double bus_factor = 1;  // bus bandwidth over algorithm bandwidth
  Duration ideal{};       // closed form on an idle network; 0: not known
  std::vector<Member> members;
};

// A program that several ranks run in steps.
struct Job {
  std::string name;
  uint32_t first_rank = 0;  // its ranks are numbered from here
  uint32_t ranks = 0;
  std::vector<uint32_t> hosts;  // by rank of the job, with several NICs so many each
  // By step, then rank: fires when the rank has done that step.
  std::vector<std::vector<uint32_t>> steps;
};

struct Traffic {
  std::string name;  // "permutation 128 x 2000000 B"
  uint32_t hosts = 0;
  std::vector<TrafficConnection> connections;
  std::vector<Transfer> transfers;
  std::vector<Trigger> triggers;
  std::vector<Delay> delays;
  std::vector<Operation> operations;
  std::vector<Job> jobs;
};

// Reads a connection matrix of htsim's kind (.cm):
//   Nodes n / Connections c / [Triggers t]
//   src->dst [id F] [start PS | trigger T] size BYTES [send_done_trigger T] [recv_done_trigger T]
//            [prio P] [msg]
//   trigger id T oneshot|multishot|barrier [count K]
// Flows of one (src, dst, id) with `msg` are messages of one connection. `start` is in picoseconds.
// Errors name `file`, the line and the remedy; counts must match.
absl::StatusOr<Traffic> ParseConnectionMatrix(const std::string& text, const std::string& file);

// Every host sends to one other and receives from one: a random derangement.
Traffic Permutation(uint32_t hosts, Bytes size, uint64_t seed);
// `senders` hosts, spread evenly over the others, to one; each begins within `jitter`.
Traffic Incast(uint32_t hosts, uint32_t senders, uint32_t receiver, Bytes size,
               Duration jitter = {}, uint64_t seed = 1);
// All ordered pairs at once; host i's k-th peer is i + k mod hosts.
Traffic AllToAll(uint32_t hosts, Bytes size_per_pair);
// Ring all-reduce of `size` bytes a rank over hosts 0..ranks-1 in order: 2 (ranks - 1) steps of
// size/ranks; a rank sends step s when it has received step s - 1.
Traffic RingAllReduce(uint32_t hosts, uint32_t ranks, Bytes size);

// How long the traffic takes on an idle fabric at best, by two bounds: the busiest host's bytes at
// its line rate, and the longest chain of transfers that wait for each other.
struct IdealInput {
  Bytes mtu_payload{};  // payload of a full packet
  Bytes overhead{};     // header bytes of each packet on the wire
  Rate (*rate)(const void* context, uint32_t host) = nullptr;  // of its link
  // First byte out to last acknowledgement back, for one full packet; by pair of hosts.
  Duration (*round_trip)(const void* context, uint32_t from, uint32_t to) = nullptr;
  const void* context = nullptr;
};
// Of one transfer alone.
Duration IdealTransfer(const IdealInput& in, const Traffic& traffic, const Transfer& transfer);
// Of all of it, from the first start to the last end.
Duration IdealMakespan(const IdealInput& in, const Traffic& traffic);

}  // namespace weir
