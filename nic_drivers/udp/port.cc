#include "nic_drivers/udp/port.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "datapath/wire_codec.h"
#include "nic_drivers/counting.h"
#include "nic_drivers/socket_address.h"

namespace weir {

UdpPort::UdpPort(Config config, const MonotonicClock& clock)
    : config_(std::move(config)),
      clock_(clock),
      header_(kEthernetBytes + IpBytes(config_.self.v6) + kUdpBytes),
      zeros_(config_.caps.mtu),
      polled_(clock_.Now()) {}

void UdpPort::CountBuffers() {
  const uint32_t lent =
      config_.tx.count() - config_.tx.free() + config_.rx.count() - config_.rx.free();
  counters_.buffers.store(lent, std::memory_order_relaxed);
}

// --- in ---

size_t UdpPort::RxBurst(std::span<Frame> out) {
  const Time now = clock_.Now();
  gap_ = now - polled_;
  polled_ = now;
  size_t filled = Receive(config_.listeners.front(), out);
  const size_t listeners = config_.listeners.size();
  if (listeners > 1 && ++polls_ % kOthersEvery == 0 && filled < out.size()) {
    filled += Receive(config_.listeners[next_other_], out.subspan(filled));
    next_other_ = next_other_ + 1 < listeners ? next_other_ + 1 : 1;
  }
  CountBuffers();
  return filled;
}

size_t UdpPort::Receive(Listener& listener, std::span<Frame> out) {
  const size_t want = std::min({out.size(), kBurst, size_t{config_.rx.free()}});
  if (want == 0) return 0;
  std::array<uint32_t, kBurst> buffers;
  for (size_t i = 0; i < want; ++i) {
    buffers[i] = config_.rx.Take();
    parts_[i][0] = {.iov_base = config_.rx.at(buffers[i]) + header_,
                    .iov_len = config_.caps.mtu + kEthernetBytes - header_};
    messages_[i].msg_hdr = {.msg_name = &addresses_[i],
                            .msg_namelen = sizeof addresses_[i],
                            .msg_iov = parts_[i].data(),
                            .msg_iovlen = 1,
                            .msg_control = controls_[i].data(),
                            .msg_controllen = kControlBytes,
                            .msg_flags = 0};
  }
  const int got = recvmmsg(listener.socket.fd(), messages_.data(), static_cast<unsigned>(want),
                           MSG_DONTWAIT, nullptr);
  size_t filled = 0;
  for (size_t i = 0; i < want; ++i) {
    const bool came = static_cast<int>(i) < got;
    std::byte* frame = config_.rx.at(buffers[i]);
    if (came) out[filled] = {.data = frame, .owner = frame};
    if (came && Take(listener, messages_[i].msg_hdr, messages_[i].msg_len, out[filled])) {
      ++filled;
    } else {
      config_.rx.Give(buffers[i]);
    }
  }
  return filled;
}

bool UdpPort::Take(Listener& listener, const msghdr& message, uint32_t size, Frame& out) {
  NetAddress from;
  uint16_t from_port = 0;
  const bool whole = (message.msg_flags & MSG_TRUNC) == 0;
  if (!whole ||
      !FromSocketAddress(*static_cast<const sockaddr*>(message.msg_name), from, from_port)) {
    Add(counters_.rx_errors, 1);
    return false;
  }
  uint8_t tos = 0;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr;
       c = CMSG_NXTHDR(const_cast<msghdr*>(&message), c)) {
    const bool of_class = (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) ||
                          (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS);
    if (of_class) tos = static_cast<uint8_t>(*CMSG_DATA(c));
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
      uint32_t missed = 0;
      std::memcpy(&missed, CMSG_DATA(c), sizeof missed);
      Add(counters_.rx_missed, missed - listener.missed);
      listener.missed = missed;
    }
  }
  FrameWriter::WriteArrived(from, from_port, config_.self, listener.port, tos, size, out.data);
  out.size = header_ + size;
  out.rx_time = polled_;
  out.rx_gap = gap_;
  Add(counters_.rx_packets, 1);
  Add(counters_.rx_bytes, out.size);
  return true;
}

void UdpPort::Release(std::span<const Frame> frames) {
  for (const Frame& frame : frames) {
    config_.rx.Give(config_.rx.IndexOf(static_cast<const std::byte*>(frame.owner)));
  }
  CountBuffers();
}

