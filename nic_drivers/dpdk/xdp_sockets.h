// The AF_XDP sockets of a device. DPDK 22.11 leaves them open when it closes the device, and then
// the interface's queues stay taken.
#pragma once

#include <set>

namespace weir {

class XdpSockets {
 public:
  // Before the device makes them, and after.
  void Begin() { others_ = All(); }
  void End();
  // After the device was closed: closes what is left of them.
  void Close();

 private:
  static std::set<int> All();  // of this process

  std::set<int> others_, ours_;
};

}  // namespace weir
