#include "nic_drivers/verbs/device.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_format.h"
#include "nic_drivers/address.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/verbs/causes.h"
#include "nic_drivers/verbs/device_facts.h"
#include "nic_drivers/verbs/driver.h"
#include "nic_drivers/verbs/listing.h"
#include "nic_drivers/verbs/reliable_device.h"

namespace weir {
namespace {

constexpr uint32_t kTxBuffers = 512;   // a queue
constexpr uint32_t kRxBuffers = 1024;  // a queue
constexpr uint32_t kInlineBytes = 128;
// Those with the highest bit are for privileged users.
constexpr uint32_t kKeyMask = 0x7FFFFFFF;

}  // namespace

const DriverEntry kVerbsDriver = {
    .name = "verbs",
    .summary = "any RDMA device that speaks RoCE v2: verbs:rxe0, verbs:mlx5_0,port=1,gid=3,paths=8",
    .open = VerbsDevice::Open,
    .list = ListVerbsDevices,
    .has_address = true,
    .open_chunks = ReliableDevice::Open,
};

absl::StatusOr<std::unique_ptr<NicDevice>> VerbsDevice::Open(const DeviceOptions& options) {
  absl::StatusOr<OpenedVerbs> opened = OpenedVerbs::Open(options);
  if (!opened.ok()) return opened.status();
  std::unique_ptr<VerbsDevice> device(new VerbsDevice(options, *std::move(opened)));
  if (absl::Status status = device->Set(); !status.ok()) return status;
  return device;
}

absl::Status VerbsDevice::Set() {
  address_ = opened_.address;
  // In the frames' own Ethernet headers, which no switch sees.
  address_.mac = MadeUpMac(address_);
  if (absl::Status status = ChooseMtu(); !status.ok()) return status;
  return MakePorts();
}

absl::Status VerbsDevice::ChooseMtu() {
  const uint32_t most = MtuBytes(opened_.port.active_mtu) - kEthernetBytes;
  if (options_.mtu > most) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: an MTU of %d bytes is more than the %d that its path MTU of %d leaves; raise that of "
        "its network interface (ip link set <interface> mtu 4200; a path MTU is at most %d)",
        options_.device, options_.mtu, most, MtuBytes(opened_.port.active_mtu),
        MtuBytes(opened_.port.max_mtu)));
  }
  caps_.mtu = options_.mtu > 0 ? options_.mtu : most;
  caps_.signals = kVerbsSignals;
  caps_.line_rate = options_.line_rate.count() > 0 ? options_.line_rate : PortRate(opened_.port);
  return absl::OkStatus();
}

uint32_t VerbsDevice::QueuesMax() const {
  return std::min(kWorkersMax, std::max(1u, kVerbsQueuePairsMax / opened_.name.paths));
}

absl::Status VerbsDevice::MakePorts() {
  const uint32_t queues = std::clamp(options_.queues, 1u, QueuesMax());
  if (queues < options_.queues) {
    warnings_.push_back(absl::StrFormat(
        "%d queues instead of %d: with %d paths each there is no more room; ask for fewer paths",
        queues, options_.queues, opened_.name.paths));
  }
  absl::StatusOr<BufferPool> zeros = BufferPool::Create(1, caps_.mtu);
  if (!zeros.ok()) return zeros.status();
  zeros_ = *std::move(zeros);
  zeros_memory_.reset(ibv_reg_mr(opened_.domain.get(), zeros_.base(), zeros_.bytes(), 0));
  if (zeros_memory_ == nullptr) {
    return VerbsError(opened_.context.get(), "no memory can be registered");
  }
  memory_ = std::make_unique<RegisteredMemory>(opened_.domain.get(), queues);
  peers_ =
      std::make_unique<PeerTable>(Peer::Local{.domain = opened_.domain.get(),
                                              .port = opened_.name.port,
                                              .gid_index = static_cast<uint8_t>(opened_.gid.index),
                                              .paths = opened_.name.paths});
  // Another each time, so that frames for the process before are not taken.
  const uint32_t key = std::random_device{}() & kKeyMask;
  for (uint32_t queue = 0; queue < queues; ++queue) {
    absl::StatusOr<std::unique_ptr<VerbsPort>> port = MakePort(queue, key);
    if (!port.ok()) return port.status();
    ports_.push_back(*std::move(port));
  }
  return StartExchange(key);
}

