#include "testbed/virtual/world.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "datapath/poll_loop.h"

namespace weir {
namespace {

// A host whose queue is full looks again after this.
constexpr Duration kTxRetry = Micros(1);

}  // namespace

World::World(const Topology& topology, const WorldConfig& config)
    : config_(config),
      packets_(config.packets_max),
      pages_(config.tx_pages_max),
      first_host_timer_(Fabric::TimersNeeded(topology)),
      first_user_timer_(first_host_timer_ + topology.hosts),
      wheel_(first_user_timer_ + config.timers),
      fabric_(topology, config.switches, config.seed, packets_, wheel_, 0,
              [this](Time now, uint32_t host, PacketId packet) { Deliver(now, host, packet); }),
      host_rates_(HostRates(topology)),
      hosts_(topology.hosts) {}

Endpoint& World::AddHost(uint32_t host, EndpointConfig config) {
  const Rate rate = host_rates_[host];
  config.address = AddressOf(host);
  config.line_rate = rate;
  config.seed = Mix64(config_.seed ^ Mix64(host));
  const PortCaps caps{.line_rate = rate, .signals = config.signals};
  auto entry = std::make_unique<Host>(fabric_, packets_, host, caps);
  absl::StatusOr<std::unique_ptr<Endpoint>> endpoint = Endpoint::Create(config, &pages_);
  if (!endpoint.ok()) {
    std::fprintf(stderr, "%s\n", std::string(endpoint.status().message()).c_str());
    std::abort();
  }
  entry->endpoint = *std::move(endpoint);
  entry->port.set_tap(tap_);
  hosts_[host] = std::move(entry);
  return *hosts_[host]->endpoint;
}

void World::SetTap(PacketTap* tap) {
  tap_ = tap;
  for (const auto& host : hosts_) {
    if (host != nullptr) host->port.set_tap(tap);
  }
}

void World::Stall(uint32_t host, Time until) {
  if (hosts_[host] == nullptr) return;
  Time& stalled_until = hosts_[host]->stalled_until;
  stalled_until = std::max(stalled_until, until);
  wheel_.Arm(first_host_timer_ + host, stalled_until);
}

void World::Deliver(Time now, uint32_t host, PacketId packet) {
  if (hosts_[host] == nullptr) {
    packets_.Give(packet);
    return;
  }
  if (tap_ != nullptr) tap_->OnDeliver(now, packet, packets_[packet]);
  hosts_[host]->port.Accept(now, packet);
  Poll(host);
}

void World::Poll(uint32_t index) {
  Host& host = *hosts_[index];
  if (host.stalled_until > now_) {
    wheel_.Arm(first_host_timer_ + index, host.stalled_until);
    return;
  }
  host.port.set_now(now_);
  Completion completion;
  bool again = true;
  while (again) {
    PollOnce(host.port, *host.endpoint);
    again = host.port.has_received() || (host.endpoint->Due(now_) > 0 && !host.port.tx_short());
    while (host.endpoint->PollCompletion(completion)) {
      if (on_completion_) on_completion_(index, completion);
      again = true;
    }
  }
  Time next = host.endpoint->NextWakeup(now_);
  if (next <= now_) next = host.port.tx_short() ? now_ + kTxRetry : now_ + Nanos(1);
  wheel_.Arm(first_host_timer_ + index, next);
}

bool World::Step(Time until) {
  const TimerWheel::Id id = wheel_.PopDue(until);
  if (id == TimerWheel::kNone) return false;
  now_ = wheel_.clock();
  ++events_;
  if (const TimerWheel::Id next = wheel_.Peek(); next < first_host_timer_) fabric_.Prefetch(next);
  if (id < first_host_timer_) {
    fabric_.HandleTimer(now_, id);
  } else if (id < first_user_timer_) {
    Poll(id - first_host_timer_);
  } else {
    on_timer_(id - first_user_timer_);
  }
  return true;
}

void World::RunUntil(Time until) {
  while (Step(until)) {
  }
  now_ = std::max(now_, until);
}

Counters World::TotalCounters() const {
  Counters total;
  for (const auto& host : hosts_) {
    if (host != nullptr) total += host->endpoint->counters();
  }
  return total;
}

std::string World::CheckConservation() { return fabric_.CheckConservation(now_); }

std::string World::CheckQuiet() {
  if (std::string breach = CheckConservation(); !breach.empty()) return breach;
  if (packets_.used() != 0) return absl::StrFormat("%d packets are still held", packets_.used());
  if (pages_.used() != 0) return absl::StrFormat("%d record pages are still held", pages_.used());
  for (uint32_t h = 0; h < hosts_.size(); ++h) {
    if (hosts_[h] == nullptr) continue;
    const Endpoint& e = *hosts_[h]->endpoint;
    if (e.connections() != 0 || e.tx_messages_used() != 0 || e.rx_messages_used() != 0) {
      return absl::StrFormat("host %d still holds %d connections, %d and %d messages", h,
                             e.connections(), e.tx_messages_used(), e.rx_messages_used());
    }
  }
  return "";
}

}  // namespace weir