// --- out ---

size_t UdpPort::TxFrames(std::span<Frame> out) {
  const size_t lent = std::min({out.size(), kBurst, size_t{config_.tx.free()}});
  for (size_t i = 0; i < lent; ++i) {
    std::byte* data = config_.tx.at(config_.tx.Take());
    out[i] = {.data = data, .owner = data};
  }
  return lent;
}

// One call for all frames of a burst that take the same path.
void UdpPort::TxBurst(std::span<const Frame> frames) {
  std::array<bool, kBurst> waits{};
  for (size_t i = 0; i < frames.size(); ++i) {
    waits[i] = frames[i].size > 0 && Fill(frames[i], i);
    if (frames[i].size > 0 && !waits[i]) Add(counters_.tx_dropped, 1);
  }
  const auto paths = static_cast<uint32_t>(config_.senders.size());
  std::array<size_t, kBurst> slots;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (!waits[i]) continue;
    const uint32_t path = frames[i].path % paths;
    size_t count = 0;
    for (size_t j = i; j < frames.size(); ++j) {
      if (!waits[j] || frames[j].path % paths != path) continue;
      waits[j] = false;
      slots[count++] = j;
    }
    Send(path, std::span(slots).first(count));
  }
  for (const Frame& frame : frames) {
    config_.tx.Give(config_.tx.IndexOf(static_cast<const std::byte*>(frame.owner)));
  }
  CountBuffers();
}

// Where a frame goes, and its class, stand in the headers that the kernel writes anew.
bool UdpPort::Fill(const Frame& frame, size_t slot) {
  const uint32_t whole = frame.size + frame.payload_size;
  if (frame.size < header_ || whole > kEthernetBytes + config_.caps.mtu) return false;
  const bool v6 = config_.self.v6;
  const std::byte* ip = frame.data + kEthernetBytes;
  NetAddress to{.v6 = v6};
  std::memcpy(to.ip.data() + (v6 ? 0 : 12), ip + (v6 ? 24 : 16), v6 ? 16 : 4);
  const uint16_t port = wire::Load16(ip + IpBytes(v6) + 2);
  const SocketAddress address = ToSocketAddress(to, port);
  addresses_[slot] = address.storage;
  parts_[slot][0] = {.iov_base = frame.data + header_, .iov_len = frame.size - header_};
  const std::byte* payload = frame.payload != nullptr ? frame.payload : zeros_.data();
  parts_[slot][1] = {.iov_base = const_cast<std::byte*>(payload), .iov_len = frame.payload_size};
  msghdr message = {.msg_name = &addresses_[slot],
                    .msg_namelen = address.size,
                    .msg_iov = parts_[slot].data(),
                    .msg_iovlen = frame.payload_size > 0 ? 2u : 1u,
                    .msg_control = controls_[slot].data(),
                    .msg_controllen = CMSG_SPACE(sizeof(int)),
                    .msg_flags = 0};
  cmsghdr* control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = v6 ? IPPROTO_IPV6 : IPPROTO_IP;
  control->cmsg_type = v6 ? IPV6_TCLASS : IP_TOS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  const int tos = wire::LoadTos(ip);
  std::memcpy(CMSG_DATA(control), &tos, sizeof tos);
  messages_[slot] = {.msg_hdr = message, .msg_len = 0};
  return true;
}

// What the kernel does not take now is lost, as in a full queue; the first may be refused for
// itself, so the rest is tried without it.
void UdpPort::Send(uint32_t path, std::span<const size_t> slots) {
  std::array<mmsghdr, kBurst> burst;
  for (size_t i = 0; i < slots.size(); ++i) burst[i] = messages_[slots[i]];
  for (size_t at = 0; at < slots.size();) {
    const int sent = sendmmsg(config_.senders[path].fd(), burst.data() + at,
                              static_cast<unsigned>(slots.size() - at), MSG_DONTWAIT);
    const size_t taken = sent > 0 ? static_cast<size_t>(sent) : 0;
    for (size_t i = at; i < at + taken; ++i) {
      Add(counters_.tx_packets, 1);
      Add(counters_.tx_bytes, header_ + burst[i].msg_len);
    }
    at += taken;
    if (taken > 0) continue;
    Add(counters_.tx_dropped, 1);
    ++at;
  }
}

}  // namespace weir
