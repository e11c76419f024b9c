#include "testbed/live/ports_home.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/strings/str_format.h"
#include "datapath/api/rng.h"
#include "nic_drivers/address.h"
#include "nic_drivers/resolve.h"

namespace weir {
namespace {

constexpr auto kResolveMax = std::chrono::seconds(5);
// Signals that it takes the port to show; the rest is the network's, or the peers'.
constexpr Signals kOfPorts = Signal::kMarkEcho | Signal::kCnp | Signal::kNicTimestamps;

}  // namespace

PortsHome::PortsHome(std::vector<std::unique_ptr<NicDevice>> devices, const PortsConfig& config)
    : config_(config),
      devices_(std::move(devices)),
      live_(static_cast<uint32_t>(devices_.size())) {}

PortsHome::~PortsHome() { live_.Stop(); }

absl::Status PortsHome::AddHost(uint32_t host, const EndpointConfig& config, HostMemory memory) {
  NicDevice& device = *devices_[host];
  EndpointConfig own = config;
  own.address = AddressOf(host);
  own.line_rate = config_.rates[host];
  own.seed = Mix64(config_.seed ^ Mix64(host));
  own.signals = own.signals.Without(kOfPorts.Without(device.caps().signals));
  if (absl::Status s = live_.Add(host, device.queue(0), own, memory); !s.ok()) return s;
  if (memory.base != nullptr) {
    if (absl::Status s = device.RegisterMemory(memory.base, memory.size); !s.ok()) return s;
  }
  hosts_.push_back(host);
  return absl::OkStatus();
}

absl::Status PortsHome::Start() {
  return live_.Start(
      {.threads = config_.host_threads,
       .idle_sleep = config_.idle_sleep,
       .thread_begins =
           [this] { std::ranges::for_each(devices_, [](auto& d) { d->EnterThread(); }); },
       .thread_ends =
           [this] { std::ranges::for_each(devices_, [](auto& d) { d->LeaveThread(); }); }});
}

absl::StatusOr<WireId> PortsHome::Connect(uint32_t from, uint32_t to, const Binding& binding) {
  NetAddress remote = AddressOf(to);
  if (absl::Status s = ResolveWithin(*devices_[from], remote, kResolveMax); !s.ok()) return s;
  return live_.Connect(from, remote, binding);
}

uint32_t PortsHome::HostOf(const NetAddress& address) const {
  const auto found =
      std::ranges::find_if(hosts_, [&](uint32_t host) { return SameIp(AddressOf(host), address); });
  return found == hosts_.end() ? 0 : *found;
}

// --- Time ---

Time PortsHome::now() const { return devices_.front()->Now(); }

// Only the hosts' threads are in a hurry.
bool PortsHome::Step(Time until) {
  const Time at = now();
  bool moved = live_.Poll([this](uint32_t host, const Completion& c) {
    ++events_;
    on_completion(host, c);
  });
  if (timer_ <= at) {
    timer_ = Time::Never();
    ++events_;
    moved = true;
    on_timer();
  }
  if (!moved) std::this_thread::yield();
  return at < until;
}

void PortsHome::RunUntil(Time until) {
  while (Step(until)) {
  }
}

// --- Looking back ---

uint64_t PortsHome::missed() const {
  uint64_t missed = 0;
  for (const auto& device : devices_) {
    const DeviceCounters c = device->counters();
    missed += c.rx_missed + c.tx_dropped;
  }
  return missed;
}

void PortsHome::StartWatching() {
  live_.StartWatching();
  watch_begin_ = now();
}

std::optional<RealTimeStats> PortsHome::real_time() const {
  return RealTimeStats{
      .time_scale = config_.time_scale,
      .host_threads = config_.host_threads,
      .host_gap_max = live_.longest_gap(),
      .host_busy = live_.busy(),
      .seconds = static_cast<double>((now() - watch_begin_).count()) * 1e-9 / config_.time_scale};
}

}  // namespace weir
