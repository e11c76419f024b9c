// An RDMA device by rdma-core: unreliable datagrams on any device whose port speaks RoCE v2.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"
#include "nic_drivers/verbs/exchange.h"
#include "nic_drivers/verbs/memory.h"
#include "nic_drivers/verbs/opened.h"
#include "nic_drivers/verbs/peers.h"
#include "nic_drivers/verbs/port.h"

namespace weir {

class VerbsDevice final : public NicDevice {
 public:
  // options.address may be empty: the port's first RoCE v2 GID decides.
  static absl::StatusOr<std::unique_ptr<NicDevice>> Open(const DeviceOptions& options);

  const PortCaps& caps() const override { return caps_; }
  const NetAddress& address() const override { return address_; }
  uint32_t queues() const override { return static_cast<uint32_t>(ports_.size()); }
  NicPort& queue(uint32_t index) override { return *ports_[index]; }
  Time Now() override { return clock_.Now(); }
  DeviceCounters counters() const override;
  const std::vector<std::string>& warnings() const override { return warnings_; }
  std::vector<std::string> features() const override;
  DeviceFacts facts() const override;
  bool link_up() const override;
  absl::Status SetLink(bool up) override;
  bool gone() const override { return gone_.load(std::memory_order_relaxed); }
  absl::Status Resolve(NetAddress& remote) override;
  absl::Status RegisterMemory(std::byte* base, size_t size) override;
  absl::Status UnregisterMemory(std::byte* base) override;

 private:
  VerbsDevice(const DeviceOptions& options, OpenedVerbs opened)
      : options_(options), clock_(options.time_scale), opened_(std::move(opened)) {}
  absl::Status Set();
  absl::Status ChooseMtu();
  absl::Status MakePorts();
  absl::StatusOr<std::unique_ptr<VerbsPort>> MakePort(uint32_t queue, uint32_t key);
  absl::Status StartExchange(uint32_t key);
  void OnEvent(int event);
  uint32_t QueuesMax() const;

  DeviceOptions options_;
  MonotonicClock clock_;
  std::atomic<bool> gone_{false};
  mutable std::mutex event_mutex_;
  std::string last_event_;  // in words; empty: none so far
  std::vector<std::string> warnings_;
  PortCaps caps_;
  NetAddress address_;
  // In the order in which they depend on each other.
  OpenedVerbs opened_;
  BufferPool zeros_;
  VerbsMr zeros_memory_;
  std::unique_ptr<RegisteredMemory> memory_;
  std::unique_ptr<PeerTable> peers_;
  std::vector<std::unique_ptr<VerbsPort>> ports_;
  std::unique_ptr<PeerExchange> exchange_;
};

}  // namespace weir
