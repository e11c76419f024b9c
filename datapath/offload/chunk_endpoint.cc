#include "datapath/offload/chunk_endpoint.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_format.h"
#include "datapath/api/rng.h"
#include "datapath/binding_check.h"

namespace weir {
namespace {

constexpr uint32_t kChunkMin = 1024;

uint8_t DscpOf(const Binding& binding) {
  return binding.urgent ? kDscpControl : static_cast<uint8_t>(kDscpData + binding.traffic_class);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkEndpoint>> ChunkEndpoint::Create(
    ChunkPort& port, const ChunkEndpointConfig& config) {
  const ChunkEndpointConfig& c = config;
  const bool has_rate = c.line_rate > Rate(0) || port.caps().line_rate > Rate(0);
  if (!has_rate || c.line_rate < Rate(0) || c.base_rtt <= Duration(0)) {
    return absl::InvalidArgumentError("RDMA mode: line_rate and base_rtt must be above zero");
  }
  if (c.chunk_bytes < kChunkMin || c.chunk_bytes > port.caps().chunk_max) {
    return absl::InvalidArgumentError(
        absl::StrFormat("RDMA mode: chunk_bytes is %d, allowed by the port is %d to %d",
                        c.chunk_bytes, kChunkMin, port.caps().chunk_max));
  }
  if (c.connections_max == 0 || c.connections_max > port.caps().links_max) {
    return absl::InvalidArgumentError(
        absl::StrFormat("RDMA mode: connections_max is %d, allowed by the port is 1 to %d",
                        c.connections_max, port.caps().links_max));
  }
  if (c.binding != nullptr) {
    const absl::Status status = CheckBinding("RDMA mode: listen", *c.binding, port.caps().signals);
    if (!status.ok()) return status;
  }
  return std::unique_ptr<ChunkEndpoint>(new ChunkEndpoint(port, c));
}

ChunkEndpoint::ChunkEndpoint(ChunkPort& port, const ChunkEndpointConfig& config)
    : port_(port),
      config_(config),
      state_(config.messages_max, config.chunks_max, config.completions_max),
      by_link_(port.caps().links_max, kNil) {
  state_.late_max = config.late_max;
  if (config_.line_rate > Rate(0)) line_.emplace(config_.line_rate);
  if (!line_.has_value()) config_.line_rate = port.caps().line_rate;
  for (uint32_t i = 0; i < config.connections_max; ++i) connections_.emplace_back(state_, i);
  free_.reserve(config.connections_max);
  live_.reserve(config.connections_max);
  for (uint32_t i = config.connections_max; i > 0; --i) free_.push_back(i - 1);
}

ChunkEndpoint::~ChunkEndpoint() {
  for (const uint32_t index : live_) port_.Close(connections_[index].link);
}

// --- Application ---

ChunkEndpoint::Conn* ChunkEndpoint::FindLive(WireId id) {
  if (id.slot() >= connections_.size()) return nullptr;
  Conn& c = connections_[id.slot()];
  return c.state != State::kFree && c.id == id ? &c : nullptr;
}

const ChunkSender* ChunkEndpoint::Find(WireId id) const {
  const Conn* c = const_cast<ChunkEndpoint*>(this)->FindLive(id);
  return c != nullptr && c->state != State::kOpening ? &c->sender : nullptr;
}

absl::StatusOr<ChunkEndpoint::Conn*> ChunkEndpoint::Live(WireId id) {
  Conn* c = FindLive(id);
  if (c != nullptr) return c;
  return absl::NotFoundError(
      absl::StrFormat("connection %#x does not exist or has ended; open a new one", id.value));
}

absl::StatusOr<WireId> ChunkEndpoint::Connect(Time now, const NetAddress& remote,
                                              const Binding& binding) {
  if (absl::Status status = CheckBinding("connect", binding, port_.caps().signals); !status.ok()) {
    return status;
  }
  if (free_.empty()) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "connect: all %d connections are in use; raise connections_max", config_.connections_max));
  }
  const absl::StatusOr<LinkId> link =
      port_.Open({.remote = remote, .paths = binding.paths, .dscp = DscpOf(binding)});
  if (!link.ok()) return link.status();
  Conn* c = Allocate(*link, binding);
  if (c == nullptr) {
    port_.Close(*link);
    return absl::ResourceExhaustedError(
        "connect: no room for its completions; poll them, or raise completions_max");
  }
  c->state = State::kOpening;
  c->give_up_at = now + config_.open_timeout;
  return c->id;
}

// nullptr: no slot is free, or no room for the completions of its beginning and its end.
ChunkEndpoint::Conn* ChunkEndpoint::Allocate(LinkId link, const Binding& binding) {
  if (free_.empty() || !state_.completions.Reserve()) return nullptr;
  if (!state_.completions.Reserve()) {
    state_.completions.Cancel();
    return nullptr;
  }
  Conn& c = connections_[free_.back()];
  free_.pop_back();
  live_.push_back(c.index);
  by_link_[link] = c.index;
  c.id = WireId::Of(++c.uses, 0, c.index);
  if (c.id == WireId{}) c.id = WireId::Of(++c.uses, 0, c.index);
  c.link = link;
  c.binding = &binding;
  c.last_sent = false;
  c.give_up_at = Time::Never();
  std::destroy_at(&c.sender);
  std::construct_at(&c.sender, state_);
  c.receiver = {};
  return &c;
}

