// ChunkEndpoint: one turn of the crank.
#include <algorithm>
#include <array>

#include "datapath/offload/chunk_endpoint.h"

namespace weir {

size_t ChunkEndpoint::Turn(Time now) {
  if (now < now_) {
    ++state_.counters.clock_steps_back;
    now = now_;
  }
  now_ = now;
  std::array<ChunkEvent, kEvents> events;
  const size_t got = port_.Poll(events);
  for (size_t i = 0; i < got; ++i) HandleEvent(now, events[i]);
  // What waits in the port is heard before patience with it ends.
  if (got < kEvents) HandleTimers(now);
  return got + Send(now);
}

ChunkEndpoint::Conn* ChunkEndpoint::OfLink(LinkId link) {
  if (link >= by_link_.size() || by_link_[link] == kNil) return nullptr;
  return &connections_[by_link_[link]];
}

void ChunkEndpoint::HandleEvent(Time now, const ChunkEvent& event) {
  if (event.kind == ChunkEvent::Kind::kAccepted) return HandleAccepted(now, event);
  if (event.kind == ChunkEvent::Kind::kDone) return HandleDone(now, event);
  Conn* c = OfLink(event.link);
  const bool opened = event.kind == ChunkEvent::Kind::kOpened;
  const bool arrived = event.kind == ChunkEvent::Kind::kArrived;
  const bool opening = c != nullptr && c->state == State::kOpening;
  if (c == nullptr || (opened && !opening) || (arrived && opening)) {
    ++state_.counters.strange_events;
    return;
  }
  if (arrived) return HandleArrived(*c, event);
  if (!opened) {
    // Everything is there, but for the answer to the last: the peer may have gone with it.
    const bool closed = c->state == State::kClosing && c->last_sent;
    return End(*c, closed ? Event::kClosed : Event::kFailed, event.cause);
  }
  Establish(now, *c, event.paths);
  state_.completions.Push({.event = Event::kOpened, .connection = c->id});
}

void ChunkEndpoint::HandleAccepted(Time now, const ChunkEvent& event) {
  if (event.link >= by_link_.size() || OfLink(event.link) != nullptr) {
    ++state_.counters.strange_events;
    return;
  }
  Conn* c = config_.binding == nullptr ? nullptr : Allocate(event.link, *config_.binding);
  if (c == nullptr) return port_.Close(event.link);
  Establish(now, *c, event.paths);
  state_.completions.Push({.event = Event::kAccepted, .connection = c->id});
}

void ChunkEndpoint::HandleDone(Time now, const ChunkEvent& event) {
  Conn* c = OfLink(event.link);
  const auto index = static_cast<uint32_t>(event.cookie);
  const auto use = static_cast<uint32_t>(event.cookie >> 32);
  const bool known = c != nullptr && index < state_.records.touched();
  const ChunkRecord* record = known ? &state_.records[index] : nullptr;
  if (!known || record->kind == ChunkRecord::Kind::kFree || record->use != use ||
      record->link != event.link || record->path != event.path) {
    ++state_.counters.strange_events;
    return;
  }
  c->sender.HandleDone(now, event, index);
  ContinueEnding(now, *c);
  if (!c->sender.last_done()) return;
  if (c->state == State::kClosing) return End(*c, Event::kClosed, Cause::kNone);
  End(*c, Event::kFailed, Cause::kAborted);
}

void ChunkEndpoint::HandleArrived(Conn& c, const ChunkEvent& event) {
  const ChunkWord word = ChunkWord::Decode(event.word);
  if (word.chunks == 0) return HandlePeersLast(c, word.message);
  ++state_.counters.chunks_received;
  state_.counters.bytes_received += event.size;
  ChunkReceiver::Whole whole;
  switch (c.receiver.Add(word, event.size, whole)) {
    case ChunkReceiver::Result::kMore:
      return;
    case ChunkReceiver::Result::kNonsense:
      return End(c, Event::kFailed, Cause::kNonsense);
    case ChunkReceiver::Result::kWhole:
      break;
  }
  // An application that does not poll its completions has no use for the connection.
  if (!state_.completions.Reserve()) return End(c, Event::kFailed, Cause::kFull);
  state_.completions.Push({.event = Event::kReceived,
                           .connection = c.id,
                           .cookie = whole.message,
                           .bytes = static_cast<uint32_t>(whole.bytes)});
}

// Both may close at once: then each has what the other sent.
void ChunkEndpoint::HandlePeersLast(Conn& c, uint16_t word) {
  if (word == ChunkWord::kAbort) return End(c, Event::kFailed, Cause::kAbortedByPeer);
  const bool ours = c.state == State::kClosing && c.last_sent;
  End(c, Event::kClosed, ours ? Cause::kNone : Cause::kClosedByPeer);
}

void ChunkEndpoint::HandleTimers(Time now) {
  for (size_t i = live_.size(); i > 0; --i) {  // those behind have been looked at, if this one ends
    Conn& c = connections_[live_[i - 1]];
    if (c.give_up_at <= now) {
      const bool opening = c.state == State::kOpening;
      End(c, Event::kFailed, opening ? Cause::kNeverAnswered : Cause::kStoppedAnswering);
    } else if (c.state != State::kOpening && !c.sender.HandleTimer(now)) {
      End(c, Event::kFailed, Cause::kStoppedAnswering);
    }
  }
}

// The next chunk may be handed over while the one before it is on the line.
Time ChunkEndpoint::LineBusyUntil() const {
  if (!line_.has_value()) return Time(0);
  return line_->free_at() - Bytes(config_.chunk_bytes) / config_.line_rate;
}

// One chunk of each in turn. A connection whose queue pair is full is left until the next turn.
size_t ChunkEndpoint::Send(Time now) {
  size_t sent = 0;
  for (const uint32_t index : live_) {
    Conn& c = connections_[index];
    if (c.state == State::kOpening) continue;
    ContinueEnding(now, c);
    c.sender.SendProbeIfDue(now, port_);
  }
  const auto count = static_cast<uint32_t>(live_.size());
  if (count == 0) return 0;
  first_ = (first_ + 1) % count;
  bool more = true;
  while (more && sent < kPosts) {
    more = false;
    for (uint32_t i = 0; i < count && sent < kPosts; ++i) {
      if (LineBusyUntil() > now) return sent;
      Conn& c = connections_[live_[(first_ + i) % count]];
      if (!c.sends() || !c.sender.NextTurn(now).send) continue;
      const Bytes before = c.sender.in_flight();
      if (!c.sender.SendChunk(now, port_)) continue;
      if (line_.has_value()) line_->Book(now, c.sender.in_flight() - before);
      ++sent;
      more = true;
    }
  }
  return sent;
}

Time ChunkEndpoint::NextWakeup(Time now) {
  Time next = Time::Never();
  for (const uint32_t index : live_) {
    Conn& c = connections_[index];
    next = std::min(next, c.give_up_at);
    if (c.state == State::kOpening) continue;
    next = std::min(next, c.sender.NextDeadline());
    if (c.ending() && !c.last_sent && c.sender.in_flight() == Bytes(0)) return now;
    if (!c.sends()) continue;
    const ChunkSender::Turn turn = c.sender.NextTurn(now);
    // What could go, and did not, waits for the line or for room in its queue pair.
    if (!turn.send) next = std::min(next, turn.at);
    if (turn.send && LineBusyUntil() > now) next = std::min(next, LineBusyUntil());
  }
  return std::max(next, now);
}

}  // namespace weir
