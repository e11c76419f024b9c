// What an endpoint counts. Every counter only grows; units are packets or bytes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace weir {

struct Counters {
  // Sender.
  uint64_t data_packets_sent = 0;  // retransmissions included
  uint64_t data_bytes_sent = 0;    // payload, retransmissions included
  uint64_t retransmitted_packets = 0;
  uint64_t spurious_retransmissions = 0;  // judged lost, yet arrived
  uint64_t lost_by_trim = 0;              // packets, by how the loss was found
  uint64_t lost_by_order = 0;
  uint64_t lost_by_time = 0;
  uint64_t lost_by_timeout = 0;
  uint64_t timeouts = 0;
  uint64_t probes_sent = 0;
  uint64_t acks_received = 0;
  uint64_t marks_echoed = 0;  // packets reported as marked
  uint64_t cnps_received = 0;
  uint64_t rtt_rejected = 0;  // samples across a host stall or below zero
  // Receiver.
  uint64_t data_packets_received = 0;  // new ones
  uint64_t data_bytes_received = 0;    // payload, each byte once
  uint64_t duplicates_received = 0;
  uint64_t marks_received = 0;  // CE on data packets, duplicates included
  uint64_t trims_received = 0;
  uint64_t acks_sent = 0;
  uint64_t cnps_sent = 0;
  uint64_t credits_sent = 0;
  uint64_t outside_window = 0;
  uint64_t no_buffer_drops = 0;  // no message state, no completion room
  // Frames that were dropped before any connection saw them.
  uint64_t bad_frames = 0;  // short, not ours, field out of range
  uint64_t bad_checksums = 0;
  uint64_t bad_versions = 0;
  uint64_t unknown_connections = 0;
  // Both.
  uint64_t control_dropped = 0;   // control packets that found no room in our own queue
  uint64_t host_stalls = 0;       // times the poll loop came late
  uint64_t clock_steps_back = 0;  // times the port's clock ran backwards, which it must not
  uint64_t tx_pages_short = 0;    // sends put off because no record page was free

  Counters& operator+=(const Counters& other);
  Counters operator-(const Counters& earlier) const;
};

namespace internal {
// Counters has nothing but uint64_t: a row of numbers.
using CounterRow = std::array<uint64_t, sizeof(Counters) / sizeof(uint64_t)>;
static_assert(sizeof(CounterRow) == sizeof(Counters));
}  // namespace internal

inline Counters& Counters::operator+=(const Counters& other) {
  auto sum = std::bit_cast<internal::CounterRow>(*this);
  const auto more = std::bit_cast<internal::CounterRow>(other);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  return *this = std::bit_cast<Counters>(sum);
}
inline Counters Counters::operator-(const Counters& earlier) const {
  auto rest = std::bit_cast<internal::CounterRow>(*this);
  const auto less = std::bit_cast<internal::CounterRow>(earlier);
  for (size_t i = 0; i < rest.size(); ++i) rest[i] -= less[i];
  return std::bit_cast<Counters>(rest);
}

}  // namespace weir
