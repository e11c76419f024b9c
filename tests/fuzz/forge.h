// Packets that only a broken peer would send: whole, for a live connection, and wrong.
#pragma once

#include <vector>

#include "datapath/connection.h"
#include "datapath/nic_port.h"
#include "tests/support/wire_random.h"

namespace weir {

// For connection `c` (nullptr: for none), of one of five kinds.
inline std::vector<std::byte> ForgePacket(const FrameWriter& writer, const Connection* c,
                                          uint8_t kind, uint64_t seed) {
  Rng rng(seed);
  std::vector<std::byte> out(kFrameHeaderRoom);
  const WireId to = c == nullptr ? WireId{1} : c->id;
  const auto near = [&](Psn psn) { return psn + (rng.Below(64) - 16); };
  const Psn ours = c == nullptr ? Psn(0) : c->first_psn;
  uint32_t size = 0;
  if (kind % 5 == 0) {
    DataHeader h = AnyData(rng);
    h.to = to;
    h.psn = near(c == nullptr ? Psn(0) : c->receiver.cumulative());
    h.payload %= 200;
    h.length = h.payload + (rng.Chance(0.5) ? 0 : rng.Below(500));
    h.target = rng.Below(4);
    h.address = rng.Below(2000);
    h.flags &= static_cast<uint8_t>(~(DataHeader::kTelemetry | DataHeader::kPathLoad));
    size = writer.Write(h, 0, false, out.data()) + h.payload;
  } else if (kind % 5 == 1) {
    AckHeader h = AnyAck(rng);
    h.to = to;
    h.cumulative = near(ours);
    h.base = Psn(near(ours).value() & ~63u);
    h.echo = near(ours);
    size = writer.Write(h, 0, out.data());
  } else if (kind % 5 == 2) {
    size = writer.Write(TrimNotice{.to = to, .psn = near(ours)}, 0, out.data());
  } else if (kind % 5 == 3) {
    ControlHeader h = AnyControl(rng);
    h.to = to;
    size = writer.Write(h, 0, out.data());
  } else {
    OpenHeader h = AnyOpen(rng);
    h.to = to;
    if (c != nullptr) h.nonce = c->nonce;
    size = writer.Write(h, 0, out.data());
  }
  out.resize(size);
  return out;
}

}  // namespace weir
