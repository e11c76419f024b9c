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
  Time stalled_until{};  // the poll loop came late; what arrived before is not to be trusted
};

}  // namespace weir
