// VerbsPort: frames out, and what was sent.
#include <algorithm>

#include "nic_drivers/counting.h"
#include "nic_drivers/verbs/port.h"

namespace weir {

size_t VerbsPort::TxFrames(std::span<Frame> out) {
  if (config_.tx.free() < kBurst) Reap();
  const size_t lent = std::min({out.size(), kBurst, size_t{config_.tx.free()}});
  for (size_t i = 0; i < lent; ++i) {
    std::byte* data = config_.tx.at(config_.tx.Take());
    out[i] = {.data = data, .owner = data};
  }
  return lent;
}

void VerbsPort::TxBurst(std::span<const Frame> frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    Sent sent{.buffer = config_.tx.IndexOf(static_cast<const std::byte*>(frame.owner))};
    if (frame.size > 0 && Fill(frame, work_[i], sent)) {
      Chain(frame, work_[i], sent);
      continue;
    }
    if (frame.size > 0) Add(counters_.tx_dropped, 1);
    Drop(sent);
  }
  for (uint32_t path = 0; path < paths_.size(); ++path) {
    if (paths_[path].first != nullptr) Ring(path);
  }
  counters_.buffers.store(config_.tx.count() - config_.tx.free(), std::memory_order_relaxed);
}

// The peer that a frame is for, by its IP header; nullptr: not known, and it is being asked.
const Peer* VerbsPort::Find(std::span<const std::byte> frame) {
  NetAddress to{.v6 = config_.self.v6};
  const std::byte* ip = frame.data() + kEthernetBytes;
  if (to.v6) {
    std::memcpy(to.ip.data(), ip + 24, 16);
  } else {
    std::memcpy(to.ip.data() + 12, ip + 16, 4);
  }
  if (peers_version_ != config_.peers->version()) {
    peers_version_ = config_.peers->version();
    peers_ = config_.peers->Copy();
    recent_ = nullptr;
  }
  if (recent_ != nullptr && recent_->message().address.ip == to.ip) return recent_;
  const auto found = peers_.find(to.ip);
  if (found != peers_.end()) {
    recent_ = found->second.get();
    return recent_;
  }
  // The device was opened anew while connections go on; what is lost meanwhile is sent again.
  const Time now = clock_.Now();
  if (asked_ == Time{} || now - asked_ > Millis(5)) {
    asked_ = now;
    exchange_->Ask(to);
  }
  return nullptr;
}

bool VerbsPort::Fill(const Frame& frame, Work& work, Sent& sent) {
  const uint32_t udp_at = kEthernetBytes + IpBytes(config_.self.v6);
  const uint32_t size = frame.size + frame.payload_size;
  if (Gone() || frame.size < udp_at + kUdpBytes || size > kEthernetBytes + config_.caps.mtu) {
    return false;
  }
  const Peer* peer = Find({frame.data, frame.size});
  const uint32_t path = frame.path % static_cast<uint32_t>(paths_.size());
  if (paths_[path].failed) Revive(path);
  if (peer == nullptr || paths_[path].failed) return false;
  work.request = {};
  work.request.sg_list = work.parts;
  work.request.num_sge = 1;
  work.request.opcode = IBV_WR_SEND;
  work.parts[0] = {.addr = reinterpret_cast<uint64_t>(frame.data),
                   .length = frame.size,
                   .lkey = config_.tx_memory->lkey};
  if (frame.payload_size > 0 && !AddPayload(frame, work, sent)) return false;
  if (size <= config_.pairs.inline_bytes()) work.request.send_flags = IBV_SEND_INLINE;
  const uint16_t to = static_cast<uint16_t>(static_cast<uint32_t>(frame.data[udp_at + 2]) << 8 |
                                            static_cast<uint32_t>(frame.data[udp_at + 3]));
  work.request.wr.ud.ah = peer->handle(path, frame.cls == FrameClass::kControl);
  work.request.wr.ud.remote_qpn = peer->pair(to - kUdpPort, path);
  work.request.wr.ud.remote_qkey = peer->message().key;
  return true;
}

