// Two hosts exchange messages of many sizes over two devices, and every byte is compared.
//
// Both are polled by the caller's thread, in turn, so that a machine with one core will do.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "datapath/counters.h"
#include "datapath/sender.h"

namespace weir {

class CheckHost;

// An algorithm over a policy by their names, with the parameters that they come with.
struct PluginPair {
  std::string cc, lb;
};

struct ExchangeOptions {
  // Of the connections from A to B, all at once; B answers by the first one's. Not empty.
  std::vector<PluginPair> plugins{};
  bool registered = true;             // payload leaves memory that the device knows
  bool content = true;                // false: payload whose bytes do not matter
  uint32_t large = 1 << 20;           // bytes of the largest message
  std::chrono::seconds time_max{20};  // for all of it
  Duration open_timeout = Seconds(10);
  Duration patience = Seconds(5);  // without a word from a peer,
  int retries_max = 8;             // and so many unanswered, before it counts as gone
};

// What one side says of it.
struct ExchangeReport {
  uint64_t bytes = 0;  // of the messages that it sends
  Counters counters{};
  Duration rtt_min{};      // of the first connection; 0: none was measured
  std::string progress{};  // how far it is, in words
};

struct ExchangeResult {
  std::string problem{};  // empty: every byte arrived, everything was closed
  uint64_t bytes = 0;     // of messages, both ways
  double seconds = 0;
  Counters a{}, b{};
  Duration rtt_min{};  // of the first connection; 0: none was measured
};

class Exchange {
 public:
  // Both devices are open; A's may be closed and opened again meanwhile.
  Exchange(CheckHost& a, CheckHost& b, const ExchangeOptions& options);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // One turn of both hosts. False: it is over, well or not.
  bool Turn();
  // Of the messages, how many have arrived; [0, 1].
  double progress() const;
  // Polls until nothing refers to the hosts' memory any more. Only once.
  ExchangeResult Finish();

 private:
  using Clock = std::chrono::steady_clock;

  void Drain();

  ExchangeOptions options_;
  CheckHost& a_;
  CheckHost& b_;
  NetAddress b_address_;
  size_t connections_ = 0;  // that A was told to open
  Clock::time_point begin_;
  std::string problem_;
};

// Runs one to its end.
ExchangeResult RunExchange(CheckHost& a, CheckHost& b, const ExchangeOptions& options);

// Both names exist.
Binding BindingOf(const char* cc, const char* lb);

}  // namespace weir
