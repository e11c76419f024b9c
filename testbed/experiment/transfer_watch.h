// How the last packet of each transfer travelled: the one without which the receiver would still
// wait.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "datapath/serializer.h"
#include "datapath/wire.h"
#include "testbed/fabric/topology.h"
#include "testbed/virtual/packet_tap.h"

namespace weir {

struct Passage {
  Time left{};      // its host: when its first bit went on the wire
  Time arrived{};   // at the receiver; 0: nothing did
  Time last_new{};  // when the last packet before it left that had not been sent before
  bool again = false;
  Bytes wire{};    // of it
  Bytes before{};  // of the transfer that left before it
  Bytes others{};  // of other transfers, and control packets, that the host sent since the start
};

class TransferWatch final : public PacketTap {
 public:
  static constexpr uint32_t kNone = 0xFFFF'FFFF;
  // `find`: the transfer that is message `message` to connection `to` of host `host`, or kNone.
  using Find = std::function<uint32_t(uint32_t host, WireId to, uint32_t message)>;

  TransferWatch(size_t transfers, const Topology& topology, Find find);

  // Before its first packet.
  void Start(uint32_t transfer, uint32_t host) { transfers_[transfer].host = hosts_[host].bytes; }
  void OnInject(Time now, uint32_t host, PacketId id, const Packet& packet,
                std::span<const std::byte> headers) override;
  void OnDeliver(Time now, PacketId id, const Packet& packet) override;
  // The receiver has all of it: what comes later does not matter.
  void Received(uint32_t transfer) { transfers_[transfer].done = true; }

  const Passage& passage(uint32_t transfer) const { return transfers_[transfer].last; }

 private:
  struct Watched {
    Bytes host{};  // that its host had sent at the start
    Bytes own{};
    Time last_new{};
    bool done = false;
    Passage last{};
  };
  struct Sent {
    uint32_t transfer = kNone;
    uint32_t flow_hash = 0;
    uint32_t sequence = 0;  // with the hash: not a packet that has the place of this one
    Passage passage{};
  };

  // Its link takes packets in the order in which they come; one that is paused is late.
  struct Host {
    explicit Host(Rate rate) : link(rate) {}
    Serializer link;
    Bytes bytes{};
  };

  Find find_;
  std::vector<Watched> transfers_;
  std::vector<Host> hosts_;
  std::vector<Sent> packets_;  // by id
};

}  // namespace weir
