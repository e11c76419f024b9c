// What a collective sends, whatever carries it: messages between ranks, and which waits for which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datapath/api/units.h"

namespace weir {

inline constexpr uint32_t kNoMessage = 0xFFFF'FFFF;

// Ranks count within the communicator. A rank is done when all it sends is acknowledged and all it
// receives is there.
struct PlanMessage {
  uint32_t from = 0;
  uint32_t to = 0;
  uint32_t via = 0;  // the rank whose NIC sends it; of the same node as `from`
  uint32_t channel = 0;
  Bytes size{};  // on the wire, > 0
  // A rank issues its messages of one channel in the order of the plan, unless it is unordered.
  bool ordered = true;
  uint32_t after_sent = kNoMessage;  // of the same rank, which must have been acknowledged
  uint32_t first_need = 0;           // of Plan::needs
  uint32_t needs = 0;                // messages that `from` must have received
};

struct Plan {
  std::vector<PlanMessage> messages;
  std::vector<uint32_t> needs;

  std::span<const uint32_t> NeedsOf(const PlanMessage& m) const {
    return std::span(needs).subspan(m.first_need, m.needs);
  }
  // `needs` and `message.after_sent` come earlier in the plan. Returns the message's index.
  uint32_t Add(PlanMessage message, std::span<const uint32_t> needed = {}) {
    message.first_need = static_cast<uint32_t>(needs.size());
    message.needs = static_cast<uint32_t>(needed.size());
    needs.insert(needs.end(), needed.begin(), needed.end());
    messages.push_back(message);
    return static_cast<uint32_t>(messages.size() - 1);
  }
};

}  // namespace weir
