// Any bytes as a frame: what is accepted is written again and must read the same.
#pragma once

#include <vector>

#include "datapath/check.h"
#include "datapath/nic_port.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/wire_random.h"

namespace weir {

template <class Header>
void CheckRoundTrip(std::span<const std::byte> packet) {
  Header h;
  if (Read(packet, h) != WireError::kNone) return;
  std::array<std::byte, kFrameHeaderRoom> out{};
  const NetAddress from = NetAddress::V4(0x0A00'0001, 1);
  const FrameWriter writer(from, NetAddress::V4(0x0A00'0002, 2), 0);
  uint32_t size = 0;
  if constexpr (std::is_same_v<Header, DataHeader>) {
    size = writer.Write(h, 0, false, out.data());
  } else {
    size = writer.Write(h, 0, out.data());
  }
  FrameInfo info;
  WEIR_CHECK(ReadFrame({out.data(), size}, info) == WireError::kNone);
  WEIR_CHECK(info.from == from);
  Header again;
  WEIR_CHECK(Read(info.packet, again) == WireError::kNone);
  WEIR_CHECK(Fields(h) == Fields(again));
}

inline void FuzzWire(std::span<const uint8_t> input) {
  // A buffer of its own, as long as the input: a read beyond the end is seen.
  std::vector<std::byte> frame(input.size());
  std::transform(input.begin(), input.end(), frame.begin(), [](uint8_t b) { return std::byte{b}; });
  FrameInfo info;
  if (ReadFrame(frame, info) != WireError::kNone) return;
  CheckRoundTrip<DataHeader>(info.packet);
  CheckRoundTrip<AckHeader>(info.packet);
  CheckRoundTrip<TrimNotice>(info.packet);
  CheckRoundTrip<ControlHeader>(info.packet);
  CheckRoundTrip<OpenHeader>(info.packet);
  CheckRoundTrip<RefuseHeader>(info.packet);
  DataHeader data;
  if (Read(info.packet, data) == WireError::kNone) {
    std::array<SwitchRecord, kMaxHops> records;
    if (data.in_band() == InBand::kTelemetry) {
      WEIR_CHECK(ReadTelemetry(info.packet, records) <= kMaxHops);
    }
    if (data.in_band() == InBand::kPathLoad) WEIR_CHECK(ReadPathLoad(info.packet) >= 0);
  }
  AppendTelemetry(frame, {.stamp = Time(1), .rate = Mbps(100)});
  RaisePathLoad(frame, 100);
  MarkFrame(frame);
  SetFrameDscp(frame, kDscpTrimmed);
  WEIR_CHECK(ReadFrame(frame, info) == WireError::kNone);
  WEIR_CHECK(info.trimmed);
}

}  // namespace weir
