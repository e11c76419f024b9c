#include "testbed/fabric/fabric.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

// A packet without its payload counts at least this much. Source: 64-byte frames of Ethernet.
constexpr uint16_t kTrimmedMin = 64;
constexpr uint64_t kDigestPrime = 0x9E3779B97F4A7C15u;

}  // namespace

Fabric::Fabric(const Topology& topology, const SwitchConfig& config, uint64_t seed,
               PacketPool& packets, TimerWheel& timers, uint32_t first_timer, Deliver deliver)
    : topology_(topology),
      config_(config),
      routes_(topology),
      every_departure_(config.pfc || config.buffer > Bytes(0)),
      packets_(packets),
      timers_(timers),
      first_timer_(first_timer),
      deliver_(std::move(deliver)),
      rng_(Mix64(seed ^ 0xFAB)),
      host_link_(topology.hosts, 0),
      seeds_(topology.nodes(), 0),
      buffered_(topology.nodes()),
      next_turn_(topology.nodes(), 0),
      impairments_(topology.links.size()),
      bursting_(topology.links.size(), false) {
  ports_.reserve(topology.links.size());
  for (LinkId id = 0; id < topology.links.size(); ++id) {
    const LinkShape& shape = topology.links[id];
    ports_.emplace_back(shape, !topology.IsHost(shape.from));
    ports_.back().node = shape.from;
    ports_.back().to_host = topology.IsHost(shape.to);
    if (topology.IsHost(shape.from)) host_link_[shape.from] = id;
  }
  for (uint32_t& s : seeds_) s = static_cast<uint32_t>(rng_.Next());
  if (config_.same_seed) std::fill(seeds_.begin(), seeds_.end(), seeds_[0]);
  if (config_.classes.size() > 1) SetUpClasses();
  if (config_.pfc) {
    inputs_.resize(topology.links.size() * classes());
    notices_.resize(topology.links.size());
  }
}

void Fabric::PushBack(Fifo& fifo, PacketId id) {
  Packet& packet = packets_[id];
  packet.next = kNoPacket;
  if (fifo.head == kNoPacket) {
    fifo.head = id;
  } else {
    packets_[fifo.tail].next = id;
  }
  fifo.tail = id;
  fifo.bytes += Bytes(packet.wire);
  ++fifo.packets;
}

PacketId Fabric::PopFront(Fifo& fifo) {
  const PacketId id = fifo.head;
  const Packet& packet = packets_[id];
  fifo.head = packet.next;
  fifo.bytes -= Bytes(packet.wire);
  --fifo.packets;
  return id;
}

// --- Timers ---

void Fabric::HandleTimer(Time now, uint32_t timer) {
  if (timer == 3 * links()) return HandleLate(now);
  if (timer >= 2 * links()) return Serve(now, timer - 2 * links());
  if (timer >= links()) return HandlePause(now, timer - links());
  const LinkId link = timer;
  Port& port = ports_[link];
  const PacketId id = PopFront(port.link);
  Serve(now, link);
  if (port.link.head != kNoPacket) {
    timers_.Arm(first_timer_ + link, packets_[port.link.head].arrival);
  }
  if (port.impaired) {
    Impair(now, link, id);
  } else {
    Land(now, link, id);
  }
}

void Fabric::Trace(Time now, LinkId link, const Packet& packet) {
  ++stats_.hops;
  const uint64_t what = static_cast<uint64_t>(now.nanos()) * 0x2545F4914F6CDD1Du ^
                        (static_cast<uint64_t>(link) << 32 | packet.sequence) ^
                        static_cast<uint64_t>(packet.wire) << 48;
  digest_ = (std::rotl(digest_, 5) ^ what) * kDigestPrime;
}

void Fabric::Land(Time now, LinkId link, PacketId id) {
  Packet& packet = packets_[id];
  Trace(now, link, packet);
  packet.from_link = link;
  const NodeId node = ports_[link].to;
  if (!ports_[link].to_host) return Forward(now, id, node);
  ++stats_.delivered;
  --in_network_;
  deliver_(now, node, id);
}

