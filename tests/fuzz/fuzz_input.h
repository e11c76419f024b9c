// The bytes of a fuzzer, taken from the front; zeros once they are used up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace weir {

class FuzzInput {
 public:
  explicit FuzzInput(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  std::span<const uint8_t> Take(size_t n) {
    const std::span<const uint8_t> taken = bytes_.first(std::min(n, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }
  template <class T>
  T Number() {
    T value{};
    const std::span<const uint8_t> taken = Take(sizeof(T));
    if (!taken.empty()) std::memcpy(&value, taken.data(), taken.size());
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace weir
