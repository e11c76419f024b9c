// The wire format: addresses, packet headers, encode and decode. The only byte-order code.
//
// Ethernet, IPv4 or IPv6, UDP, then one of the packets below, all fields big-endian. Every packet
// begins with {version 4 bits, type 4 bits}, flags, a 16-bit length and the receiver's connection
// id, and carries a CRC-32C over all of its fields. docs/wire.md has the tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "datapath/api/signals.h"
#include "datapath/api/units.h"

namespace weir {

inline constexpr uint8_t kWireVersion = 1;
// Our own; RoCEv2 has 4791, UET 4793. Worker w of a host, an endpoint on a core, has kUdpPort + w.
inline constexpr uint16_t kUdpPort = 14971;
inline constexpr uint32_t kWorkersMax = 64;

// Code points of the DSCP field; a network's configuration must agree.
inline constexpr uint8_t kDscpData = 4;        // may be trimmed
inline constexpr uint8_t kDscpRetransmit = 8;  // may be trimmed
inline constexpr uint8_t kDscpTrimmed = 12;    // set by the switch that cut the payload
inline constexpr uint8_t kDscpTrimmedLastHop = 16;
inline constexpr uint8_t kDscpControl = 46;
// Data of class c has kDscpData + c and kDscpRetransmit + c: queues of its own where a network has
// them.
inline constexpr uint8_t kTrafficClasses = 4;
inline constexpr uint8_t kEcnCapable = 2;  // ECT(0)
inline constexpr uint8_t kEcnMarked = 3;   // CE

// One end of a connection. IPv4 addresses stand in the last four bytes.
struct NetAddress {
  std::array<uint8_t, 16> ip{};
  std::array<uint8_t, 6> mac{};
  bool v6 = false;

  static NetAddress V4(uint32_t ip, uint64_t mac);
  static NetAddress V6(uint64_t high, uint64_t low, uint64_t mac);
  uint32_t v4() const;
  friend bool operator==(const NetAddress&, const NetAddress&) = default;
};

enum class PacketType : uint8_t {
  kOpen = 1,
  kAccept = 2,
  kRefuse = 3,
  kData = 4,
  kAck = 5,
  kTrimNotice = 6,
  kCnp = 7,
  kCredit = 8,
  kCreditRequest = 9,
  kProbe = 10,
  kClose = 11,
  kCloseAck = 12,
  kAbort = 13,
  kPathProbe = 14,  // goes with the data, through the same queues
  kProbeAnswer = 15,
};

// A connection at its owner: slot (16 bits), worker (6) and which use of the slot it is (10).
// 0 is no connection. Frames to a connection go to its worker's UDP port, so that a NIC can steer
// them to the right core by that port alone.
struct WireId {
  static constexpr uint32_t kSlotBits = 16;
  static constexpr uint32_t kSlots = 1u << kSlotBits;
  uint32_t value = 0;

  static constexpr WireId Of(uint32_t use, uint32_t worker, uint32_t slot) {
    return {(use * kWorkersMax + worker) << kSlotBits | slot};
  }
  constexpr uint32_t slot() const { return value % kSlots; }
  constexpr uint32_t worker() const { return (value >> kSlotBits) % kWorkersMax; }
  friend bool operator==(WireId, WireId) = default;
};
constexpr uint16_t UdpPortOf(uint32_t worker) {
  return static_cast<uint16_t>(kUdpPort + worker % kWorkersMax);
}

// What switches write into a data packet on its way. The room for it follows the packet's header
// and is in no checksum.
enum class InBand : uint8_t { kNone, kTelemetry, kPathLoad };
inline constexpr uint32_t kTelemetryBytes = 4 + 24 * kMaxHops;  // a count and records
inline constexpr uint32_t kPathLoadBytes = 4;                   // a load, and three of reserve
constexpr uint32_t InBandBytes(InBand in_band) {
  switch (in_band) {
    case InBand::kTelemetry:
      return kTelemetryBytes;
    case InBand::kPathLoad:
      return kPathLoadBytes;
    case InBand::kNone:
      break;
  }
  return 0;
}
// What an algorithm with such needs must be told.
constexpr InBand InBandFor(Signals needs) {
  if (needs.Has(Signal::kTelemetry)) return InBand::kTelemetry;
  return needs.Has(Signal::kPathLoad) ? InBand::kPathLoad : InBand::kNone;
}

// Cumulative credit counters travel in units of 256 bytes, modulo 2^32.
inline constexpr int64_t kCreditUnit = 256;

struct DataHeader {
  static constexpr PacketType kType = PacketType::kData;
  static constexpr uint8_t kAckRequest = 1;      // acknowledge at once
  static constexpr uint8_t kWrite = 2;           // one-sided; else a send
  static constexpr uint8_t kNotify = 4;          // a write that completes at the receiver too
  static constexpr uint8_t kTelemetry = 8;       // room for switch records follows
  static constexpr uint8_t kPayloadCrc = 16;     // `payload_crc` is valid
  static constexpr uint8_t kCreditPilesUp = 32;  // more credit than the sender can use
  static constexpr uint8_t kPathLoad = 64;       // room for a load follows; not with kTelemetry