// --- Switching ---

void Fabric::Forward(Time now, PacketId id, NodeId node) {
  const Packet& packet = packets_[id];
  if (packet.to >= topology_.hosts) return Drop(id, stats_.unroutable);
  const std::span<const LinkId> next = routes_.Next(node, packet.to);
  if (next.empty()) return Drop(id, stats_.unroutable);
  Enqueue(now, next.size() == 1 ? next[0] : Choose(now, node, packet, next), id);
}

LinkId Fabric::Choose(Time now, NodeId node, const Packet& packet, std::span<const LinkId> next) {
  const auto count = static_cast<uint32_t>(next.size());
  switch (config_.balancing) {
    case SwitchBalancing::kEcmp: {
      const uint64_t hash = Mix64(static_cast<uint64_t>(packet.flow_hash) << 32 | seeds_[node]);
      return next[static_cast<uint32_t>((hash >> 32) * count >> 32)];
    }
    case SwitchBalancing::kRoundRobin:
      return next[next_turn_[node]++ % count];
    case SwitchBalancing::kAdaptive:
      return Shortest(now, next);
  }
  return next[0];
}

// Ties are broken at random, or all would take the first link.
LinkId Fabric::Shortest(Time now, std::span<const LinkId> next) {
  LinkId best = next[0];
  uint32_t ties = 0;
  Bytes shortest = Bytes::Max();
  for (const LinkId link : next) {
    Serve(now, link);
    const Bytes queue = queued(link);
    if (queue > shortest) continue;
    ties = queue < shortest ? 1 : ties + 1;
    if (ties == 1 || rng_.Below(ties) == 0) best = link;
    shortest = queue;
  }
  return best;
}

Bytes Fabric::QueueLimit(const Port& port, Bytes queue) const {
  Bytes limit = Bytes::Max();
  if (config_.queue_limit > Bytes(0)) limit = OfQueue(port, config_.queue_limit);
  if (config_.buffer > Bytes(0)) {
    const Bytes free = std::max(Bytes(0), config_.buffer - buffered_[port.node]);
    // Lossless traffic is held back by pausing; only the whole buffer is a limit.
    limit = std::min(limit, config_.pfc ? queue + free : Scaled(free, config_.alpha));
  } else if (config_.pfc) {
    limit = Bytes::Max();
  }
  return limit;
}

bool Fabric::ShouldMark(const Port& port, Bytes queue) {
  const Bytes first = OfQueue(port, config_.mark_min);
  if (queue <= first || (port.to_host && !config_.mark_last_hop)) return false;
  const Bytes last = OfQueue(port, config_.mark_max);
  if (queue > last) return true;
  const Bytes ramp = last - first;
  if (ramp == Bytes(0)) return true;
  return rng_.Chance(config_.mark_probability * Ratio(queue - first, ramp));
}

// Decides what becomes of a packet that meets the data queue: it stays as it is, it is trimmed, or
// it goes (false).
bool Fabric::Admit(LinkId link, Packet& packet) {
  Port& port = ports_[link];
  if (!port.is_switch || packet.cls == FrameClass::kControl) return true;
  const Bytes size(packet.wire);
  const Bytes queue = QueueOf(link, packet);
  const Bytes limit = QueueLimit(port, queue);
  if (size <= limit && queue <= limit - size) return true;
  if (!config_.trimming || !packet.trimmable) return false;
  packet.trimmed = true;
  packet.trimmed_last_hop = port.to_host;
  packet.trimmable = false;
  packets_.DropPayload(packet);
  const auto wire = std::max<uint16_t>(kTrimmedMin, packet.header + kFcsBytes);
  port.stats.bytes_cut += packet.wire - wire;
  packet.wire = wire;
  packet.payload = 0;
  packet.cls = FrameClass::kControl;
  ++port.stats.trims;
  ++stats_.trims;
  return true;
}

