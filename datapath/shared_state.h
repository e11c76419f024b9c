// What all connections of one endpoint share.
#pragma once

#include <vector>

#include "datapath/completion.h"
#include "datapath/counters.h"
#include "datapath/messages.h"
#include "datapath/tx_window.h"

namespace weir {

struct SharedState {
  SharedState(uint32_t tx_messages_max, uint32_t rx_messages_max, uint32_t completions_max)
      : tx_messages(tx_messages_max), rx_messages(rx_messages_max), completions(completions_max) {}

  Pool<TxMessage> tx_messages;
  Pool<RxMessage> rx_messages;
  CompletionQueue completions;
  std::vector<Region> regions;  // its size is fixed
  Counters counters;
  Time stalled_until{};      // the poll loop came late; times of what arrived before mean nothing
  uint32_t full_bursts = 0;  // received in a row: more may wait in the port

  // So many full bursts empty any port's ring of what was in it before: a host that is busy for
  // ever still finds its peers silent.
  static constexpr uint32_t kBurstsOfARing = 256;
  bool rx_backlog() const { return full_bursts > 0 && full_bursts < kBurstsOfARing; }
};

}  // namespace weir
