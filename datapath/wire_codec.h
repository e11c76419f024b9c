// How fields become bytes, for what reads or writes headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "datapath/wire.h"

namespace weir::wire {

// Writes fields in order; the bytes before the checksum are those it covers.
class Writer {
 public:
  explicit Writer(std::byte* out) : begin_(out), at_(out) {}
  void U8(uint8_t v) { *at_++ = std::byte{v}; }
  void U16(uint16_t v) { Put(__builtin_bswap16(v)); }
  void U32(uint32_t v) { Put(__builtin_bswap32(v)); }
  void U64(uint64_t v) { Put(__builtin_bswap64(v)); }
  void Raw(const void* p, size_t n) {
    std::memcpy(at_, p, n);
    at_ += n;
  }
  void Checksum() { U32(Crc32c(0, {begin_, static_cast<size_t>(at_ - begin_)})); }
  uint32_t size() const { return static_cast<uint32_t>(at_ - begin_); }

 private:
  template <class T>
  void Put(T v) {
    std::memcpy(at_, &v, sizeof v);
    at_ += sizeof v;
  }
  std::byte* begin_;
  std::byte* at_;
};

// Reads fields in order. The caller has checked the length.
class Reader {
 public:
  explicit Reader(const std::byte* in) : begin_(in), at_(in) {}
  uint8_t U8() { return static_cast<uint8_t>(*at_++); }
  uint16_t U16() { return __builtin_bswap16(Get<uint16_t>()); }
  uint32_t U32() { return __builtin_bswap32(Get<uint32_t>()); }
  uint64_t U64() { return __builtin_bswap64(Get<uint64_t>()); }
  void Raw(void* p, size_t n) {
    std::memcpy(p, at_, n);
    at_ += n;
  }
  bool Checksum() {
    const uint32_t want = Crc32c(0, {begin_, static_cast<size_t>(at_ - begin_)});
    return U32() == want;
  }

 private:
  template <class T>
  T Get() {
    T v;
    std::memcpy(&v, at_, sizeof v);
    at_ += sizeof v;
    return v;
  }
  const std::byte* begin_;
  const std::byte* at_;
};

inline uint8_t FirstByte(PacketType type) {
  return static_cast<uint8_t>(kWireVersion << 4 | static_cast<uint8_t>(type));
}
inline bool TypeIs(std::span<const std::byte> packet, PacketType type) {
  return static_cast<uint8_t>(packet[0]) == FirstByte(type);
}

inline uint16_t Load16(const std::byte* p) {
  return static_cast<uint16_t>(static_cast<uint8_t>(p[0]) << 8 | static_cast<uint8_t>(p[1]));
}
inline void Store16(std::byte* p, uint16_t v) {
  p[0] = std::byte{static_cast<uint8_t>(v >> 8)};
  p[1] = std::byte{static_cast<uint8_t>(v)};
}

// Of an IP header of either version: the byte with the class and the ECN bits.
inline bool IsV6(const std::byte* ip) { return static_cast<uint8_t>(ip[0]) >> 4 == 6; }
inline uint8_t LoadTos(const std::byte* ip) {
  return IsV6(ip) ? static_cast<uint8_t>(Load16(ip) >> 4) : static_cast<uint8_t>(ip[1]);
}

// A switch record: in acknowledgements and in the room that data packets reserve.
inline constexpr uint32_t kRecordBytes = 24;
inline constexpr int64_t kRecordRateUnit = 100'000'000;  // bits a second

inline void WriteRecord(Writer& w, const SwitchRecord& r) {
  w.U64(static_cast<uint64_t>(r.stamp.nanos()));
  w.U64(static_cast<uint64_t>(r.transmitted.count()));
  w.U32(static_cast<uint32_t>(r.queue.count()));
  w.U16(static_cast<uint16_t>(r.rate.count() / kRecordRateUnit));
  w.U16(r.hop);
}
inline SwitchRecord ReadRecord(Reader& r) {
  SwitchRecord record;
  record.stamp = Time(static_cast<int64_t>(r.U64()));
  record.transmitted = Bytes(static_cast<int64_t>(r.U64()));
  record.queue = Bytes(r.U32());
  record.rate = Rate(r.U16() * kRecordRateUnit);
  record.hop = r.U16();
  return record;
}

}  // namespace weir::wire