void Fabric::Enqueue(Time now, LinkId link, PacketId id) {
  Port& port = ports_[link];
  Packet& packet = packets_[id];
  Serve(now, link);
  ++port.stats.packets_in;
  port.stats.bytes_in += packet.wire;
  bool fits = Admit(link, packet);
  const bool control = packet.cls == FrameClass::kControl;
  if (fits && control && port.is_switch && config_.control_limit > Bytes(0)) {
    fits = port.control.bytes + Bytes(packet.wire) <= config_.control_limit;
  }
  if (!fits) {
    ++port.stats.drops;
    port.stats.bytes_dropped += packet.wire;
    return Drop(id, stats_.dropped);
  }
  if (port.is_switch) {
    buffered_[port.node] += Bytes(packet.wire);
    if (config_.pfc) HoldInput(now, packet);
    if (config_.mark_on_enqueue && !control && packet.ecn_capable && !packet.marked &&
        ShouldMark(port, QueueOf(link, packet) + Bytes(packet.wire))) {
      packet.marked = true;
      ++port.stats.marks;
      ++stats_.marks;
    }
  }
  if (control) {
    PushBack(port.control, id);
  } else {
    PushData(link, id);
  }
  port.stats.queue_peak = std::max(port.stats.queue_peak, port.data.bytes);
  Serve(now, link);
}

// Starts what the link had time to start until `now`. Control packets go first.
void Fabric::Serve(Time now, LinkId link) {
  Port& port = ports_[link];
  while (port.wire.free_at() <= now) {
    if (port.control.head != kNoPacket) {
      Start(std::max(port.wire.free_at(), Time(0)), link, PopFront(port.control));
    } else if (const PacketId id = PopData(link); id != kNoPacket) {
      Start(std::max(port.wire.free_at(), Time(0)), link, id);
    } else {
      // Idle: whatever comes next starts when it comes.
      if (port.wire.free_at() < now) port.wire.SkipTo(now);
      return;
    }
  }
  // Without an arrival ahead, as when the link is down, nothing else would come back to the queue.
  const bool waits = port.control.head != kNoPacket || port.data.packets > 0;
  if (waits && (every_departure_ || port.link.head == kNoPacket)) {
    timers_.Arm(DepartureTimer(link), port.wire.free_at());
  }
}

Bytes Fabric::LeftSince(Time now, LinkId link) const {
  const Port& port = ports_[link];
  const Time free_at = port.wire.free_at();
  if (port.paused != 0 || !port.up || now <= free_at) return Bytes(0);
  return std::min(queued(link), port.wire.rate() * (now - free_at));
}

uint64_t Fabric::BytesOutAt(Time now, LinkId link) const {
  const Port& port = ports_[link];
  const Time free_at = port.wire.free_at();
  // Of a packet in service, bytes_out has all.
  const Bytes coming = free_at > now ? port.wire.rate() * (free_at - now) : Bytes(0);
  const auto out = static_cast<int64_t>(port.stats.bytes_out);
  return static_cast<uint64_t>(
      std::max<int64_t>(0, out - coming.count() + LeftSince(now, link).count()));
}

void Fabric::Start(Time at, LinkId link, PacketId id) {
  Port& port = ports_[link];
  Packet& packet = packets_[id];
  const Bytes size(packet.wire);
  ++port.stats.packets_out;
  port.stats.bytes_out += packet.wire;
  if (port.is_switch) {
    buffered_[port.node] -= size;
    if (config_.pfc) FreeInput(at, packet);
    const bool data = packet.cls != FrameClass::kControl;
    if (data && !config_.mark_on_enqueue && packet.ecn_capable && !packet.marked &&
        ShouldMark(port, QueueOf(link, packet))) {
      packet.marked = true;
      ++port.stats.marks;
      ++stats_.marks;
    }
    if (config_.path_load) MeasureLoad(at, port);
    if (packet.in_band) WriteInBand(at, link, packet);
  }
  const Time done = port.wire.Book(at, size);
  if (!port.up) return Drop(id, stats_.lost_by_fault);
  packet.arrival = done + port.delay;
  const bool first = port.link.head == kNoPacket;
  PushBack(port.link, id);
  if (first) timers_.Arm(first_timer_ + link, packet.arrival);
}

