#include "testbed/experiment/transfer_watch.h"

#include <algorithm>
#include <utility>

#include "testbed/fabric/frames.h"
#include "testbed/fabric/paths.h"

namespace weir {

TransferWatch::TransferWatch(size_t transfers, const Topology& topology, Find find)
    : find_(std::move(find)), transfers_(transfers) {
  hosts_.reserve(topology.hosts);
  for (const Rate rate : HostRates(topology)) hosts_.emplace_back(rate);
}

void TransferWatch::OnInject(Time now, uint32_t host, PacketId id, const Packet& packet,
                             std::span<const std::byte> headers) {
  if (id >= packets_.size()) packets_.resize(size_t{id} + 1);
  Sent& sent = packets_[id];
  const Bytes wire(packet.wire);
  Host& sender = hosts_[host];
  const Bytes before_it = sender.bytes;
  const Time left = std::max(now, sender.link.free_at());
  sender.bytes += wire;
  sender.link.Book(now, wire);
  DataHeader header;
  sent.transfer =
      ReadDataHeader(headers, header) ? find_(packet.to, header.to, header.message) : kNone;
  if (sent.transfer == kNone) return;
  Watched& watched = transfers_[sent.transfer];
  const bool again = header.attempt > 0;
  if (!again) watched.last_new = left;
  sent.flow_hash = packet.flow_hash;
  sent.sequence = packet.sequence;
  sent.passage = {.left = left,
                  .last_new = watched.last_new,
                  .again = again,
                  .wire = wire,
                  .before = watched.own,
                  .others = before_it - watched.host - watched.own};
  watched.own += wire;
}

void TransferWatch::OnDeliver(Time now, PacketId id, const Packet& packet) {
  if (packet.trimmed || id >= packets_.size()) return;
  const Sent& sent = packets_[id];
  if (sent.transfer == kNone || sent.sequence != packet.sequence ||
      sent.flow_hash != packet.flow_hash || transfers_[sent.transfer].done) {
    return;
  }
  Passage& last = transfers_[sent.transfer].last;
  last = sent.passage;
  last.arrived = now;
}

}  // namespace weir
