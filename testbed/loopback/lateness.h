// A histogram of durations, of fixed size.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "datapath/api/units.h"

namespace weir {

// Eight buckets to each power of two, so that a quantile is at most an eighth too large.
class Lateness {
 public:
  // `late` >= 0.
  void Add(Duration late) {
    ++buckets_[BucketOf(static_cast<uint64_t>(late.count()))];
    ++count_;
    max_ = std::max(max_, late);
  }
  Duration max() const { return max_; }
  uint64_t count() const { return count_; }
  // The least duration that a share `q` of all do not exceed, rounded up; 0 if there are none.
  Duration Quantile(double q) const {
    const auto wanted = static_cast<uint64_t>(q * static_cast<double>(count_));
    uint64_t below = 0;
    for (uint32_t b = 0; b < kBuckets && count_ > 0; ++b) {
      below += buckets_[b];
      if (below > wanted || below == count_) return std::min(max_, UpperEdge(b));
    }
    return Duration(0);
  }

 private:
  static constexpr uint32_t kBuckets = 8 * 61;

  // 0 to 7 have a bucket each.
  static uint32_t BucketOf(uint64_t nanos) {
    if (nanos < 8) return static_cast<uint32_t>(nanos);
    const auto shift = static_cast<uint32_t>(std::bit_width(nanos)) - 4;
    return 8 * shift + static_cast<uint32_t>(nanos >> shift);
  }
  static Duration UpperEdge(uint32_t bucket) {
    if (bucket < 16) return Duration(bucket);
    const uint32_t shift = bucket / 8 - 1;
    return Duration(static_cast<int64_t>((uint64_t{bucket % 8 + 9} << shift) - 1));
  }

  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
  Duration max_{};
};

}  // namespace weir
