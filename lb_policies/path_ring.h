// Paths that were good lately, for policies that send on them again: the oldest is used first, and
// what does not fit pushes the oldest out.
#pragma once

#include <algorithm>
#include <cstdint>

#include "datapath/api/units.h"

namespace weir {

template <uint32_t kRoom>
class PathRing {
 public:
  explicit PathRing(uint32_t size) : size_(std::min(size, kRoom)) {}  // > 0

  bool ever_stored() const { return stored_ > 0; }
  bool empty() const { return valid_ == 0; }

  void Store(PathId path) {
    paths_[head_] = path;
    head_ = head_ + 1 == size_ ? 0 : head_ + 1;
    stored_ = std::min(stored_ + 1, size_);
    valid_ = std::min(valid_ + 1, size_);  // a full ring loses its oldest
  }
  // Each stored path comes once. Not if empty.
  PathId TakeOldest() {
    const uint32_t oldest = head_ >= valid_ ? head_ - valid_ : head_ + size_ - valid_;
    --valid_;
    return paths_[oldest];
  }
  // All that was stored in turn, whether taken or not. Only if ever_stored().
  PathId NextStored() {
    if (reuse_ >= stored_) reuse_ = 0;
    return paths_[reuse_++];
  }

 private:
  // The valid entries are the `valid_` ones written last: paths_[head_ - valid_ .. head_).
  uint32_t size_;
  uint32_t head_ = 0;    // next to write
  uint32_t stored_ = 0;  // entries ever written, at most size_
  uint32_t valid_ = 0;   // at most stored_
  uint32_t reuse_ = 0;   // next of NextStored
  PathId paths_[kRoom] = {};
};

}  // namespace weir
