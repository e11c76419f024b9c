// The part of all paths that a policy uses: a run from a random one on, which may go round the
// last.
#pragma once

#include <algorithm>
#include <cstdint>

#include "datapath/api/rng.h"
#include "datapath/api/units.h"

namespace weir {

class PathRun {
 public:
  // `paths` >= 1; `size` at most as many, 0: all.
  PathRun(uint32_t paths, int64_t size, Rng& rng)
      : paths_(paths),
        size_(size > 0 ? std::min(static_cast<uint32_t>(size), paths) : paths),
        base_(rng.Below(paths)) {}

  uint32_t size() const { return size_; }
  PathId At(uint32_t index) const {
    const uint32_t path = base_ + index;
    return static_cast<PathId>(path < paths_ ? path : path - paths_);
  }
  // Not below size() if the path is none of the run.
  uint32_t IndexOf(PathId path) const {
    return path >= base_ ? path - base_ : path + paths_ - base_;
  }

 private:
  uint32_t paths_;
  uint32_t size_;
  uint32_t base_;  // the first of the run
};

}  // namespace weir
