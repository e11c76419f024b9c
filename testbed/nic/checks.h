// The checks, and the two sides as they find them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "testbed/nic/check.h"
#include "testbed/nic/exchange.h"

namespace weir {

// The pair, opened anew for checks that want it set up otherwise.
class CheckedPair {
 public:
  CheckedPair(const CheckOptions& options, CheckHosts hosts)
      : options_(options), hosts_(std::move(hosts)) {}
  ~CheckedPair() { Close(); }
  CheckedPair(const CheckedPair&) = delete;
  CheckedPair& operator=(const CheckedPair&) = delete;

  const CheckOptions& options() const { return options_; }
  CheckHost& a() { return *hosts_.a; }
  CheckHost& b() { return *hosts_.b; }

  // What each can do, known from when they were opened first.
  const DeviceFacts& a_facts() const { return a_facts_; }
  const DeviceFacts& b_facts() const { return b_facts_; }

  // `host`: 1 of A, 2 of B.
  using Change = std::function<void(DeviceOptions&, int host)>;
  // As the user named them, with `change` made to the options of both. Nothing is done where they
  // are open as they are, and nothing is to be changed.
  absl::Status Open(const Change& change = {});
  // The options that both are opened with when nothing is changed.
  const DeviceOptions& plain_options(int host) const { return host == 1 ? options_.a : options_.b; }
  void Close();
  void CloseA();
  // As it was; only if it can be opened alone.
  bool can_reopen_a() const { return hosts_.open_a != nullptr; }
  absl::Status ReopenA();

  // A turn of both. False: one of them is out of reach.
  bool Poll();
  absl::Status reach() const;

  // Why messages cannot get through at all, once that is known; empty: they may.
  const std::string& blocked() const { return blocked_; }
  void Block(const std::string& why) { blocked_ = why; }
  uint32_t NextTrial() { return ++trials_; }

 private:
  CheckOptions options_;
  CheckHosts hosts_;
  DeviceOptions a_options_{};  // as A is open now
  DeviceFacts a_facts_{}, b_facts_{};
  bool plain_ = false;     // opened, and nothing was changed
  bool a_closed_ = false;  // since then
  std::string blocked_;
  uint32_t trials_ = 0;
};

struct CheckEntry {
  const char* name;
  CheckOutcome (*run)(CheckedPair& pair);  // fills in all but the name
  bool needs_messages;                     // is skipped once it is known that nothing gets through
};
// In the order in which they are run.
std::span<const CheckEntry> AllChecks();

CheckOutcome Passed();
CheckOutcome Failed(const std::string& text);
CheckOutcome Skipped(const std::string& text);

// check_frames.cc
CheckOutcome CheckMtu(CheckedPair& pair);
CheckOutcome CheckLink(CheckedPair& pair);
CheckOutcome CheckAddresses(CheckedPair& pair);
CheckOutcome CheckFrames(CheckedPair& pair);
// check_messages.cc
CheckOutcome CheckMessages(CheckedPair& pair);
CheckOutcome CheckCopied(CheckedPair& pair);
CheckOutcome CheckNoContent(CheckedPair& pair);
CheckOutcome CheckTwoAlgorithms(CheckedPair& pair);
CheckOutcome CheckWithoutOffloads(CheckedPair& pair);
CheckOutcome CheckJumbo(CheckedPair& pair);
CheckOutcome CheckQueues(CheckedPair& pair);
CheckOutcome CheckVlan(CheckedPair& pair);
CheckOutcome CheckIpv6(CheckedPair& pair);
// check_rdma_mode.cc
CheckOutcome CheckRdmaMode(CheckedPair& pair);
CheckOutcome CheckRdmaModeLinkLost(CheckedPair& pair);
// check_life.cc
CheckOutcome CheckLinkDownAndUp(CheckedPair& pair);
CheckOutcome CheckReopened(CheckedPair& pair);
CheckOutcome CheckRemoval(CheckedPair& pair);

// An exchange as an outcome, with its figures.
CheckOutcome OutcomeOf(const ExchangeResult& result, CheckedPair& pair);
// Of an algorithm that needs no more than both devices show.
ExchangeOptions DefaultExchange(CheckedPair& pair);

}  // namespace weir
