#include "nic_drivers/verbs/reliable_device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/verbs/causes.h"
#include "nic_drivers/verbs/device_facts.h"

namespace weir {
namespace {

constexpr uint32_t kLinks = 16;
constexpr uint32_t kSends = 64;
constexpr uint32_t kReceives = 2048;
constexpr uint32_t kInlineBytes = 64;
constexpr size_t kZeroBytes = 1 << 20;
// Of a packet of a write, on the wire: Ethernet and its checksum, UDP, the transport's header and
// its checksum; and the IP header.
constexpr uint32_t kHeaderBytes = 14 + 4 + 8 + 12 + 4;

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkDevice>> ReliableDevice::Open(const DeviceOptions& options) {
  absl::StatusOr<OpenedVerbs> opened = OpenedVerbs::Open(options);
  if (!opened.ok()) return opened.status();
  std::unique_ptr<ReliableDevice> device(new ReliableDevice(options, *std::move(opened)));
  if (absl::Status status = device->Set(); !status.ok()) return status;
  return device;
}

// As many as the device has room for, at most kLinks.
uint32_t ReliableDevice::LinksMax() const {
  const auto pairs = static_cast<uint32_t>(std::max(1, opened_.attributes.max_qp / 2));
  const auto entries = static_cast<uint32_t>(std::max(1, opened_.attributes.max_cqe));
  const uint32_t by_entries = entries > receives_ ? (entries - receives_) / sends_ : 1;
  return std::clamp(std::min(pairs, by_entries) / opened_.name.paths, 1u, kLinks);
}

absl::Status ReliableDevice::Set() {
  sends_ = std::min(kSends, static_cast<uint32_t>(std::max(1, opened_.attributes.max_qp_wr)));
  receives_ =
      std::min(kReceives, static_cast<uint32_t>(std::max(1, opened_.attributes.max_srq_wr)));
  if (absl::Status status = MakeQueues(); !status.ok()) return status;
  if (absl::Status status = MakeZeros(); !status.ok()) return status;
  memory_ = std::make_unique<RegisteredMemory>(opened_.domain.get(), 1);
  const uint32_t parts =
      std::min(kZeroParts, static_cast<uint32_t>(std::max(1, opened_.attributes.max_sge)));
  const auto mtu = static_cast<uint8_t>(opened_.port.active_mtu);
  absl::StatusOr<std::unique_ptr<ReliableLinks>> links =
      ReliableLinks::Start({.pairs = {.domain = opened_.domain.get(),
                                      .completions = completions_.get(),
                                      .arrivals = arrivals_.get(),
                                      .port = opened_.name.port,
                                      .gid_index = static_cast<uint8_t>(opened_.gid.index),
                                      .sends = sends_,
                                      .parts = parts,
                                      .inline_bytes = options_.offloads ? kInlineBytes : 0},
                            .address = opened_.address,
                            .gid = opened_.gid.gid,
                            .mtu = mtu,
                            .links_max = LinksMax(),
                            .paths_max = opened_.name.paths,
                            .device = opened_.context.get(),
                            .on_event = [this](int event) { OnEvent(event); }});
  if (!links.ok()) return links.status();
  links_ = *std::move(links);
  const Rate rate = options_.line_rate.count() > 0 ? options_.line_rate : PortRate(opened_.port);
  port_ = std::make_unique<ReliablePort>(
      ReliablePort::Config{
          .caps = {.line_rate = rate,
                   .signals = Signal::kRtt,
                   .packet_payload = MtuBytes(opened_.port.active_mtu),
                   .packet_overhead = kHeaderBytes + IpBytes(opened_.address.v6),
                   .chunk_max =
                       std::min(opened_.port.max_msg_sz, parts * static_cast<uint32_t>(kZeroBytes)),
                   .links_max = LinksMax(),
                   .paths_max = opened_.name.paths},
          .completions = completions_.get(),
          .arrivals = arrivals_.get(),
          .receives = receives_,
          .sends = sends_,
          .zeros = zeros_memory_.get(),
          .memory = memory_.get(),
          .links = links_.get(),
          .gone = &gone_},
      MonotonicClock(options_.time_scale));
  return port_->Begin();
}

absl::Status ReliableDevice::MakeQueues() {
  const uint32_t entries = LinksMax() * opened_.name.paths * sends_ + receives_;
  completions_.reset(
      ibv_create_cq(opened_.context.get(), static_cast<int>(entries), nullptr, nullptr, 0));
  if (completions_ == nullptr) {
    return VerbsError(opened_.context.get(), "no completion queue can be had");
  }
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = receives_;
  attributes.attr.max_sge = 1;
  arrivals_.reset(ibv_create_srq(opened_.domain.get(), &attributes));
  if (arrivals_ != nullptr) return absl::OkStatus();
  return VerbsError(opened_.context.get(), "no shared queue of receives can be had");
}

absl::Status ReliableDevice::MakeZeros() {
  absl::StatusOr<BufferPool> zeros = BufferPool::Create(1, kZeroBytes);
  if (!zeros.ok()) return zeros.status();
  zeros_ = *std::move(zeros);
  zeros_memory_.reset(ibv_reg_mr(opened_.domain.get(), zeros_.base(), kZeroBytes, 0));
  if (zeros_memory_ != nullptr) return absl::OkStatus();
  return VerbsError(opened_.context.get(), "no memory can be registered");
}

absl::Status ReliableDevice::RegisterMemory(std::byte* base, size_t size) {
  return memory_->Add(base, size);
}

absl::StatusOr<uint32_t> ReliableDevice::RegisterRegion(std::byte* base, size_t size) {
  if (base == nullptr || size == 0) {
    return absl::InvalidArgumentError("a region has an address and a size above 0");
  }
  VerbsMr registration(ibv_reg_mr(opened_.domain.get(), base, size,
                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
  if (registration == nullptr) {
    return VerbsError(opened_.context.get(), "a region for peers cannot be registered");
  }
  const absl::StatusOr<uint32_t> region = links_->AddRegion(
      {.base = reinterpret_cast<uint64_t>(base), .size = size, .key = registration->rkey});
  if (region.ok()) regions_.push_back(std::move(registration));
  return region;
}

std::vector<std::string> ReliableDevice::features() const {
  std::vector<std::string> out;
  out.push_back("driver: " + RdmaKernelDriver(opened_.name.device));
  out.push_back(absl::StrFormat("paths: up to %d RC queue pairs a connection, %d connections",
                                opened_.name.paths, LinksMax()));
  out.push_back(absl::StrFormat("path MTU: %d bytes", MtuBytes(opened_.port.active_mtu)));
  out.push_back(absl::StrFormat("GID: index %d of port %d", opened_.gid.index, opened_.name.port));
  out.push_back(absl::StrFormat("inline: up to %d bytes", links_->inline_bytes()));
  out.push_back("completions: the time of the poll");
  if (port_->failure() != 0) {
    out.push_back("latest chunk that failed: " + CompletionCause(port_->failure()));
  }
  const std::lock_guard lock(event_mutex_);
  if (!last_event_.empty()) out.push_back("latest event: " + last_event_);
  return out;
}

void ReliableDevice::OnEvent(int event) {
  if (EventEndsDevice(event)) gone_ = true;
  const std::lock_guard lock(event_mutex_);
  last_event_ = EventCause(event);
}

}  // namespace weir