  static constexpr InBand InBandOf(uint8_t flags) {
    if ((flags & kTelemetry) != 0) return InBand::kTelemetry;
    return (flags & kPathLoad) != 0 ? InBand::kPathLoad : InBand::kNone;
  }
  constexpr InBand in_band() const { return InBandOf(flags); }
  constexpr void Reserve(InBand in_band) {
    if (in_band == InBand::kTelemetry) flags |= kTelemetry;
    if (in_band == InBand::kPathLoad) flags |= kPathLoad;
  }

  uint8_t flags = 0;
  uint16_t payload = 0;  // bytes, also when the switch cut them off
  WireId to{};
  Psn psn{};
  uint8_t attempt = 0;   // 0: first transmission; modulo 256
  uint64_t address = 0;  // 48 bits; in the region (write) or the message (send)
  uint32_t message = 0;  // counts the connection's messages; wraps
  uint32_t length = 0;   // of the message
  uint32_t target = 0;   // region (write) or ordinal among the sends, wrapping
  uint32_t demand = 0;   // credit asked for so far; kCreditUnit
  uint32_t payload_crc = 0;
};

// Which of up to kSackWords * 64 packets have arrived, and which of those newly reported carried
// CE. Bit i of word w is packet base + 64 w + i.
inline constexpr int kSackWords = 4;
struct AckHeader {
  static constexpr PacketType kType = PacketType::kAck;
  static constexpr uint8_t kEcho = 1;       // `echo` and `attempt` name the newest packet
  static constexpr uint8_t kProbeEcho = 2;  // answers the probe numbered `echo`

  uint8_t flags = 0;
  uint8_t words = 0;    // [0, kSackWords]
  uint8_t records = 0;  // [0, kMaxHops] switch records
  WireId to{};
  Psn cumulative{};  // all before it have arrived
  Psn base{};        // of the words; a multiple of 64
  Psn echo{};
  uint8_t attempt = 0;
  uint8_t receiver_level = 0;  // [0, 31]: how full the receive queue is
  double path_load = 0;        // of the echoed packet's busiest link; 0: not told
  Duration hold{};             // from the echoed packet's arrival to this packet's departure
  uint32_t credit = 0;         // granted so far; kCreditUnit
  uint32_t receives = 0;       // sends with an ordinal before this have a buffer; wraps
  std::array<uint64_t, kSackWords> arrived{};
  std::array<uint64_t, kSackWords> marked{};
  std::array<SwitchRecord, kMaxHops> telemetry{};
};

struct TrimNotice {
  static constexpr PacketType kType = PacketType::kTrimNotice;
  static constexpr uint8_t kLastHop = 1;
  static constexpr uint8_t kMarked = 2;
  uint8_t flags = 0;
  WireId to{};
  Psn psn{};
  uint8_t attempt = 0;
};

// CNP, credit, credit request, probes and their answer, close, close-ack, abort: a type and one
// number.
struct ControlHeader {
  static constexpr uint8_t kMarked = 1;  // a probe's answer: the probe carried CE
  PacketType type = PacketType::kCnp;
  uint8_t flags = 0;
  WireId to{};
  WireId from{};       // the sender's own id; for an abort without a connection: 0
  uint32_t value = 0;  // credit, demand, probe number or cause
};

// Open and accept: what one end proposes or what both will do.
struct OpenHeader {
  PacketType type = PacketType::kOpen;
  static constexpr uint8_t kPayloadCrc = 1;
  static constexpr uint8_t kTelemetry = 2;
  static constexpr uint8_t kFullSize = 4;  // as long as the largest data packet; so is the answer
  static constexpr uint8_t kPathLoad = 8;  // not with kTelemetry

