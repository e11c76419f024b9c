// What triggers start, and how often each transfer and delay of an experiment runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "testbed/traffic/traffic.h"

namespace weir {

// What each trigger starts, and how often each has fired. `traffic` outlives it.
class TriggerBook {
 public:
  explicit TriggerBook(const Traffic& traffic);

  // Counts one more firing of `trigger` and says whether it starts what waits for it.
  bool Fire(uint32_t trigger) {
    const Trigger& t = traffic_.triggers[trigger];
    ++fired_[trigger];
    return fired_[trigger] == t.count || (t.repeats && fired_[trigger] > t.count);
  }
  // By index; those of kNoTrigger start with the experiment.
  std::span<const uint32_t> Transfers(uint32_t trigger) const { return transfers_.Of(trigger); }
  std::span<const uint32_t> Delays(uint32_t trigger) const { return delays_.Of(trigger); }

 private:
  // Lists by trigger, in one array; the last list is of what waits for none.
  class Waiting {
   public:
    template <class Item>
    Waiting(size_t triggers, const std::vector<Item>& items);
    std::span<const uint32_t> Of(uint32_t trigger) const {
      const size_t list = trigger == kNoTrigger ? first_.size() - 2 : trigger;
      return {items_.data() + first_[list], items_.data() + first_[list + 1]};
    }

   private:
    std::vector<uint32_t> first_;
    std::vector<uint32_t> items_;
  };

  const Traffic& traffic_;
  std::vector<uint32_t> fired_;
  Waiting transfers_;
  Waiting delays_;
};

// By transfer; 0 if its trigger never starts it. Nothing if triggers that repeat go on for ever.
std::optional<std::vector<uint32_t>> CountRuns(const Traffic& traffic);

}  // namespace weir
