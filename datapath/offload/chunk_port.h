// ChunkPort: the seam to a device that delivers reliably by itself. Chunks go in, completions come
// out; packets, their acknowledgements and their retransmission are the device's own.
//
// A link is a set of reliable connected queue pairs to one peer. A path is one of them: what is
// posted on a path arrives in order there, and in any order with regard to other paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "datapath/completion.h"
#include "datapath/nic_port.h"

namespace weir {

using LinkId = uint32_t;  // below ChunkCaps::links_max; used again only after Close

// What a device can do with chunks.
struct ChunkCaps {
  Rate line_rate{};
  Signals signals = Signal::kRtt;  // and kNicTimestamps if the device stamps completions
  uint32_t packet_payload = 4096;  // bytes of a chunk in each of its packets, the path MTU
  uint32_t packet_overhead = 62;   // bytes of headers of such a packet, on the wire
  uint32_t chunk_max = 1u << 30;   // bytes of a chunk, at most so many
  uint32_t links_max = 64;
  uint32_t paths_max = 8;  // queue pairs of a link

  // Of a chunk with so much payload.
  Bytes SizeOnWire(uint32_t payload) const {
    const int64_t packets =
        payload == 0 ? 1 : (int64_t{payload} + packet_payload - 1) / packet_payload;
    return Bytes(int64_t{payload} + packets * packet_overhead);
  }
};

// A piece of a message, written into a region of the peer.
struct Chunk {
  uint64_t cookie = 0;              // comes back with its completion
  const std::byte* data = nullptr;  // nullptr: content does not matter
  uint32_t size = 0;                // bytes; 0: nothing is written, but it is answered
  uint32_t region = 0;              // of the peer
  uint64_t address = 0;             // offset in it
  bool tell = false;                // the peer hears of its arrival, with `word`
  uint32_t word = 0;                // the immediate data
};

struct ChunkEvent {
  enum class Kind : uint8_t {
    kOpened,    // our Open succeeded; `paths`
    kAccepted,  // a peer opened; `paths`
    kDone,      // a chunk of ours is in the peer's memory; `cookie`, `path`
    kArrived,   // a chunk of the peer's is in our memory, and it told so; `word`, `size`
    kFailed,    // the link is of no more use: Close it; `cause`
  };
  Kind kind = Kind::kDone;
  Cause cause = Cause::kNone;
  PathId path = 0;
  LinkId link = 0;
  uint64_t cookie = 0;
  uint32_t word = 0;
  uint32_t size = 0;   // bytes written by the chunk that arrived
  uint32_t paths = 0;  // queue pairs of the link, >= 1; fewer than asked for if a device has fewer
  Time at{};           // when it came to be, or
  Duration gap{};      // up to so long before, where it has no time stamp: since the last poll
};

// How a link is opened.
struct LinkRequest {
  NetAddress remote{};
  uint32_t paths = 1;  // wanted
  uint8_t dscp = 0;    // of its packets
};

// One device, with its clock. Used by one thread. Time does not run backwards.
class ChunkPort {
 public:
  virtual ~ChunkPort() = default;
  virtual Time Now() = 0;
  virtual const ChunkCaps& caps() const = 0;

  // kOpened or kFailed follows. An error names the cause and the remedy.
  virtual absl::StatusOr<LinkId> Open(const LinkRequest& request) = 0;
  // Ends it at once, whatever is on its way; nothing more is heard of it.
  virtual void Close(LinkId link) = 0;
  // Whether the device can read this memory: it is registered.
  virtual bool Reads(const std::byte* data, uint64_t size) const = 0;
  // Bytes of a region of the peer, as it told when the link was opened; 0: there is none.
  virtual uint64_t RegionSize(LinkId link, uint32_t region) const = 0;
  // False: that queue pair is full; after one of its completions there is room.
  virtual bool Post(LinkId link, PathId path, const Chunk& chunk) = 0;
  // Fewer than asked for: there is no more. Arrivals come before what was heard after them.
  virtual size_t Poll(std::span<ChunkEvent> out) = 0;
};

}  // namespace weir