void Fabric::WriteInBand(Time at, LinkId link, const Packet& packet) {
  const Port& port = ports_[link];
  const std::span<std::byte> headers(packets_.Headers(packet), packet.header);
  if (config_.telemetry) {
    AppendTelemetry(headers, {.stamp = at,
                              .transmitted = Bytes(static_cast<int64_t>(port.stats.bytes_out)),
                              .queue = QueueOf(link, packet),
                              .rate = port.wire.rate(),
                              .hop = static_cast<uint16_t>(link)});
  }
  if (config_.path_load && HasPathLoad(headers)) {
    RaisePathLoad(headers, EncodeLoad(port.load, rng_.Unit()));
  }
}

// load <- (1 - dt/T) load + dt/T u, u = min(q, q before) / (B T) + what left in dt / (B dt), as
// HPCC computes it from telemetry. Source: Li et al., SIGCOMM 2019; Ben Basat et al., SIGCOMM 2020
// (PINT).
void Fabric::MeasureLoad(Time at, Port& port) const {
  const Duration dt = at - port.load_at;
  if (dt <= Duration(0)) return;
  const Duration period = config_.load_period > Duration(0) ? config_.load_period : Micros(10);
  const auto per_nano = static_cast<double>(port.wire.rate().count()) / 8e9;
  const auto nanos = static_cast<double>(dt.count());
  const auto left = static_cast<double>(port.stats.bytes_out - port.load_bytes_out);
  const auto queue = static_cast<double>(std::min(port.data.bytes, port.load_queue).count());
  const double u =
      queue / (per_nano * static_cast<double>(period.count())) + left / (per_nano * nanos);
  port.load += std::min(Ratio(dt, period), 1.0) * (u - port.load);
  port.load_at = at;
  port.load_bytes_out = port.stats.bytes_out;
  port.load_queue = port.data.bytes;
}

void Fabric::Drop(PacketId id, uint64_t& counter) {
  const Packet& packet = packets_[id];
  ++counter;
  --in_network_;
  digest_ = (std::rotl(digest_, 7) ^ packet.sequence) * kDigestPrime;
  packets_.Give(id);
}

// --- Hosts ---

void Fabric::Inject(Time now, uint32_t host, PacketId packet) {
  ++stats_.injected;
  ++in_network_;
  Enqueue(now, host_link_[host], packet);
}

uint32_t Fabric::HostQueue(Time now, uint32_t host) {
  const LinkId link = host_link_[host];
  Serve(now, link);
  return ports_[link].data.packets + ports_[link].control.packets;
}

// --- Checking ---

std::string Fabric::CheckConservation(Time now) {
  uint64_t held = late_.size();
  for (LinkId link = 0; link < ports_.size(); ++link) {
    Serve(now, link);
    const Port& port = ports_[link];
    const PortStats& s = port.stats;
    const uint64_t queued_packets = port.data.packets + port.control.packets;
    const auto queued_bytes = static_cast<uint64_t>(queued(link).count());
    held += queued_packets + port.link.packets;
    if (s.packets_in != s.packets_out + s.drops + queued_packets ||
        s.bytes_in != s.bytes_out + s.bytes_dropped + s.bytes_cut + queued_bytes) {
      return absl::StrFormat(
          "link %d: %d packets in, %d out, %d dropped, %d queued; %d bytes in, %d out, %d dropped, "
          "%d cut, %d queued",
          link, s.packets_in, s.packets_out, s.drops, queued_packets, s.bytes_in, s.bytes_out,
          s.bytes_dropped, s.bytes_cut, queued_bytes);
    }
  }
  const uint64_t gone =
      stats_.delivered + stats_.dropped + stats_.lost_by_fault + stats_.unroutable;
  if (held != in_network_ || stats_.injected + stats_.duplicated != gone + in_network_) {
    return absl::StrFormat("fabric: %d injected, %d duplicated, %d gone, %d counted, %d found",
                           stats_.injected, stats_.duplicated, gone, in_network_, held);
  }
  return "";
}

}  // namespace weir
