// The port of a host in a simulated fabric.
#pragma once

#include <cstdint>
#include <vector>

#include "datapath/nic_port.h"
#include "testbed/fabric/fabric.h"
#include "testbed/fabric/host_address.h"
#include "testbed/virtual/packet_tap.h"

namespace weir {

class SimPort final : public NicPort {
 public:
  // Frames that wait in the host's own queue at most.
  static constexpr uint32_t kRing = 64;

  SimPort(Fabric& fabric, PacketPool& packets, uint32_t host, const PortCaps& caps)
      : fabric_(fabric), packets_(packets), host_(host), caps_(caps) {}

  Time Now() override { return now_; }
  const PortCaps& caps() const override { return caps_; }
  size_t RxBurst(std::span<Frame> out) override;
  void Release(std::span<const Frame> frames) override;
  size_t TxFrames(std::span<Frame> out) override;
  void TxBurst(std::span<const Frame> frames) override;

  void set_now(Time now) { now_ = now; }
  void set_tap(PacketTap* tap) { tap_ = tap; }
  // A packet that arrived for this host; taken over.
  void Accept(Time now, PacketId packet);
  bool has_received() const { return head_ < received_.size(); }
  // The last TxFrames lent less than was asked for.
  bool tx_short() const { return tx_short_; }

 private:
  struct Received {
    Time at;
    PacketId packet;
  };

  Fabric& fabric_;
  PacketPool& packets_;
  uint32_t host_;
  PortCaps caps_;
  Time now_{};
  std::vector<Received> received_;  // from head_ on
  size_t head_ = 0;
  bool tx_short_ = false;
  uint32_t sequence_ = 0;
  PacketTap* tap_ = nullptr;
};

}  // namespace weir
