#include "testbed/live/live_hosts.h"

#include <algorithm>
#include <bit>

namespace weir {
namespace {

constexpr size_t kCompletionsAtOnce = 32;

}  // namespace

absl::Status LiveHosts::Add(uint32_t host, NicPort& port, const EndpointConfig& config,
                            const HostMemory& memory) {
  absl::StatusOr<std::unique_ptr<Endpoint>> endpoint = Endpoint::Create(config);
  if (!endpoint.ok()) return endpoint.status();
  auto added = std::make_unique<Host>(port);
  added->endpoint = *std::move(endpoint);
  if (absl::Status s = added->endpoint->RegisterRegion(memory.base, memory.size).status(); !s.ok())
    return s;
  completions_max_ = std::max(completions_max_, config.completions_max);
  by_index_[host] = std::move(added);
  indices_.push_back(host);
  return absl::OkStatus();
}

absl::Status LiveHosts::Start(EngineConfig config) {
  config.ring = std::bit_ceil(std::max(completions_max_, 64u));
  absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::Create(config);
  if (!engine.ok()) return engine.status();
  engine_ = *std::move(engine);
  spent_before_.resize(config.threads);
  uint32_t thread = 0;
  for (const uint32_t index : indices_) {
    Host& host = *by_index_[index];
    host.channel = &engine_->Add(host.port, std::move(host.endpoint), thread);
    thread = (thread + 1) % config.threads;
  }
  return engine_->Start();
}

void LiveHosts::Stop() {
  if (engine_ != nullptr) engine_->Stop();
}

// --- The application's side ---

absl::StatusOr<WireId> LiveHosts::Connect(uint32_t from, const NetAddress& to,
                                          const Binding& binding) {
  absl::StatusOr<WireId> id = absl::InternalError("not called");
  by_index_[from]->channel->Call(
      [&](Time now, Endpoint& endpoint) { id = endpoint.Connect(now, to, binding); });
  return id;
}

absl::Status LiveHosts::PostWrite(uint32_t host, WireId id, const WriteRequest& request) {
  if (by_index_[host]->channel->Post({.connection = id, .request = request})) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError("the ring of postings is full; poll completions first");
}

void LiveHosts::Close(uint32_t host, WireId id) {
  by_index_[host]->channel->Call(
      [&](Time now, Endpoint& endpoint) { (void)endpoint.Close(now, id); });
}

bool LiveHosts::Poll(absl::FunctionRef<void(uint32_t host, const Completion&)> heard) {
  Completion completions[kCompletionsAtOnce];
  bool any = false;
  for (const uint32_t host : indices_) {
    const size_t n = by_index_[host]->channel->PollCompletions(completions);
    for (size_t i = 0; i < n; ++i) heard(host, completions[i]);
    any |= n > 0;
  }
  return any;
}

// --- Looking in ---

void LiveHosts::StandStill(uint32_t host, Time until) {
  if (by_index_[host] != nullptr) by_index_[host]->port.StandStill(until);
}

void LiveHosts::Look(uint32_t host, absl::FunctionRef<void(const Endpoint&)> look) {
  by_index_[host]->channel->Call([&](Time, Endpoint& endpoint) { look(endpoint); });
}

LiveHosts::Spent LiveHosts::SpentBy(uint32_t thread) const {
  const PollStats stats = engine_->stats(thread);
  return {stats.busy_cycles, stats.busy_cycles + stats.idle_cycles};
}

void LiveHosts::StartWatching() {
  for (const uint32_t index : indices_) {
    Host& host = *by_index_[index];
    host.channel->Call([&host](Time, Endpoint&) { host.port.StartWatching(); });
  }
  for (uint32_t t = 0; t < spent_before_.size(); ++t) spent_before_[t] = SpentBy(t);
}

Duration LiveHosts::longest_gap() const {
  Duration longest{};
  for (const uint32_t host : indices_) longest = std::max(longest, port(host).longest_gap());
  return longest;
}

double LiveHosts::busy() const {
  double busiest = 0;
  for (uint32_t t = 0; t < spent_before_.size(); ++t) {
    const Spent spent = SpentBy(t);
    const auto all = static_cast<double>(spent.all - spent_before_[t].all);
    const auto busy = static_cast<double>(spent.busy - spent_before_[t].busy);
    if (all > 0) busiest = std::max(busiest, busy / all);
  }
  return busiest;
}

}  // namespace weir
