#include "testbed/live/rdma_home.h"

#include <algorithm>
#include <thread>

#include "absl/strings/str_format.h"
#include "datapath/api/rng.h"
#include "testbed/live/open_ports.h"

namespace weir {
namespace {

constexpr auto kConnectMax = std::chrono::seconds(10);

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<ChunkDevice>>> OpenRdmaPorts(
    std::span<const DeviceOptions> options, const RdmaConfig& config) {
  std::vector<std::unique_ptr<ChunkDevice>> devices(options.size());
  for (size_t i = options.size(); i-- > 0;) {
    DeviceOptions asked = options[i];
    asked.time_scale = config.time_scale;
    absl::StatusOr<std::unique_ptr<ChunkDevice>> device = OpenChunkDevice(asked);
    if (!device.ok()) return device.status();
    const absl::Status fast = CheckRate(asked.device, (*device)->port().caps().line_rate,
                                        config.rates[i], config.time_scale);
    if (!fast.ok()) return fast;
    devices[i] = *std::move(device);
  }
  return devices;
}

RdmaHome::RdmaHome(std::vector<std::unique_ptr<ChunkDevice>> devices, const RdmaConfig& config)
    : config_(config), devices_(std::move(devices)) {}

// Endpoints refer to devices, and devices to memory.
RdmaHome::~RdmaHome() {
  for (auto& [index, host] : by_index_) host.endpoint.reset();
  devices_.clear();
}

absl::Status RdmaHome::AddHost(uint32_t host, const EndpointConfig& config, HostMemory /*memory*/) {
  ChunkDevice& device = *devices_[host];
  Host& added = by_index_[host];
  added.memory = HugeMemory(std::max<uint64_t>(config_.region, 1));
  const absl::StatusOr<uint32_t> region =
      device.RegisterRegion(added.memory.data(), added.memory.size());
  if (!region.ok()) return region.status();
  auto endpoint = ChunkEndpoint::Create(device.port(), {.seed = Mix64(config_.seed ^ Mix64(host)),
                                                        .binding = config.binding,
                                                        .connections_max = config.connections_max,
                                                        .messages_max = config.tx_messages_max,
                                                        .completions_max = config.completions_max,
                                                        .chunk_bytes = config_.chunk_bytes,
                                                        .line_rate = config_.rates[host],
                                                        .base_rtt = config.base_rtt,
                                                        .max_queue = config.max_queue});
  if (!endpoint.ok()) return endpoint.status();
  added.endpoint = *std::move(endpoint);
  hosts_.push_back(host);
  return absl::OkStatus();
}

// --- Connections ---

bool RdmaHome::TurnAll() {
  const Time at = now();
  gap_max_ = std::max(gap_max_, at - turned_);
  turned_ = at;
  bool moved = false;
  for (auto& [index, host] : by_index_) {
    moved |= host.endpoint->Turn(devices_[index]->port().Now()) > 0;
    Completion c;
    while (host.endpoint->PollCompletion(c)) {
      heard_.push_back({index, c});
      moved = true;
    }
  }
  if (moved) busy_ += now() - at;
  return moved;
}

const Completion* RdmaHome::FindHeard(uint32_t host, Event event, size_t from) const {
  for (size_t i = from; i < heard_.size(); ++i) {
    const Completion& c = heard_[i].completion;
    if (heard_[i].host == host && (c.event == event || c.event == Event::kFailed)) return &c;
  }
  return nullptr;
}

absl::StatusOr<WireId> RdmaHome::Connect(uint32_t from, uint32_t to, const Binding& binding) {
  const size_t before = heard_.size();
  const absl::StatusOr<WireId> id =
      by_index_.at(from).endpoint->Connect(now(), AddressOf(to), binding);
  if (!id.ok()) return id;
  const auto deadline = std::chrono::steady_clock::now() + kConnectMax;
  const Completion* opened = nullptr;
  const Completion* accepted = nullptr;
  while (opened == nullptr || accepted == nullptr) {
    if (std::chrono::steady_clock::now() > deadline) {
      return absl::UnavailableError(absl::StrFormat("host %d does not answer host %d within %d s",
                                                    to, from,
                                                    static_cast<int>(kConnectMax.count())));
    }
    if (!TurnAll()) std::this_thread::yield();
    opened = FindHeard(from, Event::kOpened, before);
    accepted = FindHeard(to, Event::kAccepted, before);
    if (opened != nullptr && opened->event == Event::kFailed) return id;  // heard in Step
  }
  openers_[{to, accepted->connection.value}] = {.host = from, .id = *id};
  return id;
}

absl::Status RdmaHome::PostWrite(uint32_t host, WireId id, const WriteRequest& request) {
  return by_index_.at(host).endpoint->PostWrite(now(), id, request);
}

std::optional<Home::Opener> RdmaHome::OpenerOf(uint32_t host, WireId id) {
  const auto found = openers_.find({host, id.value});
  if (found == openers_.end()) return std::nullopt;
  return found->second;
}

Bytes RdmaHome::InFlight(uint32_t host, WireId id) {
  const ChunkSender* sender = by_index_.at(host).endpoint->Find(id);
  return sender == nullptr ? Bytes(0) : sender->in_flight();
}

// --- Time ---

bool RdmaHome::Step(Time until) {
  const Time at = now();
  bool moved = TurnAll();
  while (!heard_.empty()) {
    const Heard heard = heard_.front();
    heard_.pop_front();
    ++events_;
    on_completion(heard.host, heard.completion);
  }
  if (timer_ <= at) {
    timer_ = Time::Never();
    ++events_;
    moved = true;
    on_timer();
  }
  if (!moved) std::this_thread::yield();
  return at < until;
}

void RdmaHome::RunUntil(Time until) {
  while (Step(until)) {
  }
}

// --- Looking back ---

Counters RdmaHome::TotalCounters() {
  Counters total;
  for (const auto& [index, host] : by_index_) {
    const ChunkCounters& c = host.endpoint->counters();
    total += Counters{.data_packets_sent = c.chunks_sent,
                      .data_bytes_sent = c.bytes_sent,
                      .probes_sent = c.probes_sent,
                      .acks_received = c.chunks_done,
                      .rtt_rejected = c.rtt_rejected,
                      .data_packets_received = c.chunks_received,
                      .data_bytes_received = c.bytes_received,
                      .clock_steps_back = c.clock_steps_back};
  }
  return total;
}

void RdmaHome::StartWatching() {
  watch_begin_ = turned_ = now();
  gap_max_ = busy_ = Duration(0);
}

std::optional<RealTimeStats> RdmaHome::real_time() const {
  const Duration all = now() - watch_begin_;
  return RealTimeStats{.time_scale = config_.time_scale,
                       .host_threads = 1,
                       .host_gap_max = gap_max_,
                       .host_busy = all > Duration(0) ? Ratio(busy_, all) : 0,
                       .seconds = static_cast<double>(all.count()) * 1e-9 / config_.time_scale};
}

}  // namespace weir
