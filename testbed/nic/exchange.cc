#include "testbed/nic/exchange.h"

#include <algorithm>

#include "cc_algos/registry.h"
#include "lb_policies/registry.h"
#include "testbed/nic/exchange_host.h"

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

Exchange::Exchange(NicDevice& a, NicDevice& b, const ExchangeOptions& options)
    : options_(options), a_device_(&a), b_device_(&b) {
  a_ = std::make_unique<ExchangeHost>(a, options_, true);
  b_ = std::make_unique<ExchangeHost>(b, options_, false);
  begin_ = Clock::now();
}

Exchange::~Exchange() = default;

// One after the other, so that both sides number the connections alike.
void Exchange::ConnectNext() {
  const bool ready = a_->opened() == connected_ && b_->opened() == connected_;
  if (connected_ == options_.bindings.size() || !ready || a_device_ == nullptr) return;
  if (a_->Connect(b_device_->address(), options_.bindings[connected_])) ++connected_;
}

bool Exchange::Turn() {
  if (problem_.empty() && Clock::now() - begin_ > options_.time_max) {
    problem_ = "not done in time; A: " + a_->Progress() + "; B: " + b_->Progress();
  }
  if (problem_.empty() && !a_->problem().empty()) problem_ = "A: " + a_->problem();
  if (problem_.empty() && !b_->problem().empty()) problem_ = "B: " + b_->problem();
  const size_t all = options_.bindings.size();
  if (!problem_.empty() || (a_->closed() == all && b_->closed() == all)) return false;
  ConnectNext();
  a_->Poll();
  b_->Poll();
  return true;
}

double Exchange::progress() const {
  const auto all = static_cast<double>(2 * a_->messages() * options_.bindings.size());
  return static_cast<double>(a_->received() + b_->received()) / all;
}

void Exchange::ReplaceA(NicDevice* device) {
  a_device_ = device;
  a_->ReplaceDevice(device);
}

// What is still on its way refers to the memory until it was received.
void Exchange::Drain() {
  const Clock::time_point deadline = Clock::now() + kDrainMax;
  bool left = options_.registered;
  while (left && Clock::now() < deadline) {
    left = a_device_ != nullptr && absl::IsUnavailable(a_device_->UnregisterMemory(a_->memory()));
    left |= absl::IsUnavailable(b_device_->UnregisterMemory(b_->memory()));
    for (NicDevice* device : {a_device_, b_device_}) {
      Frame frames[kBurst];
      for (uint32_t q = 0; device != nullptr && q < device->queues(); ++q) {
        NicPort& port = device->queue(q);
        port.Release(std::span(frames, port.RxBurst(frames)));
      }
    }
  }
  if (left && problem_.empty()) {
    problem_ = "frames that were sent do not come back: their memory is still in use";
  }
}

ExchangeResult Exchange::Finish() {
  const std::chrono::duration<double> passed = Clock::now() - begin_;
  Drain();
  return {.problem = problem_,
          .bytes = (a_->bytes() + b_->bytes()) * options_.bindings.size(),
          .seconds = passed.count(),
          .a = a_->counters(),
          .b = b_->counters(),
          .rtt_min = a_->rtt_min()};
}

ExchangeResult RunExchange(NicDevice& a, NicDevice& b, const ExchangeOptions& options) {
  Exchange exchange(a, b, options);
  while (exchange.Turn()) {
  }
  return exchange.Finish();
}

}  // namespace weir
