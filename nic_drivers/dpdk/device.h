// Any Ethernet device of DPDK.
#pragma once

#include <rte_ring.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/dpdk/dma.h"
#include "nic_drivers/dpdk/eth_facts.h"
#include "nic_drivers/dpdk/eth_setup.h"
#include "nic_drivers/dpdk/port.h"
#include "nic_drivers/dpdk/regions.h"
#include "nic_drivers/dpdk/removal.h"
#include "nic_drivers/dpdk/steering.h"
#include "nic_drivers/dpdk/threads.h"
#include "nic_drivers/dpdk/xdp_sockets.h"
#include "nic_drivers/neighbours.h"

namespace weir {

class DpdkDevice final : public NicDevice {
 public:
  struct Source {
    uint16_t ethdev = 0;
    uint32_t tx_buffers = 0;         // a queue; 0: enough for the device's descriptors
    uint32_t queues_max = 0;         // where it is not what DPDK says; 0: it is
    std::function<void()> detach{};  // after it is closed
  };
  static absl::StatusOr<std::unique_ptr<DpdkDevice>> Open(const DeviceOptions& options);
  // Takes over a device that is attached already; DPDK runs.
  static absl::StatusOr<std::unique_ptr<DpdkDevice>> Create(const DeviceOptions& options,
                                                            Source source);
  ~DpdkDevice() override;

  const PortCaps& caps() const override { return caps_; }
  const NetAddress& address() const override { return subnet_.address; }
  uint32_t queues() const override { return setup_.queues; }
  NicPort& queue(uint32_t index) override { return *ports_[index]; }
  Time Now() override { return clock_->Now(); }
  DeviceCounters counters() const override;
  const std::vector<std::string>& warnings() const override { return setup_.warnings; }
  std::vector<std::string> features() const override;
  DeviceFacts facts() const override {
    return EthFacts(setup_, options_, rules_ != nullptr && rules_->installed());
  }
  bool link_up() const override { return !gone() && EthLinkUp(setup_.ethdev); }
  absl::Status SetLink(bool up) override { return SetEthLink(setup_.ethdev, up); }
  bool gone() const override { return removal_ != nullptr && removal_->seen(); }
  void EnterThread() override { DpdkThreadBegins(); }
  void LeaveThread() override { DpdkThreadEnds(); }
  absl::Status Resolve(NetAddress& remote) override;
  absl::Status RegisterMemory(std::byte* base, size_t size) override;
  absl::Status UnregisterMemory(std::byte* base) override;

 private:
  DpdkDevice(const DeviceOptions& options, Source source)
      : options_(options), source_(std::move(source)) {}
  absl::Status Set();
  absl::Status MakePools();
  absl::Status MakeSteering();
  absl::Status Steer();
  void MakePorts();
  void ChooseMac();
  uint64_t BuffersOut() const;

  DeviceOptions options_;
  Source source_;
  EthSetup setup_;
  std::unique_ptr<Removal> removal_;
  XdpSockets xdp_sockets_;
  Subnet subnet_;
  PortCaps caps_;
  std::optional<TscClock> clock_;
  std::vector<rte_mempool*> rx_pools_, tx_pools_, attached_pools_;  // a queue
  std::vector<rte_ring*> steering_;                                 // a queue, if several
  std::unique_ptr<FlowRules> rules_;
  std::map<std::byte*, MappedMemory> mapped_;  // that the device has access to
  std::unique_ptr<Regions> regions_;
  std::vector<std::unique_ptr<DpdkPort>> ports_;
  uint64_t buffers_idle_ = 0;  // that the device holds while nothing is on its way
  std::optional<Neighbours> neighbours_;
};

}  // namespace weir
