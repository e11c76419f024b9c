#include "testbed/experiment/sampled_home.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

constexpr size_t kSamplesMax = 1'000'000;

template <class Unit>
double OrNoLimit(Quantity<Unit> limit) {
  return limit == Quantity<Unit>::Max() ? std::numeric_limits<double>::quiet_NaN()
                                        : static_cast<double>(limit.count());
}

}  // namespace

SampledHome::SampledHome(std::unique_ptr<Home> home, const SampleSpec& spec)
    : home_(std::move(home)), spec_(spec) {
  samples_.every = spec.every;
  const Topology& topology = home_->fabric()->topology();
  for (LinkId id = 0; id < topology.links.size(); ++id) {
    const LinkShape& shape = topology.links[id];
    if (topology.IsHost(shape.from)) continue;
    outputs_.push_back(id);
    (topology.IsHost(shape.to) ? host_links_ : switch_links_).push_back(id);
  }
  if (switch_links_.empty()) switch_links_ = host_links_;
}

absl::Status SampledHome::AddHost(uint32_t host, const EndpointConfig& config, HostMemory memory) {
  hosts_.push_back(host);
  return home_->AddHost(host, config, memory);
}

absl::Status SampledHome::Start() {
  home_->on_completion = on_completion;
  home_->on_timer = on_timer;
  return home_->Start();
}

absl::StatusOr<WireId> SampledHome::Connect(uint32_t from, uint32_t to, const Binding& binding) {
  absl::StatusOr<WireId> id = home_->Connect(from, to, binding);
  const bool wanted = spec_.any_flow || (from == spec_.from && to == spec_.to);
  if (id.ok() && wanted && !flow_found_) {
    flow_found_ = true;
    flow_host_ = from;
    flow_ = *id;
    samples_.flow = absl::StrFormat("host %d to host %d", from, to);
  }
  return id;
}

void SampledHome::StartWatching() {
  home_->StartWatching();
  begin_ = next_ = home_->now();
  bytes_out_.clear();
  for (LinkId id = 0; id < home_->fabric()->topology().links.size(); ++id) {
    bytes_out_.push_back(home_->fabric()->BytesOutAt(begin_, id));
  }
}

bool SampledHome::Step(Time until) {
  while (next_ < until) {
    if (home_->Step(next_)) return true;
    Sample();
  }
  return home_->Step(until);
}

// Everything up to `next_` has happened.
void SampledHome::Sample() {
  SampleQueues(next_);
  SampleLoads(next_);
  SampleFlow();
  samples_.at.push_back(next_ - begin_);
  next_ = samples_.at.size() < kSamplesMax ? next_ + spec_.every : Time::Never();
}

void SampledHome::SampleQueues(Time at) {
  Bytes most{};
  Bytes sum{};
  for (const LinkId id : outputs_) {
    const Bytes queue = home_->fabric()->QueuedAt(at, id);
    most = std::max(most, queue);
    sum += queue;
  }
  samples_.queue_max.push_back(most);
  samples_.queue_mean.push_back(sum / std::max<int64_t>(1, std::ssize(outputs_)));
}

void SampledHome::SampleLoads(Time at) {
  const Fabric& fabric = *home_->fabric();
  const double seconds = static_cast<double>(spec_.every.count()) * 1e-9;
  const auto bits_since = [&](LinkId id) {
    // A trim may cut what was counted as about to leave.
    const uint64_t out = std::max(bytes_out_[id], fabric.BytesOutAt(at, id));
    const double bits = 8.0 * static_cast<double>(out - bytes_out_[id]);
    bytes_out_[id] = out;
    return bits;
  };
  std::vector<double> bits(bytes_out_.size(), 0.0);
  for (const LinkId id : outputs_) bits[id] = bits_since(id);
  double most = 0;
  double sum = 0;
  for (const LinkId id : switch_links_) {
    const auto rate = static_cast<double>(fabric.topology().links[id].rate.count());
    const double load = bits[id] / seconds / rate;
    most = std::max(most, load);
    sum += load;
  }
  double delivered = 0;
  for (const LinkId id : host_links_) delivered += bits[id];
  const bool first = samples_.at.empty();
  samples_.load_max.push_back(first ? 0 : most);
  samples_.load_mean.push_back(
      first ? 0 : sum / std::max(1.0, static_cast<double>(switch_links_.size())));
  samples_.delivered_bps.push_back(first ? 0 : delivered / seconds);
}

void SampledHome::SampleFlow() {
  if (!flow_found_) return;
  home_->Look(flow_host_, [this](const Endpoint& endpoint) {
    const Connection* c = endpoint.Find(flow_);
    const Allowance allowance = c == nullptr ? Allowance{} : c->sender.allowance();
    samples_.window_bytes.push_back(OrNoLimit(allowance.window));
    samples_.rate_bps.push_back(OrNoLimit(allowance.rate));
    samples_.in_flight.push_back(c == nullptr ? Bytes(0) : c->sender.in_flight());
  });
}

}  // namespace weir
