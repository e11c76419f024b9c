// The kernel's network stack as a device: any interface, any user, nothing to set up.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"
#include "nic_drivers/monotonic_clock.h"
#include "nic_drivers/udp/interface.h"
#include "nic_drivers/udp/name.h"
#include "nic_drivers/udp/port.h"

namespace weir {

class UdpDevice final : public NicDevice {
 public:
  // options.address may be empty: the interface's first decides.
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
  bool gone() const override;
  absl::Status Resolve(NetAddress& remote) override;
  // The kernel takes payload from wherever it is.
  absl::Status RegisterMemory(std::byte*, size_t) override { return absl::OkStatus(); }
  absl::Status UnregisterMemory(std::byte*) override { return absl::OkStatus(); }

 private:
  UdpDevice(const DeviceOptions& options, UdpName name)
      : options_(options), name_(std::move(name)), clock_(options.time_scale) {}
  absl::Status CheckOptions() const;
  absl::Status ChooseAddress();
  absl::Status ChooseMtu();
  absl::StatusOr<std::unique_ptr<UdpPort>> MakePort(uint32_t queue, uint32_t queues) const;

  DeviceOptions options_;
  UdpName name_;
  MonotonicClock clock_;
  std::vector<std::string> warnings_;
  InterfaceFacts interface_;
  PortCaps caps_;
  NetAddress address_;
  std::vector<std::unique_ptr<UdpPort>> ports_;
};

}  // namespace weir