  constexpr InBand in_band() const {
    if ((flags & kTelemetry) != 0) return InBand::kTelemetry;
    return (flags & kPathLoad) != 0 ? InBand::kPathLoad : InBand::kNone;
  }
  constexpr void Reserve(InBand in_band) {
    if (in_band == InBand::kTelemetry) flags |= kTelemetry;
    if (in_band == InBand::kPathLoad) flags |= kPathLoad;
  }

  uint8_t flags = 0;
  WireId to{};  // 0 in an open
  WireId from{};
  uint64_t nonce = 0;  // of this attempt to connect
  Psn first_psn{};
  uint16_t payload_max = 0;          // bytes of payload a packet
  uint16_t window = 0;               // packets its receive half tracks
  uint32_t receives = 0;             // as in AckHeader
  uint32_t ack_every = 0;            // bytes; what the peer's receive half is asked to do:
  uint32_t cnp_interval = 0;         // ns; 0: no CNPs
  uint16_t scheduler = 0;            // credit; 0: none
  std::array<char, 16> algorithm{};  // names, for the peer's records; zero-padded
  std::array<char, 16> policy{};
};

enum class RefuseCause : uint8_t { kNotListening = 1, kNoRoom = 2, kVersion = 3, kFeature = 4 };
struct RefuseHeader {
  static constexpr PacketType kType = PacketType::kRefuse;
  RefuseCause cause = RefuseCause::kNotListening;
  WireId to{};
  uint64_t nonce = 0;
  uint32_t detail = 0;  // kVersion: the version spoken; kFeature: Signals missing
};

inline constexpr uint32_t kEthernetBytes = 14;
inline constexpr uint32_t kFcsBytes = 4;
inline constexpr uint32_t kUdpBytes = 8;
constexpr uint32_t IpBytes(bool v6) { return v6 ? 40 : 20; }
inline constexpr uint32_t kDataHeaderBytes = 44;
inline constexpr uint32_t kOpenBytes = 80;
inline constexpr uint16_t kPayloadMin = 64;  // smallest payload limit of a connection
// The largest payload up to `most` that networks are configured for: a power of two from 512 to
// 8192, or 1408, which fits an MTU of 1500 over IPv6 without telemetry; below 512 `most` itself.
constexpr uint16_t CommonPayload(uint32_t most) {
  constexpr uint16_t kSizes[] = {8192, 4096, 2048, 1408, 1024, 512};
  for (const uint16_t size : kSizes) {
    if (size <= most) return size;
  }
  return most > kPayloadMin ? static_cast<uint16_t>(most) : kPayloadMin;
}
// All bytes of a data packet but its payload, FCS included; no preamble.
constexpr uint32_t DataOverhead(bool v6, InBand in_band = InBand::kNone) {
  return kEthernetBytes + IpBytes(v6) + kUdpBytes + kDataHeaderBytes + InBandBytes(in_band) +
         kFcsBytes;
}

// Writes frames from one end of a connection to the other: fixed parts are laid out once.
class FrameWriter {
 public:
  FrameWriter() = default;
  // `entropy` shifts the UDP source ports of this connection's paths; `worker` is the peer's.
  FrameWriter(const NetAddress& from, const NetAddress& to, uint16_t entropy, uint32_t worker = 0);
  void SetWorker(uint32_t worker);

