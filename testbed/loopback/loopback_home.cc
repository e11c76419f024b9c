#include "testbed/loopback/loopback_home.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_format.h"
#include "nic_drivers/dpdk/threads.h"
#include "testbed/fabric/host_address.h"
#include "testbed/fabric/paths.h"
#include "testbed/loopback/time_scale.h"

namespace weir {
namespace {

constexpr uint32_t kRing = 1024;
constexpr uint32_t kMtuMin = 1500;
constexpr uint32_t kBuffersMin = 1024;
constexpr uint32_t kBuffersMax = 8192;
// What a host may have on its way at most, in bandwidth-delay products of an idle path: full
// queues, and what a sender without a window puts into them.
constexpr int64_t kBdpsOnTheWay = 8;
constexpr int kDrainTurns = 50'000'000;

std::string AddressText(uint32_t host, bool v6) {
  const uint32_t n = host + 1;
  return v6 ? absl::StrFormat("fd00::%x:%x/64", n >> 16, n & 0xFFFF)
            : absl::StrFormat("10.%d.%d.%d/8", n >> 16, n >> 8 & 0xFF, n & 0xFF);
}

uint32_t BuffersFor(const LoopbackConfig& config) {
  const int64_t packets = kBdpsOnTheWay * config.bdp.count() / config.packet.count();
  const auto wanted = static_cast<uint32_t>(std::min<int64_t>(packets + kBuffersMin, kBuffersMax));
  return std::max(std::bit_ceil(wanted), kBuffersMin);
}

}  // namespace

LoopbackHome::LoopbackHome(const Topology& topology, const LoopbackConfig& config)
    : config_(config),
      topology_(topology),
      host_rates_(HostRates(topology)),
      rings_(topology.hosts),
      carrier_(topology_, {.seed = config.seed, .switches = config.switches}),
      live_(topology.hosts) {
  carrier_.OnTimer([this](uint32_t timer) {
    if (timer == kRunTimer) return on_timer();
    faults_->OnTimer(timer);
  });
  carrier_.OnStall([this](uint32_t host, Time until) { live_.StandStill(host, until); });
}

// The hosts' threads end first; then the frames that they and the fabric hold go back.
LoopbackHome::~LoopbackHome() { live_.Stop(); }

absl::Status LoopbackHome::AddHost(uint32_t host, const EndpointConfig& config, HostMemory memory) {
  if (hosts_.size() == kLoopbackHostsMax) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("the loopback testbed has room for %d hosts", kLoopbackHostsMax));
  }
  const Rate rate = host_rates_[host];
  const auto mtu = static_cast<uint32_t>(config_.packet.count()) - kEthernetBytes - kFcsBytes;
  DeviceOptions options;
  options.device = absl::StrFormat("dpdk:loopback%d", host);
  options.address = AddressText(host, config_.v6);
  options.mtu = std::max(mtu, kMtuMin);
  options.line_rate = rate;
  options.time_scale = config_.time_scale;
  absl::StatusOr<RingDevice> ring =
      OpenRingDevice(options, {.ring = kRing, .buffers = BuffersFor(config_)});
  if (!ring.ok()) return ring.status();
  RingDevice& opened = rings_[host] = *std::move(ring);
  EndpointConfig own = config;
  own.address = AddressOf(host);
  own.line_rate = rate;
  own.seed = Mix64(config_.seed ^ Mix64(host));
  if (absl::Status s = live_.Add(host, opened.device->queue(0), own, memory); !s.ok()) return s;
  if (memory.base != nullptr) {
    if (absl::Status s = opened.device->RegisterMemory(memory.base, memory.size); !s.ok()) return s;
  }
  carrier_.Attach(host, *opened.far_end);
  hosts_.push_back(host);
  return absl::OkStatus();
}

absl::Status LoopbackHome::Start() {
  return live_.Start({.threads = config_.host_threads,
                      .thread_begins = DpdkThreadBegins,
                      .thread_ends = DpdkThreadEnds});
}