bool VerbsPort::AddPayload(const Frame& frame, Work& work, Sent& sent) {
  uint32_t key = 0;
  if (frame.payload == nullptr) {
    work.parts[1] = {.addr = reinterpret_cast<uint64_t>(config_.zeros->addr),
                     .length = frame.payload_size,
                     .lkey = config_.zeros->lkey};
    work.request.num_sge = 2;
    return true;
  }
  if (config_.in_place) {
    sent.region = config_.memory->Take(config_.queue, frame.payload, frame.payload_size, key);
  }
  if (sent.region != RegisteredMemory::kNone) {
    work.parts[1] = {.addr = reinterpret_cast<uint64_t>(frame.payload),
                     .length = frame.payload_size,
                     .lkey = key};
    work.request.num_sge = 2;
    return true;
  }
  std::memcpy(frame.data + frame.size, frame.payload, frame.payload_size);
  work.parts[0].length += frame.payload_size;
  Add(counters_.tx_copied, 1);
  return true;
}

void VerbsPort::Chain(const Frame& frame, Work& work, const Sent& sent) {
  Path& path = paths_[frame.path % paths_.size()];
  path.ring[path.sent % path.ring.size()] = sent;
  work.request.wr_id = path.sent++;
  if (++path.unsignalled == kSignalEvery) {
    work.request.send_flags |= IBV_SEND_SIGNALED;
    path.unsignalled = 0;
  }
  if (path.first == nullptr) {
    path.first = &work.request;
  } else {
    path.last->next = &work.request;
  }
  path.last = &work.request;
}

// One call for all of a burst that takes this path. Its last is signalled, so that nothing waits
// for later ones to be given back.
void VerbsPort::Ring(uint32_t number) {
  Path& path = paths_[number];
  path.last->send_flags |= IBV_SEND_SIGNALED;
  path.unsignalled = 0;
  ibv_send_wr* refused = nullptr;
  uint64_t packets = 0, bytes = 0;
  const int error = ibv_post_send(config_.pairs.pair(number), path.first, &refused);
  for (const ibv_send_wr* w = path.first; w != nullptr && (error == 0 || w != refused);
       w = w->next) {
    ++packets;
    for (int i = 0; i < w->num_sge; ++i) bytes += w->sg_list[i].length;
  }
  Add(counters_.tx_packets, packets);
  Add(counters_.tx_bytes, bytes);
  path.first = path.last = nullptr;
  if (error == 0) return;
  // The rest never went; the last that did may not be signalled, so the pair begins anew.
  while (refused != nullptr && path.sent > refused->wr_id) {
    Drop(path.ring[--path.sent % path.ring.size()]);
    Add(counters_.tx_dropped, 1);
  }
  path.failed = true;
  Revive(number);
}

void VerbsPort::Drop(const Sent& sent) {
  if (sent.region != RegisteredMemory::kNone) config_.memory->Give(config_.queue, sent.region);
  config_.tx.Give(sent.buffer);
}

// --- what was sent ---

void VerbsPort::Reap() {
  std::array<ibv_wc, kBurst> done;
  int got = 0;
  do {
    got = Gone() ? 0 : ibv_poll_cq(config_.pairs.sent(), static_cast<int>(kBurst), done.data());
    for (int i = 0; i < got; ++i) {
      const ibv_wc& wc = done[static_cast<size_t>(i)];
      uint32_t number = 0;
      while (number < paths_.size() && config_.pairs.pair(number)->qp_num != wc.qp_num) ++number;
      if (number == paths_.size()) continue;
      Path& path = paths_[number];
      if (wc.wr_id < path.done) continue;  // from before it was revived
      if (wc.status != IBV_WC_SUCCESS) {
        path.failed = true;
        if (wc.status != IBV_WC_WR_FLUSH_ERR) counters_.failure = wc.status;
        Add(counters_.tx_dropped, 1);
      }
      Finish(path, std::min(wc.wr_id + 1, path.sent));
      if (path.failed) Revive(number);
    }
  } while (got == static_cast<int>(kBurst));
  if (got > 0)
    counters_.buffers.store(config_.tx.count() - config_.tx.free(), std::memory_order_relaxed);
}

void VerbsPort::Finish(Path& path, uint64_t upto) {
  for (; path.done < upto; ++path.done) Drop(path.ring[path.done % path.ring.size()]);
}

// Resetting a queue pair ends what is on its way, so the device refers to nothing of it after that.
void VerbsPort::Revive(uint32_t number) {
  Path& path = paths_[number];
  if (Gone()) return;
  if (!config_.pairs.Revive(number).ok()) return;
  Add(counters_.tx_dropped, path.sent - path.done);
  Finish(path, path.sent);
  path.unsignalled = 0;
  path.failed = false;
  Add(counters_.revived, 1);
}

}  // namespace weir