  // Each writes headers to `out` (kFrameHeaderRoom bytes) and returns their size.
  uint32_t Write(const DataHeader& h, PathId path, bool retransmit, std::byte* out) const;
  uint32_t Write(const AckHeader& h, PathId path, std::byte* out) const;
  uint32_t Write(const TrimNotice& h, PathId path, std::byte* out) const;
  uint32_t Write(const ControlHeader& h, PathId path, std::byte* out) const;
  // `padding` bytes follow the headers.
  uint32_t Write(const OpenHeader& h, PathId path, std::byte* out, uint32_t padding = 0) const;
  uint32_t Write(const RefuseHeader& h, PathId path, std::byte* out) const;

  uint32_t header_bytes() const { return prefix_size_; }

  // The headers of a datagram of `bytes` that a network stack handed over without them. `to_port`
  // is a worker's.
  static uint32_t WriteArrived(const NetAddress& from, uint16_t from_port, const NetAddress& to,
                               uint16_t to_port, uint8_t tos, uint32_t bytes, std::byte* out);

 private:
  uint32_t Prefix(uint32_t weir_bytes, uint32_t payload, uint8_t tos, PathId path,
                  std::byte* out) const;

  std::array<std::byte, kEthernetBytes + 40 + kUdpBytes> prefix_{};
  uint32_t prefix_size_ = 0;
  uint32_t ip_sum_ = 0;  // of the fixed IPv4 words
  uint16_t entropy_ = 0;
  bool v6_ = false;
};

// What the headers below Weir's said of a received frame.
struct FrameInfo {
  NetAddress from{};
  PacketType type = PacketType::kAbort;
  uint8_t version = 0;
  bool marked = false;
  bool trimmed = false;
  bool trimmed_last_hop = false;
  uint16_t udp_from = 0;                // the path
  std::span<const std::byte> packet{};  // Weir's own bytes, with the payload if it follows
};

enum class WireError : uint8_t { kNone, kNotOurs, kShort, kChecksum, kVersion, kField };

// Checks Ethernet (VLAN tag allowed), IP and UDP, and finds Weir's packet.
WireError ReadFrame(std::span<const std::byte> frame, FrameInfo& info);
// Each checks length, checksum and ranges of one packet type. `packet` is FrameInfo::packet.
WireError Read(std::span<const std::byte> packet, DataHeader& h);
WireError Read(std::span<const std::byte> packet, AckHeader& h);
WireError Read(std::span<const std::byte> packet, TrimNotice& h);
WireError Read(std::span<const std::byte> packet, ControlHeader& h);
WireError Read(std::span<const std::byte> packet, OpenHeader& h);
WireError Read(std::span<const std::byte> packet, RefuseHeader& h);

// The switch's side of telemetry: adds a record to a data packet that has room reserved. `frame`
// are the header bytes. Without room nothing changes.
void AppendTelemetry(std::span<std::byte> frame, const SwitchRecord& record);
// The receiver's side: how many records a data packet carries; fills `out`.
int ReadTelemetry(std::span<const std::byte> packet, std::array<SwitchRecord, kMaxHops>& out);

// Whether a packet has room for the load of its way; `frame` are the header bytes.
bool HasPathLoad(std::span<const std::byte> frame);
// The switch's side: raises the load of such a packet to that of its link, EncodeLoad's code.
void RaisePathLoad(std::span<std::byte> frame, uint8_t code);
// The receiver's side, of a packet that has the room.
double ReadPathLoad(std::span<const std::byte> packet);

// Sets CE in the IP header of a frame that is ECN-capable, or the DSCP, and repairs the checksum.
void MarkFrame(std::span<std::byte> frame);
void SetFrameDscp(std::span<std::byte> frame, uint8_t dscp);

// The load of a link in one byte: steps of 5 % from 1/64 on; 0 stays 0. `up` in [0, 1) decides the
// rounding: of uniform ones the mean of what is decoded is the load.
uint8_t EncodeLoad(double load, double up = 0.5);
double DecodeLoad(uint8_t code);

// CRC-32C (Castagnoli), continued from `crc`; 0 to begin.
uint32_t Crc32c(uint32_t crc, std::span<const std::byte> bytes);
// The same on a processor that has no instruction for it.
uint32_t Crc32cByTable(uint32_t crc, std::span<const std::byte> bytes);

}  // namespace weir
