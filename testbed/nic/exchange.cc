#include "testbed/nic/exchange.h"

#include "cc_algos/registry.h"
#include "lb_policies/registry.h"
#include "testbed/nic/check_host.h"

namespace weir {
namespace {

// For frames on their way to come back, once nothing more is sent.
constexpr auto kDrainMax = std::chrono::seconds(3);

}  // namespace

Binding BindingOf(const char* cc, const char* lb) {
  Binding binding{.cc = FindCc(cc), .lb = FindLb(lb)};
  binding.cc_config = binding.cc->defaults();
  binding.lb_config = binding.lb->defaults();
  return binding;
}

Exchange::Exchange(CheckHost& a, CheckHost& b, const ExchangeOptions& options)
    : options_(options), a_(a), b_(b), b_address_(b.Look().address) {
  a_.StartExchange(options_, true);
  b_.StartExchange(options_, false);
  begin_ = Clock::now();
}

Exchange::~Exchange() {
  a_.EndExchange();
  b_.EndExchange();
}

bool Exchange::Turn() {
  const HostProgress a = a_.progress(), b = b_.progress();
  if (problem_.empty() && Clock::now() - begin_ > options_.time_max) {
    problem_ = "not done in time; A: " + a_.Report().progress + "; B: " + b_.Report().progress;
  }
  if (problem_.empty() && !a.problem.empty()) problem_ = "A: " + a.problem;
  if (problem_.empty() && !b.problem.empty()) problem_ = "B: " + b.problem;
  const size_t all = options_.plugins.size();
  if (!problem_.empty() || (a.closed == all && b.closed == all)) return false;
  // One after the other, so that both sides number the connections alike.
  if (connections_ < all && a.opened == connections_ && b.opened == connections_) {
    ++connections_;
    a_.Connect(b_address_);
  }
  a_.Poll();
  b_.Poll();
  return true;
}

double Exchange::progress() const {
  const HostProgress a = a_.progress(), b = b_.progress();
  const uint32_t all = a.messages + b.messages;
  return all == 0 ? 0 : static_cast<double>(a.received + b.received) / all;
}

// What is still on its way refers to the memory until it was received.
void Exchange::Drain() {
  a_.Drain();
  b_.Drain();
  const Clock::time_point deadline = Clock::now() + kDrainMax;
  const auto drained = [this] { return a_.progress().drained && b_.progress().drained; };
  while (!drained() && Clock::now() < deadline) {
    a_.Poll();
    b_.Poll();
  }
  if (problem_.empty() && !drained()) {
    problem_ = "frames that were sent do not come back: their memory is still in use";
  }
}

ExchangeResult Exchange::Finish() {
  const std::chrono::duration<double> passed = Clock::now() - begin_;
  Drain();
  const ExchangeReport a = a_.Report(), b = b_.Report();
  return {.problem = problem_,
          .bytes = a.bytes + b.bytes,
          .seconds = passed.count(),
          .a = a.counters,
          .b = b.counters,
          .rtt_min = a.rtt_min};
}

ExchangeResult RunExchange(CheckHost& a, CheckHost& b, const ExchangeOptions& options) {
  Exchange exchange(a, b, options);
  while (exchange.Turn()) {
  }
  return exchange.Finish();
}

}  // namespace weir
