// Whether a device was taken out while it is open.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace weir {

// Listens from its making on: the bus (vfio asks for the device back) and the device's own driver.
class Removal {
 public:
  explicit Removal(uint16_t ethdev);
  ~Removal();
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;

  bool seen() const { return seen_.load(std::memory_order_relaxed); }
  const std::atomic<bool>* flag() const { return &seen_; }

 private:
  uint16_t ethdev_;
  std::string name_;  // of the device on its bus
  std::atomic<bool> seen_{false};
};

}  // namespace weir
