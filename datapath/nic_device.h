// A NIC that was opened: its queue pairs and what they share. Drivers implement it.
//
// Control plane: any one thread at a time. Each queue belongs to the thread that polls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "datapath/nic_port.h"
#include "datapath/wire.h"

namespace weir {

// What the user says of a port; the driver fills in the rest by asking the device.
struct DeviceOptions {
  std::string device;   // "driver:name", such as "dpdk:0000:3b:00.0"
  std::string address;  // "10.0.0.1/24" or "fd00::1/64"
  std::string gateway;  // next hop of what is not on the link; empty: none
  // IP address -> MAC address "02:00:00:00:00:01"; known without asking.
  std::map<std::string, std::string> neighbours;
  uint32_t queues = 1;    // asked for; a device with fewer gives fewer
  uint32_t mtu = 0;       // largest IP packet, bytes; 0: as the device is set
  int vlan = -1;          // [1, 4094]: tag of every frame; -1: none
  Rate line_rate{};       // 0: as the device says
  double time_scale = 1;  // > 0: seconds of the port's clock a second; below 1 time is dilated
  bool offloads = true;   // false: the device is asked for nothing that software can do
  std::vector<std::string> arguments;  // passed to the driver's library as they are
};

// Packets of a device since it was opened, all queues together.
struct DeviceCounters {
  uint64_t rx_packets = 0, rx_bytes = 0;
  uint64_t tx_packets = 0, tx_bytes = 0;
  uint64_t rx_missed = 0;  // no descriptor or buffer was free
  uint64_t rx_errors = 0;
  uint64_t tx_dropped = 0;  // the device did not take them
  uint64_t rx_foreign = 0;  // not Weir's and not ours to answer
  uint64_t rx_steered = 0;  // passed on to the queue they were meant for
  uint64_t tx_copied = 0;   // payload copied: its memory is not registered, or the device
                            // sends from one segment only
  uint64_t buffers_in_use = 0;
};

// One thing that a device may do for Weir.
struct DeviceAbility {
  std::string name;      // "flow rules"
  bool offered = false;  // as its driver says
  bool used = false;     // as it is open now
  std::string without;   // what happens where it is not used
};

// What a device is and could do, used or not.
struct DeviceFacts {
  std::string driver;    // the library's name of it: "net_e1000_em"
  std::string library;   // "DPDK 22.11.11"
  std::string firmware;  // empty: it does not say
  uint32_t queues_max = 1;
  uint32_t mtu_max = 0;  // bytes
  int numa_node = -1;    // -1: none, or not known
  std::vector<DeviceAbility> abilities{};
};

class NicDevice {
 public:
  virtual ~NicDevice() = default;
  virtual const PortCaps& caps() const = 0;
  virtual const NetAddress& address() const = 0;  // IP and MAC
  virtual uint32_t queues() const = 0;
  virtual NicPort& queue(uint32_t index) = 0;
  virtual Time Now() = 0;  // of the clock that its queues show, too
  virtual DeviceCounters counters() const = 0;
  // What works, but not as well as it could; each with its remedy.
  virtual const std::vector<std::string>& warnings() const = 0;
  // What was asked for and what is in use, one line each: "steering: flow rules".
  virtual std::vector<std::string> features() const = 0;
  virtual DeviceFacts facts() const = 0;
  virtual bool link_up() const = 0;
  // Takes the link down or up again. kUnimplemented: this device's cannot be.
  virtual absl::Status SetLink(bool up) = 0;
  // The device was taken out: nothing comes and nothing goes any more; close it.
  virtual bool gone() const = 0;

  // On each thread that polls a queue, before its first poll and after its last.
  virtual void EnterThread() {}
  virtual void LeaveThread() {}

  // Completes `remote` with the MAC address of its next hop. kUnavailable: it is being asked for,
  // try again; kNotFound: there is no way to this address.
  virtual absl::Status Resolve(NetAddress& remote) = 0;

  // Payload in [base, base + size) leaves without a copy from here on. Not registered: copied.
  virtual absl::Status RegisterMemory(std::byte* base, size_t size) = 0;
  // kUnavailable while frames on their way refer to it: poll the queues and try again.
  virtual absl::Status UnregisterMemory(std::byte* base) = 0;
};

}  // namespace weir
