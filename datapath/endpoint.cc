#include "datapath/endpoint.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "datapath/binding_check.h"

namespace weir {
namespace {

constexpr uint32_t kPayloadMax = 9000;

uint32_t RoundUpToPowerOfTwo(uint32_t n) {
  uint32_t power = 1;
  while (power < n) power *= 2;
  return power;
}

absl::Status CheckConfig(const EndpointConfig& config) {
  if (config.line_rate <= Rate(0) || config.base_rtt <= Duration(0)) {
    return absl::InvalidArgumentError("endpoint: line_rate and base_rtt must be above zero");
  }
  if (config.payload_max < kPayloadMin || config.payload_max > kPayloadMax) {
    return absl::InvalidArgumentError(
        absl::StrFormat("endpoint: payload_max is %d, allowed is %d to %d", config.payload_max,
                        kPayloadMin, kPayloadMax));
  }
  if (config.connections_max == 0 || config.connections_max > WireId::kSlots) {
    return absl::InvalidArgumentError(
        absl::StrFormat("endpoint: connections_max is %d, allowed is 1 to %d",
                        config.connections_max, WireId::kSlots));
  }
  if (config.worker >= kWorkersMax) {
    return absl::InvalidArgumentError(absl::StrFormat("endpoint: worker is %d, allowed is 0 to %d",
                                                      config.worker, kWorkersMax - 1));
  }
  if (config.credit != nullptr && config.binding != nullptr &&
      config.binding->cc->receiver_half != nullptr &&
      config.binding->cc->receiver_half->id != config.credit->id) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "endpoint: %s needs the receiver half \"%s\", but credit names \"%s\"",
        config.binding->cc->name, config.binding->cc->receiver_half->name, config.credit->name));
  }
  if (config.listen && (config.binding == nullptr || config.binding->cc == nullptr ||
                        config.binding->lb == nullptr)) {
    return absl::InvalidArgumentError(
        "endpoint: to listen it needs a binding (algorithm and policy) for accepted connections");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Create(const EndpointConfig& config,
                                                           Pool<TxPage>* pages) {
  if (absl::Status status = CheckConfig(config); !status.ok()) return status;
  return std::unique_ptr<Endpoint>(new Endpoint(config, pages));
}

Endpoint::Endpoint(const EndpointConfig& config, Pool<TxPage>* pages)
    : config_(config),
      shared_(config.tx_messages_max, config.rx_messages_max, config.completions_max),
      own_pages_(pages == nullptr ? std::make_unique<Pool<TxPage>>(config.tx_pages_max) : nullptr),
      pages_(pages == nullptr ? own_pages_.get() : pages),
      by_peer_(RoundUpToPowerOfTwo(config.connections_max), kNil),
      wheel_(2 * config.connections_max + 1),
      port_(config.line_rate),
      full_packet_(Bytes(config.payload_max + DataOverhead(config.address.v6)) / config.line_rate),
      notices_(kNotices),
      replies_(kReplies) {
  shared_.regions.resize(config.regions_max);
  for (uint32_t i = 0; i < config.connections_max; ++i) connections_.emplace_back(shared_, i);
  free_.reserve(config.connections_max);
  for (uint32_t i = config.connections_max; i > 0; --i) free_.push_back(i - 1);
  const Duration queue = config.max_queue > Duration(0) ? config.max_queue : config.base_rtt;
  if (config.ack_delay == Duration(0)) config_.ack_delay = config.base_rtt;
  if (config.rto_min == Duration(0)) {
    config_.rto_min = 2 * config.base_rtt + queue + config_.ack_delay;
  }
  if (config.credit != nullptr) {
    const uint32_t mtu = config.payload_max + DataOverhead(config.address.v6);
    scheduler_.reset(config.credit->create({.mtu = Bytes(mtu),
                                            .line_rate = config.line_rate,
                                            .base_rtt = config.base_rtt,
                                            .connections = config.connections_max,
                                            .seed = config.seed},
                                           config.credit_config));
  }
}

// --- Application ---

Connection* Endpoint::FindLive(WireId id) {
  const uint32_t index = id.slot();
  if (index >= connections_.size()) return nullptr;
  Connection& c = connections_[index];
  return c.live() && c.id == id ? &c : nullptr;
}

const Connection* Endpoint::Find(WireId id) const {
  return const_cast<Endpoint*>(this)->FindLive(id);
}

std::vector<WireId> Endpoint::Ids() const {
  std::vector<WireId> ids;
  for (const Connection& c : connections_) {
    if (c.live()) ids.push_back(c.id);
  }
  return ids;
}

const Connection* Endpoint::FindLast(WireId id) const {
  if (id.slot() >= connections_.size()) return nullptr;
  const Connection& c = connections_[id.slot()];
  return c.id == id ? &c : nullptr;
}

absl::StatusOr<Connection*> Endpoint::Live(WireId id) {
  Connection* c = FindLive(id);
  if (c != nullptr) return c;
  return absl::NotFoundError(
      absl::StrFormat("connection %#x does not exist or has ended; open a new one", id.value));
}

absl::StatusOr<WireId> Endpoint::Connect(Time now, const NetAddress& remote,
                                         const Binding& binding) {
  if (absl::Status status = CheckBinding("connect", binding, config_.signals); !status.ok())
    return status;
  Connection* c = Allocate(remote, binding);
  if (c == nullptr) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "connect: all %d connections are in use; raise connections_max", config_.connections_max));
  }
  c->active = true;
  c->state = ConnectionState::kOpening;
  c->nonce = Mix64(config_.seed ^ Mix64(++nonces_));
  c->full_size = config_.verify_payload;
  c->give_up_at = now + config_.open_timeout;
  Retry(now, *c);
  UpdateDeadline(now, *c);
  return c->id;
}

