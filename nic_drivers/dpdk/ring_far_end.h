// The implementation of RingFarEnd on the rings of a device.
#pragma once

#include <rte_mbuf.h>
#include <rte_ring.h>

#include <memory>
#include <vector>

#include "nic_drivers/dpdk/clock.h"
#include "nic_drivers/dpdk/ring_pair.h"
#include "nic_drivers/sorter.h"

namespace weir {

// Rings one way, a queue each; freed, with what is in them, by the last who holds them.
class Rings {
 public:
  static absl::StatusOr<std::shared_ptr<Rings>> Make(uint32_t queues, uint32_t size);
  ~Rings();
  const std::vector<rte_ring*>& all() const { return rings_; }

 private:
  std::vector<rte_ring*> rings_;
};

class FarEnd final : public RingFarEnd {
 public:
  struct Config {
    std::shared_ptr<Rings> from_host;
    std::shared_ptr<Rings> to_host;
    NetAddress host{};
    int vlan = -1;
    uint32_t mtu = 0;
  };
  FarEnd(Config config, const TscClock& clock)
      : config_(std::move(config)), clock_(clock), sorter_(config_.host, config_.vlan) {}
  ~FarEnd() override;

  Time Now() override { return clock_.Now(); }
  size_t Receive(std::span<Frame> out) override;
  size_t Send(std::span<const Frame> frames) override;
  size_t SendTo(uint32_t queue, std::span<const Frame> frames) override;
  void Drop(std::span<const Frame> frames) override;
  bool Copy(const Frame& frame, Frame& out) override;

 private:
  uint32_t QueueOf(const Frame& frame) const;

  Config config_;
  TscClock clock_;
  Sorter sorter_;
  rte_mempool* copies_ = nullptr;  // made when first needed
  size_t next_queue_ = 0;          // to receive from
};

}  // namespace weir
