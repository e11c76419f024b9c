// Packets with random legal fields, and how to tell that two are the same.
#pragma once

#include <span>
#include <tuple>

#include "datapath/api/rng.h"
#include "datapath/wire.h"
#include "gtest/gtest.h"

namespace weir {

inline DataHeader AnyData(Rng& rng) {
  DataHeader h;
  h.flags = static_cast<uint8_t>(rng.Below(128));
  if (h.in_band() == InBand::kTelemetry) h.flags &= static_cast<uint8_t>(~DataHeader::kPathLoad);
  h.payload = static_cast<uint16_t>(rng.Below(9001));
  h.to.value = static_cast<uint32_t>(rng.Next());
  h.psn = Psn(static_cast<uint32_t>(rng.Next()));
  h.attempt = static_cast<uint8_t>(rng.Next());
  h.address = rng.Next() >> 16;
  h.message = static_cast<uint32_t>(rng.Next());
  h.length = h.payload + rng.Below(1u << 31);
  h.target = static_cast<uint32_t>(rng.Next());
  h.demand = static_cast<uint32_t>(rng.Next());
  h.payload_crc = static_cast<uint32_t>(rng.Next());
  return h;
}

inline SwitchRecord AnyRecord(Rng& rng) {
  return {.stamp = Time(static_cast<int64_t>(rng.Next() >> 1)),
          .transmitted = Bytes(static_cast<int64_t>(rng.Next() >> 1)),
          .queue = Bytes(static_cast<uint32_t>(rng.Next())),
          .rate = Mbps(100) * (1 + rng.Below(65535)),
          .hop = static_cast<uint16_t>(rng.Next())};
}

inline AckHeader AnyAck(Rng& rng) {
  AckHeader h;
  h.flags = static_cast<uint8_t>(rng.Below(4));
  h.words = static_cast<uint8_t>(rng.Below(kSackWords + 1));
  h.records = static_cast<uint8_t>(rng.Below(kMaxHops + 1));
  h.to.value = static_cast<uint32_t>(rng.Next());
  h.cumulative = Psn(static_cast<uint32_t>(rng.Next()));
  h.base = Psn(static_cast<uint32_t>(rng.Next()) & ~63u);
  h.echo = Psn(static_cast<uint32_t>(rng.Next()));
  h.attempt = static_cast<uint8_t>(rng.Next());
  h.hold = Duration(static_cast<int64_t>(rng.Next() >> 1));
  h.credit = static_cast<uint32_t>(rng.Next());
  h.receives = static_cast<uint32_t>(rng.Next());
  for (int i = 0; i < h.words; ++i) h.arrived[i] = rng.Next(), h.marked[i] = rng.Next();
  for (int i = 0; i < h.records; ++i) h.telemetry[i] = AnyRecord(rng);
  return h;
}

inline TrimNotice AnyNotice(Rng& rng) {
  return {.flags = static_cast<uint8_t>(rng.Below(4)),
          .to = {static_cast<uint32_t>(rng.Next())},
          .psn = Psn(static_cast<uint32_t>(rng.Next())),
          .attempt = static_cast<uint8_t>(rng.Next())};
}

inline ControlHeader AnyControl(Rng& rng) {
  return {.type = static_cast<PacketType>(7 + rng.Below(7)),
          .flags = static_cast<uint8_t>(rng.Next()),
          .to = {static_cast<uint32_t>(rng.Next())},
          .from = {static_cast<uint32_t>(rng.Next())},
          .value = static_cast<uint32_t>(rng.Next())};
}

inline OpenHeader AnyOpen(Rng& rng) {
  OpenHeader h;
  h.type = rng.Chance(0.5) ? PacketType::kOpen : PacketType::kAccept;
  h.flags = static_cast<uint8_t>(rng.Below(16));
  if (h.in_band() == InBand::kTelemetry) h.flags &= static_cast<uint8_t>(~OpenHeader::kPathLoad);
  h.to.value = static_cast<uint32_t>(rng.Next());
  h.from.value = 1 + static_cast<uint32_t>(rng.Next() >> 33);
  h.nonce = rng.Next();
  h.first_psn = Psn(static_cast<uint32_t>(rng.Next()));
  h.payload_max = static_cast<uint16_t>(kPayloadMin + rng.Below(65536 - kPayloadMin));
  h.window = static_cast<uint16_t>(128u << rng.Below(9));
  h.receives = static_cast<uint32_t>(rng.Next());
  h.ack_every = static_cast<uint32_t>(rng.Next());
  h.cnp_interval = static_cast<uint32_t>(rng.Next());
  h.scheduler = static_cast<uint16_t>(rng.Next());
  for (char& c : h.algorithm) c = static_cast<char>('a' + rng.Below(26));
  for (char& c : h.policy) c = static_cast<char>('a' + rng.Below(26));
  return h;
}

inline RefuseHeader AnyRefusal(Rng& rng) {
  return {.cause = static_cast<RefuseCause>(1 + rng.Below(4)),
          .to = {static_cast<uint32_t>(rng.Next())},
          .nonce = rng.Next(),
          .detail = static_cast<uint32_t>(rng.Next())};
}

inline auto Fields(const DataHeader& h) {
  return std::tuple(h.flags, h.payload, h.to.value, h.psn.value(), h.attempt, h.address, h.message,
                    h.length, h.target, h.demand, h.payload_crc);
}
inline auto Fields(const SwitchRecord& r) {
  return std::tuple(r.stamp.nanos(), r.transmitted.count(), r.queue.count(), r.rate.count(), r.hop);
}
inline auto Fields(const AckHeader& h) {
  std::array<decltype(Fields(h.telemetry[0])), kMaxHops> records{};
  for (int i = 0; i < h.records; ++i) records[i] = Fields(h.telemetry[i]);
  return std::tuple(h.flags, h.words, h.records, h.to.value, h.cumulative.value(), h.base.value(),
                    h.echo.value(), h.attempt, h.hold.count(), h.credit, h.receives, h.arrived,
                    h.marked, records);
}
inline auto Fields(const TrimNotice& h) {
  return std::tuple(h.flags, h.to.value, h.psn.value(), h.attempt);
}
inline auto Fields(const ControlHeader& h) {
  return std::tuple(h.type, h.flags, h.to.value, h.from.value, h.value);
}
inline auto Fields(const OpenHeader& h) {
  return std::tuple(h.type, h.flags, h.to.value, h.from.value, h.nonce, h.first_psn.value(),
                    h.payload_max, h.window, h.receives, h.ack_every, h.cnp_interval, h.scheduler,
                    h.algorithm, h.policy);
}
inline auto Fields(const RefuseHeader& h) {
  return std::tuple(h.cause, h.to.value, h.nonce, h.detail);
}

}  // namespace weir
