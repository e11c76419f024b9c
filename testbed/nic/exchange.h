// Two hosts exchange messages of many sizes over two devices, and every byte is compared.
//
// Both are polled by the caller's thread, in turn, so that a machine with one core will do.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datapath/endpoint.h"
#include "datapath/nic_device.h"

namespace weir {

struct ExchangeOptions {
  // Of the connections from A to B, all at once; B answers by the first one's. Not empty.
  std::vector<Binding> bindings{};
  bool registered = true;             // payload leaves memory that the device knows
  bool content = true;                // false: payload whose bytes do not matter
  uint32_t large = 1 << 20;           // bytes of the largest message
  std::chrono::seconds time_max{20};  // for all of it
  Duration open_timeout = Seconds(10);
  Duration patience = Seconds(5);  // without a word from a peer,
  int retries_max = 8;             // and so many unanswered, before it counts as gone
};

struct ExchangeResult {
  std::string problem;  // empty: every byte arrived, everything was closed
  uint64_t bytes = 0;   // of messages, both ways
  double seconds = 0;
  Counters a{}, b{};
  Duration rtt_min{};  // of the first connection; 0: none was measured
};

class ExchangeHost;

class Exchange {
 public:
  // The devices outlive it, unless others take their place.
  Exchange(NicDevice& a, NicDevice& b, const ExchangeOptions& options);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // One turn of both hosts. False: it is over, well or not.
  bool Turn();
  // Of the messages, how many have arrived; [0, 1].
  double progress() const;
  // From here on A's frames go over another device with the same address. nullptr: over none.
  void ReplaceA(NicDevice* device);
  // Polls until nothing refers to the hosts' memory any more. Only once.
  ExchangeResult Finish();

 private:
  using Clock = std::chrono::steady_clock;

  void ConnectNext();
  void Drain();

  ExchangeOptions options_;
  NicDevice* a_device_;
  NicDevice* b_device_;
  std::unique_ptr<ExchangeHost> a_, b_;
  size_t connected_ = 0;
  Clock::time_point begin_ = Clock::now();
  std::string problem_;
};

// Runs one to its end.
ExchangeResult RunExchange(NicDevice& a, NicDevice& b, const ExchangeOptions& options);

// An algorithm over a policy, with the parameters they come with; both names exist.
Binding BindingOf(const char* cc, const char* lb);

}  // namespace weir