absl::Status ChunkEndpoint::PostWrite(Time now, WireId id, const WriteRequest& request) {
  const absl::StatusOr<Conn*> c = Live(id);
  if (!c.ok()) return c.status();
  if ((*c)->state != State::kOpen) {
    return absl::FailedPreconditionError("write: the connection is not open (any more)");
  }
  const uint64_t size = port_.RegionSize((*c)->link, request.region);
  if (request.address > size || request.length > size - request.address) {
    return absl::InvalidArgumentError(
        absl::StrFormat("write: %d bytes at %d are not within the peer's region %d, which has %d",
                        request.length, request.address, request.region, size));
  }
  if (uint64_t{request.length} > uint64_t{config_.chunk_bytes} * kChunksMax) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "write: %d bytes are more than %d chunks of %d; raise chunk_bytes, or write less at once",
        request.length, kChunksMax, config_.chunk_bytes));
  }
  if (request.data != nullptr && request.length > 0 && !port_.Reads(request.data, request.length)) {
    return absl::InvalidArgumentError(
        "write: the device cannot read this memory; register it with the device first");
  }
  now_ = std::max(now_, now);
  if ((*c)->sender.Post(now_, request)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      "write: no room for another message; post fewer at once, or raise messages_max and "
      "completions_max");
}

absl::Status ChunkEndpoint::Close(Time now, WireId id) {
  const absl::StatusOr<Conn*> c = Live(id);
  if (!c.ok()) return c.status();
  if ((*c)->state == State::kOpening) {
    End(**c, Event::kClosed, Cause::kAborted);
  } else if ((*c)->state == State::kOpen) {
    (*c)->state = State::kDraining;
    if ((*c)->sender.idle()) StartEnding(now, **c, State::kClosing);
  }
  return absl::OkStatus();
}

absl::Status ChunkEndpoint::Abort(Time now, WireId id) {
  const absl::StatusOr<Conn*> c = Live(id);
  if (!c.ok()) return c.status();
  if ((*c)->state == State::kOpening) {
    End(**c, Event::kFailed, Cause::kAborted);
  } else if ((*c)->sends()) {
    (*c)->sender.DropUnsent();
    StartEnding(now, **c, State::kAborting);
  }
  return absl::OkStatus();
}

absl::Status ChunkEndpoint::Rebind(Time now, WireId id, const Binding& binding) {
  if (absl::Status status = CheckBinding("rebind", binding, port_.caps().signals); !status.ok()) {
    return status;
  }
  const absl::StatusOr<Conn*> c = Live(id);
  if (!c.ok()) return c.status();
  if (!(*c)->sends()) return absl::FailedPreconditionError("rebind: the connection is not open");
  (*c)->binding = &binding;
  now_ = std::max(now_, now);
  (*c)->sender.Rebind(now_, binding);
  return absl::OkStatus();
}

// --- Life ---

FlowInfo ChunkEndpoint::FlowOf(const Conn& c) const {
  const Bytes chunk = port_.caps().SizeOnWire(config_.chunk_bytes);
  return {.mtu = chunk,
          .line_rate = config_.line_rate,
          .base_rtt = config_.base_rtt + chunk / config_.line_rate,
          .max_queue = config_.max_queue,
          .seed = Mix64(config_.seed ^ (uint64_t{c.id.value} << 20))};
}

void ChunkEndpoint::Establish(Time now, Conn& c, uint32_t paths) {
  c.state = State::kOpen;
  c.give_up_at = Time::Never();
  c.sender.Open(now, {.id = c.id,
                      .link = c.link,
                      .binding = c.binding,
                      .paths = std::max(1u, paths),
                      .chunk_bytes = config_.chunk_bytes,
                      .flow = FlowOf(c),
                      .caps = &port_.caps(),
                      .patience = config_.patience});
}

void ChunkEndpoint::StartEnding(Time now, Conn& c, State state) {
  c.state = state;
  c.give_up_at = now + config_.open_timeout;
}

// The last goes when all else is done, so that the peer has everything before it.
void ChunkEndpoint::ContinueEnding(Time now, Conn& c) {
  if (c.state == State::kDraining && c.sender.idle()) StartEnding(now, c, State::kClosing);
  if (!c.ending() || c.last_sent || c.sender.in_flight() > Bytes(0)) return;
  c.last_sent = c.sender.SendLast(
      now, port_, c.state == State::kClosing ? ChunkWord::kClose : ChunkWord::kAbort);
}

void ChunkEndpoint::End(Conn& c, Event event, Cause cause) {
  if (c.state == State::kOpening) {
    state_.completions.Cancel();  // of its beginning
  } else {
    c.sender.Release();
  }
  state_.completions.Push({.event = event, .cause = cause, .connection = c.id});
  port_.Close(c.link);
  by_link_[c.link] = kNil;
  c.state = State::kFree;
  live_.erase(std::find(live_.begin(), live_.end(), c.index));
  free_.push_back(c.index);
}

}  // namespace weir
