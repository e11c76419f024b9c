#include "nic_drivers/host/context.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/host/binding_text.h"
#include "nic_drivers/host/engine.h"
#include "nic_drivers/registry.h"
#include "nic_drivers/resolve.h"

namespace weir {
namespace {

using std::chrono::steady_clock;

constexpr uint32_t kAbortsAtOnce = 32;  // fewer than an endpoint has room for

ConnectionInfo InfoOf(const Connection& c) {
  ConnectionInfo info{.id = c.id,
                      .state = c.state,
                      .remote = IpText(c.remote),
                      .algorithm = c.binding->cc->name,
                      .policy = c.binding->lb->name,
                      .payload_max = c.payload_max,
                      .telemetry = c.in_band == InBand::kTelemetry,
                      .payload_crc = c.payload_crc};
  if (!c.sender.opened()) return info;
  info.smoothed_rtt = c.sender.rtt().smoothed();
  info.min_rtt = c.sender.rtt().min();
  info.in_flight = c.sender.in_flight();
  info.allowance = c.sender.allowance();
  info.sent = c.sender.stats();
  return info;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Context>> Context::Open(const ContextOptions& options) {
  absl::StatusOr<std::unique_ptr<NicDevice>> device = [&] {
    DeviceOptions asked = options.device;
    asked.queues = options.workers;
    return OpenDevice(asked);
  }();
  if (!device.ok()) return device.status();
  return Open(options, *std::move(device));
}

absl::StatusOr<std::unique_ptr<Context>> Context::Open(const ContextOptions& options,
                                                       std::unique_ptr<NicDevice> device) {
  if (options.workers == 0 || options.workers > kWorkersMax) {
    return absl::InvalidArgumentError(absl::StrFormat("context: workers is %d, allowed is 1 to %d",
                                                      options.workers, kWorkersMax));
  }
  std::unique_ptr<Context> context(new Context(options, std::move(device)));
  if (absl::Status status = context->Start(); !status.ok()) return status;
  return context;
}

Context::Context(const ContextOptions& options, std::unique_ptr<NicDevice> device)
    : options_(options), device_(std::move(device)) {
  if (options_.binding.cc == nullptr) options_.binding = DefaultBinding();
  if (options_.payload > 0) return;
  const InBand in_band = options.telemetry ? InBand::kTelemetry : InBand::kNone;
  const uint32_t headers =
      DataOverhead(device_->address().v6, in_band) - kEthernetBytes - kFcsBytes;
  const uint32_t mtu = device_->caps().mtu;
  options_.payload = CommonPayload(mtu > headers ? mtu - headers : 0);
}

Context::~Context() {
  if (engine_ == nullptr) return;
  for (Channel* channel : channels_) {
    // Between two calls there is a turn, which sends the aborts of the first.
    size_t live = 1;
    while (live > 0) {
      channel->Call([&live](Time now, Endpoint& endpoint) {
        const std::vector<WireId> ids = endpoint.Ids();
        live = ids.size();
        for (size_t i = 0; i < std::min<size_t>(live, kAbortsAtOnce); ++i) {
          (void)endpoint.Abort(now, ids[i]);
        }
      });
    }
  }
  engine_->Stop();
}

EndpointConfig Context::EndpointFor(uint32_t worker) const {
  const ContextOptions& o = options_;
  EndpointConfig c;
  c.address = device_->address();
  c.worker = worker;
  c.seed = static_cast<uint64_t>(steady_clock::now().time_since_epoch().count()) + worker;
  c.listen = o.listen;
  c.connections_max = o.connections_max;
  c.tx_messages_max = o.messages_max;
  c.rx_messages_max = o.messages_max;
  c.completions_max = 2 * o.messages_max + 2 * o.connections_max;
  c.regions_max = o.regions_max;
  c.tx_pages_max = std::max(2 * o.connections_max, 1024u);
  c.binding = &o.binding;
  c.credit = o.binding.cc->receiver_half;
  c.credit_config = o.binding.cc_config;
  c.line_rate = device_->caps().line_rate;
  c.base_rtt = o.base_rtt;
  c.max_queue = o.max_queue;
  c.trimming = o.trimming;
  c.signals = device_->caps().signals;
  if (o.trimming) c.signals = c.signals | Signal::kTrimNotice;
  if (o.telemetry) c.signals = c.signals | Signal::kTelemetry;
  c.payload_max = o.payload;
  c.verify_payload = true;
  c.payload_crc = o.payload_crc;
  c.rto_min = o.rto_min;
  c.open_timeout = o.open_timeout;
  c.patience = o.patience;
  c.keepalive = o.keepalive;
  return c;
}

absl::Status Context::Start() {
  EngineConfig config{.threads = std::min(options_.workers, device_->queues()),
                      .cores = options_.cores,
                      .idle_sleep = options_.idle_sleep,
                      // All that an endpoint has room for: sends or writes, and receives.
                      .ring = 2 * options_.messages_max};
  config.thread_begins = [this] { device_->EnterThread(); };
  config.thread_ends = [this] { device_->LeaveThread(); };
  absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::Create(config);
  if (!engine.ok()) return engine.status();
  engine_ = *std::move(engine);
  for (uint32_t worker = 0; worker < config.threads; ++worker) {
    absl::StatusOr<std::unique_ptr<Endpoint>> endpoint = Endpoint::Create(EndpointFor(worker));
    if (!endpoint.ok()) return endpoint.status();
    channels_.push_back(&engine_->Add(device_->queue(worker), *std::move(endpoint), worker));
  }
  return engine_->Start();
}

// --- Memory ---

absl::Status Context::RegisterMemory(void* base, size_t size) {
  return device_->RegisterMemory(static_cast<std::byte*>(base), size);
}

absl::Status Context::UnregisterMemory(void* base) {
  return device_->UnregisterMemory(static_cast<std::byte*>(base));
}

// At the same number on every endpoint, because all of them open and close the same ones.
absl::StatusOr<uint32_t> Context::OpenRegion(const RxTarget& to, uint64_t size) {
  absl::StatusOr<uint32_t> region = absl::InternalError("no worker");
  for (Channel* channel : channels_) {
    channel->Call([&](Time, Endpoint& endpoint) { region = endpoint.RegisterRegion(to, size); });
    if (!region.ok()) break;
  }
  return region;
}

absl::Status Context::CloseRegion(uint32_t region) {
  absl::Status status;
  for (Channel* channel : channels_) {
    channel->Call([&](Time, Endpoint& e) { status.Update(e.CloseRegion(region)); });
  }
  return status;
}

// --- Connections ---

Channel* Context::ChannelOf(WireId id) {
  return id.worker() < channels_.size() ? channels_[id.worker()] : nullptr;
}

absl::Status Context::OnEndpoint(WireId id, absl::FunctionRef<absl::Status(Time, Endpoint&)> work) {
  Channel* channel = ChannelOf(id);
  if (channel == nullptr) {
    return absl::NotFoundError(absl::StrFormat("connection %#x is none of this context", id.value));
  }
  absl::Status status;
  channel->Call([&](Time now, Endpoint& endpoint) { status = work(now, endpoint); });
  return status;
}

absl::StatusOr<WireId> Context::Connect(const std::string& remote, const Binding* binding) {
  absl::StatusOr<NetAddress> address = ParseIp(remote);
  if (!address.ok()) return address.status();
  const absl::Status resolved =
      ResolveWithin(*device_, *address, std::chrono::nanoseconds(options_.open_timeout.count()));
  if (!resolved.ok()) return resolved;
  const Binding& used = binding == nullptr ? options_.binding : Keep(*binding);
  Channel& channel = *channels_[next_worker_++ % channels_.size()];
  absl::StatusOr<WireId> id = absl::InternalError("not called");
  channel.Call([&](Time now, Endpoint& endpoint) { id = endpoint.Connect(now, *address, used); });
  return id;
}

absl::Status Context::Close(WireId id) {
  return OnEndpoint(id, [id](Time now, Endpoint& e) { return e.Close(now, id); });
}

absl::Status Context::Abort(WireId id) {
  return OnEndpoint(id, [id](Time now, Endpoint& e) { return e.Abort(now, id); });
}

absl::Status Context::Rebind(WireId id, const Binding& binding) {
  const Binding& kept = Keep(binding);
  return OnEndpoint(id, [&](Time now, Endpoint& e) { return e.Rebind(now, id, kept); });
}

const Binding& Context::Keep(const Binding& binding) {
  const auto same = [&binding](const Binding& b) {
    return b.cc == binding.cc && b.lb == binding.lb && b.paths == binding.paths &&
           b.urgent == binding.urgent && b.traffic_class == binding.traffic_class &&
           std::memcmp(b.cc_config.data(), binding.cc_config.data(), ConfigBlob::kBytes) == 0 &&
           std::memcmp(b.lb_config.data(), binding.lb_config.data(), ConfigBlob::kBytes) == 0;
  };
  const auto found = std::find_if(bindings_.begin(), bindings_.end(), same);
  return found != bindings_.end() ? *found : bindings_.emplace_back(binding);
}

// --- Data ---

absl::Status Context::Post(WireId id, const Posting& posting) {
  Channel* channel = ChannelOf(id);
  if (channel == nullptr) {
    return absl::NotFoundError(absl::StrFormat("connection %#x is none of this context", id.value));
  }
  if (channel->Post(posting)) return absl::OkStatus();
  return absl::ResourceExhaustedError("the ring of postings is full; poll and try again");
}

absl::Status Context::PostSend(WireId id, const SendRequest& request) {
  return Post(id, Posting{.connection = id, .request = request});
}
absl::Status Context::PostWrite(WireId id, const WriteRequest& request) {
  return Post(id, Posting{.connection = id, .request = request});
}
absl::Status Context::PostReceive(WireId id, const ReceiveRequest& request) {
  return Post(id, Posting{.connection = id, .request = request});
}

size_t Context::Poll(std::span<Completion> out) {
  size_t n = 0;
  for (size_t i = 0; i < channels_.size() && n < out.size(); ++i) {
    n += channels_[(next_poll_ + i) % channels_.size()]->PollCompletions(out.subspan(n));
  }
  next_poll_ = static_cast<uint32_t>((next_poll_ + 1) % channels_.size());
  return n;
}

// --- Looking in ---

Counters Context::counters() {
  Counters sum;
  for (Channel* channel : channels_) {
    channel->Call([&](Time, Endpoint& endpoint) { sum += endpoint.counters(); });
  }
  return sum;
}

PollStats Context::poll_stats(uint32_t worker) const { return engine_->stats(worker); }

absl::StatusOr<ConnectionInfo> Context::Describe(WireId id) {
  ConnectionInfo info;
  const absl::Status status = OnEndpoint(id, [&](Time, Endpoint& endpoint) {
    const Connection* c = endpoint.FindLast(id);
    if (c == nullptr) {
      return absl::NotFoundError(
          absl::StrFormat("connection %#x never was, or another has its place", id.value));
    }
    info = InfoOf(*c);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return info;
}

std::vector<ConnectionInfo> Context::Connections() {
  std::vector<ConnectionInfo> all;
  for (Channel* channel : channels_) {
    channel->Call([&](Time, Endpoint& endpoint) {
      for (const WireId id : endpoint.Ids()) all.push_back(InfoOf(*endpoint.Find(id)));
    });
  }
  return all;
}

}  // namespace weir
