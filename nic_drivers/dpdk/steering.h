// Weir's UDP ports to queues: port kUdpPort + w to queue w % queues.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct rte_flow;

namespace weir {

// Rules of the device, as far as it takes them: what it cannot do, the queues do among themselves.
class FlowRules {
 public:
  FlowRules() = default;
  ~FlowRules();  // before the device stops
  FlowRules(const FlowRules&) = delete;
  FlowRules& operator=(const FlowRules&) = delete;

  // Before the device is configured: where it shares the interface with the kernel, all that no
  // rule names stays there. False: the device has no such division.
  bool Isolate(uint16_t ethdev);
  // After its start; all ports or none. `vlan`: of the frames; -1: none. False: the device does not
  // take such rules.
  bool Install(uint16_t ethdev, uint16_t queues, bool v6, int vlan);
  bool installed() const { return !rules_.empty(); }
  bool isolated() const { return isolated_; }

 private:
  void Remove();

  uint16_t ethdev_ = 0;
  bool isolated_ = false;
  std::vector<rte_flow*> rules_;
};

}  // namespace weir