absl::StatusOr<std::unique_ptr<VerbsPort>> VerbsDevice::MakePort(uint32_t queue, uint32_t key) {
  const uint32_t frame = kEthernetBytes + caps_.mtu;
  VerbsPort::Config config{.queue = queue, .self = address_, .caps = caps_};
  config.in_place = options_.offloads;
  absl::StatusOr<BufferPool> tx =
      BufferPool::Create(kTxBuffers, std::max<uint32_t>(frame, kFrameHeaderRoom));
  absl::StatusOr<BufferPool> rx = BufferPool::Create(kRxBuffers, kGrhBytes + frame);
  if (!tx.ok()) return tx.status();
  if (!rx.ok()) return rx.status();
  config.tx = *std::move(tx);
  config.rx = *std::move(rx);
  config.tx_memory.reset(ibv_reg_mr(opened_.domain.get(), config.tx.base(), config.tx.bytes(), 0));
  const int writable = IBV_ACCESS_LOCAL_WRITE;
  config.rx_memory.reset(
      ibv_reg_mr(opened_.domain.get(), config.rx.base(), config.rx.bytes(), writable));
  if (config.tx_memory == nullptr || config.rx_memory == nullptr) {
    return VerbsError(opened_.context.get(), "no memory can be registered");
  }
  absl::StatusOr<QueuePairs> pairs =
      QueuePairs::Create({.device = opened_.context.get(),
                          .domain = opened_.domain.get(),
                          .port = opened_.name.port,
                          .key = key,
                          .paths = opened_.name.paths,
                          .sends = kTxBuffers,
                          .receives = kRxBuffers,
                          .inline_bytes = options_.offloads ? kInlineBytes : 0});
  if (!pairs.ok()) return pairs.status();
  config.pairs = *std::move(pairs);
  config.zeros = zeros_memory_.get();
  config.memory = memory_.get();
  config.peers = peers_.get();
  config.gone = &gone_;
  return std::make_unique<VerbsPort>(std::move(config), clock_);
}

absl::Status VerbsDevice::StartExchange(uint32_t key) {
  PeerExchange::Config config{.peers = peers_.get(), .device = opened_.context.get()};
  config.own = {.address = address_, .gid = opened_.gid.gid, .key = key, .queues = queues()};
  for (const auto& port : ports_) {
    for (const uint32_t pair : port->pairs()) config.own.pairs.push_back(pair);
  }
  config.on_event = [this](int event) { OnEvent(event); };
  absl::StatusOr<std::unique_ptr<PeerExchange>> exchange = PeerExchange::Start(std::move(config));
  if (!exchange.ok()) return exchange.status();
  exchange_ = *std::move(exchange);
  for (const auto& port : ports_) {
    if (absl::Status status = port->Begin(exchange_.get()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void VerbsDevice::OnEvent(int event) {
  if (EventEndsDevice(event)) gone_ = true;
  const std::lock_guard lock(event_mutex_);
  last_event_ = EventCause(event);
}

bool VerbsDevice::link_up() const {
  ibv_port_attr port{};
  return !gone() && ibv_query_port(opened_.context.get(), opened_.name.port, &port) == 0 &&
         port.state == IBV_PORT_ACTIVE;
}

absl::Status VerbsDevice::SetLink(bool /*up*/) {
  return absl::UnimplementedError(
      "the link of an RDMA device is that of its network interface: ip link set <interface> up");
}

absl::Status VerbsDevice::Resolve(NetAddress& remote) { return exchange_->Find(remote); }

absl::Status VerbsDevice::RegisterMemory(std::byte* base, size_t size) {
  return memory_->Add(base, size);
}

absl::Status VerbsDevice::UnregisterMemory(std::byte* base) { return memory_->Remove(base); }

}  // namespace weir