absl::Status Endpoint::Close(Time now, WireId id) {
  absl::StatusOr<Connection*> c = Live(id);
  if (!c.ok()) return c.status();
  if (!(*c)->established()) return Abort(now, id);
  if ((*c)->state != ConnectionState::kOpen) return absl::OkStatus();
  (*c)->state = ConnectionState::kDraining;
  AfterEvent(now, **c);
  return absl::OkStatus();
}

absl::Status Endpoint::Abort(Time now, WireId id) {
  now_ = std::max(now_, now);
  absl::StatusOr<Connection*> c = Live(id);
  if (!c.ok()) return c.status();
  if ((*c)->peer.value != 0) ReplyAbort((*c)->remote, (*c)->peer, kOurDecision);
  End(**c, Event::kFailed, Cause::kAborted);
  return absl::OkStatus();
}

absl::Status Endpoint::Rebind(Time now, WireId id, const Binding& binding) {
  absl::StatusOr<Connection*> c = Live(id);
  if (!c.ok()) return c.status();
  if (!(*c)->established()) {
    return absl::FailedPreconditionError(
        "rebind: the connection is not open yet; wait for kOpened");
  }
  if (absl::Status status = CheckBinding("rebind", binding, config_.signals); !status.ok())
    return status;
  const ReceiverDuty duty = binding.cc->duty(FlowOf(**c), binding.cc_config);
  if (duty.scheduler != (*c)->duty_asked.scheduler ||
      (duty.cnp_interval > Duration(0)) != ((*c)->duty_asked.cnp_interval > Duration(0))) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "rebind: %s asks the receiver for something that was not agreed when the connection "
        "opened; open a new connection for it",
        binding.cc->name));
  }
  (*c)->binding = &binding;
  (*c)->sender.Rebind(now, binding, RulesOf(**c), HealthOf(**c));
  AfterEvent(now, **c);
  return absl::OkStatus();
}

namespace {
absl::Status BothTargets(const char* what) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: what arrives is either placed in memory or taken in place; give one of the two", what));
}
}  // namespace

absl::StatusOr<uint32_t> Endpoint::RegisterRegion(const RxTarget& to, uint64_t size) {
  if (to.both()) return BothTargets("register");
  for (uint32_t i = 0; i < shared_.regions.size(); ++i) {
    if (shared_.regions[i].open) continue;
    shared_.regions[i] = {.to = to, .size = size, .open = true};
    return i;
  }
  return absl::ResourceExhaustedError(absl::StrFormat(
      "register: all %d regions are in use; close one or raise regions_max", config_.regions_max));
}

absl::Status Endpoint::CloseRegion(uint32_t region) {
  if (region >= shared_.regions.size() || !shared_.regions[region].open) {
    return absl::NotFoundError(absl::StrFormat("region %d is not registered", region));
  }
  shared_.regions[region] = Region{};
  return absl::OkStatus();
}

namespace {
absl::Status NoRoom() {
  return absl::ResourceExhaustedError(
      "no room for another message or completion; poll completions or raise tx_messages_max, "
      "rx_messages_max or completions_max");
}
absl::Status CheckPostable(const Connection& c, uint32_t length) {
  if (c.state != ConnectionState::kOpen) {
    return absl::FailedPreconditionError("the connection is not open (yet, or any more)");
  }
  if (length > kMessageMax) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a message has at most %d bytes; split it into several", kMessageMax));
  }
  return absl::OkStatus();
}
}  // namespace

template <class Request>
absl::Status Endpoint::PostMessage(Time now, WireId id, const Request& request) {
  absl::StatusOr<Connection*> c = Live(id);
  if (!c.ok()) return c.status();
  if (absl::Status s = CheckPostable(**c, request.length); !s.ok()) return s;
  if (!(*c)->sender.Post(now, request)) return NoRoom();
  AfterEvent(now, **c);
  return absl::OkStatus();
}

absl::Status Endpoint::PostSend(Time now, WireId id, const SendRequest& request) {
  return PostMessage(now, id, request);
}

absl::Status Endpoint::PostWrite(Time now, WireId id, const WriteRequest& request) {
  return PostMessage(now, id, request);
}

absl::Status Endpoint::PostReceive(Time now, WireId id, const ReceiveRequest& request) {
  absl::StatusOr<Connection*> c = Live(id);
  if (!c.ok()) return c.status();
  if (RxTarget{request.data, request.in_place}.both()) return BothTargets("receive");
  if (!(*c)->receiver.Post(request)) return NoRoom();
  if ((*c)->established()) AfterEvent(now, **c);
  return absl::OkStatus();
}

}  // namespace weir