NetAddress LoopbackHome::AddressOf(uint32_t host) const { return HostAddress(host, config_.v6); }

// --- Time ---

Time LoopbackHome::now() const {
  return hosts_.empty() ? Time(0) : rings_[hosts_.front()].far_end->Now();
}

bool LoopbackHome::Step(Time until) {
  const Time at = now();
  if (last_moved_) busy_ += at - last_step_;
  last_step_ = at;
  last_moved_ = carrier_.Turn(at);
  last_moved_ |= live_.Poll(on_completion);
  return at < until;
}

void LoopbackHome::RunUntil(Time until) {
  while (Step(until)) {
  }
}

void LoopbackHome::StartFaults(const std::vector<Fault>& faults, Duration horizon) {
  faults_.emplace(carrier_, faults, kFaultTimer);
  faults_->Start(now(), horizon);
}

// --- Looking back ---

uint64_t LoopbackHome::missed() const { return carrier_.missed() + carrier_.refused(); }

// Until every host has seen an empty ring with an empty fabric behind it. Bounded: a host that
// stands still, or goes on sending, ends it, too.
void LoopbackHome::Drain() {
  std::vector<uint64_t> polls(rings_.size());
  const auto note = [&] {
    for (const uint32_t host : hosts_) polls[host] = live_.port(host).empty_polls();
  };
  note();
  for (int turn = 0; turn < kDrainTurns; ++turn) {
    const Time at = now();
    Step(at);
    if (last_moved_ || carrier_.packets_held() > 0) {
      note();
      continue;
    }
    const bool seen = std::all_of(hosts_.begin(), hosts_.end(), [&](uint32_t host) {
      const WatchedPort& port = live_.port(host);
      return port.StandsStill(at) || port.empty_polls() > polls[host] + 1;
    });
    if (seen) return;
  }
}

std::string LoopbackHome::CheckConservation() {
  Drain();
  return carrier_.fabric().CheckConservation(carrier_.now());
}

std::string LoopbackHome::CheckQuiet() {
  if (std::string breach = CheckConservation(); !breach.empty()) return breach;
  if (carrier_.packets_held() > 0) {
    return absl::StrFormat("%d packets are still held", carrier_.packets_held());
  }
  for (const uint32_t host : hosts_) {
    const uint64_t buffers = rings_[host].device->counters().buffers_in_use;
    if (buffers > 0) return absl::StrFormat("host %d: %d buffers are still held", host, buffers);
    std::string held;
    Look(host, [&](const Endpoint& e) {
      if (e.connections() + e.tx_messages_used() + e.rx_messages_used() + e.tx_pages_used() == 0)
        return;
      held = absl::StrFormat("host %d still holds %d connections, %d and %d messages, %d pages",
                             host, e.connections(), e.tx_messages_used(), e.rx_messages_used(),
                             e.tx_pages_used());
    });
    if (!held.empty()) return held;
  }
  return "";
}

void LoopbackHome::StartWatching() {
  live_.StartWatching();
  watch_begin_ = last_step_ = now();
  last_moved_ = false;
  busy_ = Duration(0);
  carrier_.StartWatching(watch_begin_);
}

std::optional<RealTimeStats> LoopbackHome::real_time() const {
  const Duration watched = std::max(last_step_ - watch_begin_, Duration(1));
  return RealTimeStats{
      .time_scale = config_.time_scale,
      .chosen_here = config_.chosen_here,
      .host_threads = config_.host_threads,
      .fabric = RealTimeStats::FabricThread{.late_max = carrier_.lateness().max(),
                                            .late_p99 = carrier_.lateness().Quantile(0.99),
                                            .gap_max = carrier_.longest_gap(),
                                            .busy = Ratio(busy_, watched)},
      .host_gap_max = live_.longest_gap(),
      .host_busy = live_.busy(),
      .seconds = static_cast<double>(watched.count()) * 1e-9 / config_.time_scale};
}

}  // namespace weir
