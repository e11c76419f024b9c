#include "testbed/nic/exchange_host.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "datapath/poll_loop.h"
#include "testbed/nic/pattern.h"

namespace weir {

ExchangeHost::ExchangeHost(NicDevice& device, const ExchangeOptions& options, bool asks)
    : device_(&device), options_(options), asks_(asks) {
  for (const PluginPair& p : options_.plugins)
    bindings_.push_back(BindingOf(p.cc.c_str(), p.lb.c_str()));
  for (uint32_t q = 0; q < device.queues(); ++q) {
    absl::StatusOr<std::unique_ptr<Endpoint>> endpoint = Endpoint::Create(ConfigOf(q));
    if (!endpoint.ok()) {
      Fail(std::string(endpoint.status().message()));
      return;
    }
    endpoints_.push_back(*std::move(endpoint));
  }
  const uint32_t payload = endpoints_.front()->config().payload_max;
  sizes_ = {0, 1, 100, payload - 1, payload, payload + 1, 10 * payload, options.large};
  for (const uint32_t size : sizes_) bytes_ += size;
  out_ = HugeMemory(bytes_);
  size_t at = 0;
  for (uint32_t i = 0; i < sizes_.size(); ++i) {
    for (uint32_t k = 0; k < sizes_[i]; ++k) out_.data()[at++] = PatternByte(i, asks_, k);
  }
  if (!options_.registered) return;
  if (absl::Status status = device.RegisterMemory(out_.data(), bytes_); !status.ok()) {
    Fail(std::string(status.message()));
  }
}

EndpointConfig ExchangeHost::ConfigOf(uint32_t queue) const {
  EndpointConfig config;
  config.address = device_->address();
  config.worker = queue;
  config.seed = queue + (asks_ ? 1 : 1001);
  config.binding = &bindings_.front();
  config.credit = config.binding->cc->receiver_half;
  config.credit_config = config.binding->cc_config;
  config.line_rate = device_->caps().line_rate;
  config.signals = device_->caps().signals;
  // Both hosts take turns on one core, and a device may be a program, too.
  config.base_rtt = Micros(200);
  config.rto_min = Millis(20);
  config.open_timeout = options_.open_timeout;
  config.retries_max = options_.retries_max;
  config.patience = options_.patience;
  config.verify_payload = true;
  const uint32_t headers = DataOverhead(config.address.v6) - kEthernetBytes - kFcsBytes;
  config.payload_max = CommonPayload(device_->caps().mtu - headers);
  return config;
}

void ExchangeHost::Connect(const NetAddress& peer) {
  peer_ = peer;
  wanted_ = std::min(wanted_ + 1, bindings_.size());
}

void ExchangeHost::TryConnect() {
  NetAddress peer = peer_;
  const absl::Status status = device_->Resolve(peer);
  if (absl::IsUnavailable(status)) return;
  if (!status.ok()) return Fail(std::string(status.message()));
  const auto queue = static_cast<uint32_t>(connected_ % endpoints_.size());
  Endpoint& endpoint = *endpoints_[queue];
  const auto id =
      endpoint.Connect(endpoint.Forward(device_->queue(queue).Now()), peer, bindings_[connected_]);
  if (!id.ok()) Fail(std::string(id.status().message()));
  ++connected_;
}

void ExchangeHost::ReplaceDevice(NicDevice* device) {
  device_ = device;
  if (device == nullptr || !options_.registered || draining_) return;
  if (absl::Status status = device->RegisterMemory(out_.data(), bytes_); !status.ok()) {
    Fail(std::string(status.message()));
  }
}

void ExchangeHost::Poll() {
  if (draining_) return PollDrain();
  if (device_ == nullptr) return;
  if (connected_ < wanted_ && problem_.empty()) TryConnect();
  for (uint32_t q = 0; q < endpoints_.size(); ++q) {
    Endpoint& endpoint = *endpoints_[q];
    PollOnce(device_->queue(q), endpoint);
    Completion completion;
    while (endpoint.PollCompletion(completion)) Handle(endpoint, completion);
  }
}

void ExchangeHost::PollDrain() {
  if (device_ == nullptr || device_->gone()) {
    drained_ = true;
    return;
  }
  if (!drained_) {
    drained_ = !options_.registered || !absl::IsUnavailable(device_->UnregisterMemory(out_.data()));
  }
  Frame frames[kBurst];
  for (uint32_t q = 0; q < device_->queues(); ++q) {
    NicPort& port = device_->queue(q);
    port.Release(std::span(frames, port.RxBurst(frames)));
  }
}

void ExchangeHost::Handle(Endpoint& endpoint, const Completion& c) {
  const Time now = c.at;
  if (c.event == Event::kOpened || c.event == Event::kAccepted) {
    lanes_.push_back(std::make_unique<Lane>());
    lanes_.back()->id = c.connection;
    return Begin(endpoint, now, *lanes_.back());
  }
  Lane* lane = Find(c.connection);
  if (c.event == Event::kFailed || lane == nullptr) {
    return Fail(absl::StrFormat("a connection failed: %s", Name(c.cause)));
  }
  switch (c.event) {
    case Event::kSent:
      ++lane->sent;
      break;
    case Event::kReceived:
      Check(*lane, c);
      ++lane->received;
      ++received_;
      break;
    case Event::kClosed:
      ++closed_;
      if (lane->received < sizes_.size()) Fail("a connection was closed too early");
      break;
    default:
      Fail(absl::StrFormat("a message was not sent: %s", Name(c.cause)));
  }
  const bool all = lane->received == sizes_.size() && lane->sent == sizes_.size();
  if (!asks_ || !all || lane->closing) return;
  lane->closing = true;
  (void)endpoint.Close(now, lane->id);
}

// Room for all that comes, and all that goes: both sides at once.
void ExchangeHost::Begin(Endpoint& endpoint, Time now, Lane& lane) {
  lane.in.resize(bytes_ + 1);
  std::byte* in = lane.in.data();
  const std::byte* out = out_.data();
  for (uint32_t i = 0; i < sizes_.size(); ++i) {
    absl::Status status =
        endpoint.PostReceive(now, lane.id, {.data = in, .capacity = sizes_[i], .cookie = i});
    const std::byte* data = options_.content ? out : nullptr;
    status.Update(endpoint.PostSend(now, lane.id, {.data = data, .length = sizes_[i]}));
    if (!status.ok()) Fail(std::string(status.message()));
    in += sizes_[i];
    out += sizes_[i];
  }
}

void ExchangeHost::Check(const Lane& lane, const Completion& c) {
  const auto i = static_cast<uint32_t>(c.cookie);
  if (c.bytes != sizes_[i]) {
    return Fail(absl::StrFormat("message %d has %d bytes, not the %d that were sent", i, c.bytes,
                                sizes_[i]));
  }
  size_t at = 0;
  for (uint32_t k = 0; k < i; ++k) at += sizes_[k];
  for (uint32_t k = 0; k < sizes_[i]; ++k) {
    const std::byte want = options_.content ? PatternByte(i, !asks_, k) : std::byte{0};
    if (lane.in[at + k] == want) continue;
    return Fail(absl::StrFormat("byte %d of message %d, of %d bytes, is not the one that was sent",
                                k, i, sizes_[i]));
  }
}

ExchangeHost::Lane* ExchangeHost::Find(WireId id) {
  const auto found =
      std::find_if(lanes_.begin(), lanes_.end(), [id](const auto& lane) { return lane->id == id; });
  return found == lanes_.end() ? nullptr : found->get();
}

Counters ExchangeHost::counters() const {
  Counters sum;
  for (const auto& endpoint : endpoints_) sum += endpoint->counters();
  return sum;
}

Duration ExchangeHost::rtt_min() const {
  for (const auto& lane : lanes_) {
    const Connection* c = endpoints_[lane->id.worker() % endpoints_.size()]->FindLast(lane->id);
    if (c == nullptr || !c->sender.opened()) continue;
    const RttEstimator& rtt = c->sender.rtt();
    return rtt.measured() ? rtt.min() : Duration(0);
  }
  return Duration(0);
}

ExchangeReport ExchangeHost::Report() const {
  return {.bytes = bytes_ * bindings_.size(),
          .counters = counters(),
          .rtt_min = rtt_min(),
          .progress = Progress()};
}

std::string ExchangeHost::Progress() const {
  const Counters c = counters();
  std::string out = absl::StrFormat(
      "%d connections, %d of %d messages received, %d packets sent, %d of them again, %d received, "
      "%d bad frames",
      lanes_.size(), received_, messages(), c.data_packets_sent, c.retransmitted_packets,
      c.data_packets_received, c.bad_frames + c.bad_checksums);
  if (device_ == nullptr) return out;
  const DeviceCounters d = device_->counters();
  return out + absl::StrFormat(
                   "; its device: link %s, %d frames sent, %d dropped, %d received, %d missed, %d "
                   "errors, %d buffers in use",
                   device_->link_up() ? "up" : "down", d.tx_packets, d.tx_dropped, d.rx_packets,
                   d.rx_missed, d.rx_errors, d.buffers_in_use);
}

}  // namespace weir
