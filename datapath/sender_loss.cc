// Sender: losses and the timers that find them.
#include <algorithm>

#include "datapath/sender.h"

namespace weir {
namespace {

// Packets of one path that must have overtaken before order alone says "lost". Source: the
// duplicate threshold of RFC 5681 section 3.2.
constexpr uint32_t kOrderTolerance = 3;
// A probe goes out so many smoothed round trips after the last packet. Source: RFC 8985
// section 7.2. Departure: acknowledgements of earlier packets do not put it off.
constexpr int kProbeRtts = 2;
constexpr int kProbeBackoffMax = 10;  // the interval grows to 2^10 times that
// Time slices of other processes, several in a row: so long one that shares its cores may be away.
constexpr Duration kAwayMost = Millis(20);

PathEvent EventOf(LossCause cause) {
  switch (cause) {
    case LossCause::kTrim:
      return PathEvent::kTrimmed;
    case LossCause::kTrimLastHop:
      return PathEvent::kTrimmedLastHop;
    default:
      return PathEvent::kLost;
  }
}

}  // namespace

void Sender::HandleTrim(Time now, const TrimNotice& notice) {
  HeardFromPeer(now);
  TxRecord* record = window_.Find(notice.psn);
  if (record == nullptr || record->state != TxState::kInFlight ||
      record->attempt != notice.attempt) {
    return;
  }
  const bool last_hop = (notice.flags & TrimNotice::kLastHop) != 0;
  const LossCause cause = last_hop ? LossCause::kTrimLastHop : LossCause::kTrim;
  last_progress_ = now;
  ++shared_.counters.lost_by_trim;
  ++stats_.trims;
  DeclareLost(now, TxWindow::Slot(notice.psn), EventOf(cause));
  ReportLoss(now, Bytes(record->size), cause, (notice.flags & TrimNotice::kMarked) != 0);
}

// Walks the packets in flight from the one sent first, as long as they were sent before the newest
// acknowledged one. Source: RFC 8985 section 6.2 (time); the same path is first in, first out
// (order). `seen` <= now is when the latest acknowledgement came to the port.
void Sender::DetectLosses(Time now, Time seen) {
  rack_deadline_ = Time::Never();
  if (!rack_valid_) return;
  Bytes by_order{};
  Bytes by_time{};
  const Duration lag =
      rack_by_probe_ ? std::max(reorder_window_, flow_.max_queue) : reorder_window_;
  const Duration patience = std::max(rtt_.latest(), rtt_.smoothed()) + lag;
  while (!window_.in_flight.empty()) {
    const uint16_t slot = window_.in_flight.head;
    const TxRecord& record = window_.At(slot);
    const auto overtaken = static_cast<int32_t>(rack_seq_ - record.send_seq);
    if (overtaken <= 0) break;
    const bool order = loss_.by_order && !rack_by_probe_ && record.path == rack_path_ &&
                       overtaken >= static_cast<int32_t>(kOrderTolerance);
    if (!order && record.sent + patience > seen) {
      rack_deadline_ = record.sent + patience;
      break;
    }
    (order ? by_order : by_time) += Bytes(record.size);
    ++(order ? shared_.counters.lost_by_order : shared_.counters.lost_by_time);
    DeclareLost(now, slot, PathEvent::kLost);
  }
  if (by_order > Bytes(0)) ReportLoss(now, by_order, LossCause::kOrder, false);
  if (by_time > Bytes(0)) ReportLoss(now, by_time, LossCause::kTime, false);
}

void Sender::DeclareLost(Time now, uint16_t slot, PathEvent event) {
  TxRecord& record = window_.At(slot);
  WEIR_DCHECK(record.state == TxState::kInFlight);
  window_.Remove(window_.in_flight, slot);
  window_.PushBack(window_.lost, slot);
  record.state = TxState::kLost;
  in_flight_ -= Bytes(record.size);
  lost_bytes_ += record.size;
  TellPolicy({.now = now, .path = record.path, .event = event});
}

// A path of before a change of policy may be none now.
void Sender::TellPolicy(const PathFeedback& feedback) {
  if (feedback.path >= binding_->paths) return;
  if (health_ != nullptr) health_->OnFeedback(feedback);
  if (binding_->lb->learns) lb_->OnFeedback(feedback);
}

void Sender::ReportLoss(Time now, Bytes lost, LossCause cause, bool marked) {
  cc_->OnLoss({.now = now,
               .round = round_,
               .lost = lost,
               .in_flight = in_flight_,
               .cause = cause,
               .marked = marked});
  RefreshAllowance();
}

// --- Timers ---

Time Sender::RtoDeadline() const {
  if (window_.in_flight.empty()) return Time::Never();
  const Time sent = window_.At(window_.in_flight.head).sent;
  const Duration wait = rtt_.timeout() * (int64_t{1} << std::min(timeouts_in_row_, kBackoffMax));
  const Time deadline = std::max(sent, last_progress_) + wait;
  // A host that was away gives its peer time again, which may have waited for the same core; but
  // not for ever, since a host may always be late.
  return std::clamp(shared_.stalled_until + rtt_.timeout(), deadline, deadline + kAwayMost);
}

Time Sender::ProbeDeadline() const {
  const bool waits = !window_.in_flight.empty() || BlockedByReceives();
  if (probe_due_) return Time::Never();
  if (!waits && loss_.keepalive == Duration(0)) return Time::Never();
  if (!waits && unanswered_ == 0) return heard_at_ + loss_.keepalive;
  const Time from = std::max(last_sent_, probe_sent_);
  const Duration interval = kProbeRtts * rtt_.smoothed() + flow_.base_rtt / 2;
  const int shift =
      waits ? std::min(probes_in_row_, kProbeBackoffMax) : std::min(unanswered_, kBackoffMax);
  return from + interval * (int64_t{1} << shift);
}

Time Sender::NextDeadline(Time now) const {
  Time next =
      std::min({cc_timer_, rack_deadline_, RtoDeadline(), ProbeDeadline(), PathProbeDeadline()});
  // A credit request that is due waits only to be polled.
  const bool later = limit_ == Limit::kCredit && credit_request_at_ > now;
  return later ? std::min(next, credit_request_at_) : next;
}

bool Sender::HandleTimer(Time now) {
  if (cc_timer_ <= now) {
    cc_->OnTimer(now);
    RefreshAllowance();
  }
  // What waits in the port is heard before the peer is found silent: after a stall there may be
  // much of it.
  if (!shared_.rx_backlog()) HandleSilence(now);
  if (PathProbeDeadline() <= now) PlanPathProbe(now);
  // A peer that says nothing, or one that answers but gets none of the data.
  const bool silent =
      unanswered_ > loss_.retries_max && now - heard_at_ > std::max(SilenceMax(), loss_.patience);
  const bool stuck = timeouts_in_row_ > loss_.retries_max && now - last_progress_ > loss_.patience;
  return !silent && !stuck;
}

void Sender::HandleSilence(Time now) {
  if (rack_deadline_ <= now) DetectLosses(now, now);
  if (RtoDeadline() <= now) HandleTimeout(now);
  if (ProbeDeadline() > now) return;
  probe_due_ = true;
  ++probes_in_row_;
  ++unanswered_;
}

Time Sender::PathProbeDeadline() const {
  if (path_probe_due_) return Time::Never();
  const bool asks = probe_interval_ > Duration(0) && !window_.in_flight.empty();
  const Time algorithm = asks ? cc_probe_at_ : Time::Never();
  return health_ != nullptr ? std::min(algorithm, health_->deadline()) : algorithm;
}

// Bad paths first: their turns are rare.
void Sender::PlanPathProbe(Time now) {
  if (health_ != nullptr && health_->Next(now, path_probe_path_)) {
    path_probe_due_ = true;
    return;
  }
  if (probe_interval_ == Duration(0) || window_.in_flight.empty() || cc_probe_at_ > now) return;
  cc_probe_at_ = now + probe_interval_;
  // Probes that are still awaited are not forgotten for new ones: where RTTs are many intervals
  // long, none would ever be heard.
  const PathProbe& oldest = path_probes_[(path_probe_number_ + 1) % path_probes_.size()];
  if (oldest.sent != Time::Never() && now < oldest.sent + rtt_.timeout()) return;
  path_probe_due_ = true;
  path_probe_path_ = last_path_;
}

void Sender::HandleProbeAnswer(Time now, Time arrived, uint32_t number, bool marked) {
  HeardFromPeer(now);
  PathProbe& probe = path_probes_[number % path_probes_.size()];
  if (probe.number != number || probe.sent == Time::Never()) return;
  const Duration rtt = arrived - probe.sent;
  const bool stalled = probe.sent < shared_.stalled_until;
  probe.sent = Time::Never();
  if (health_ != nullptr) health_->OnProbeAnswer(now, probe.path);
  if ((binding_->cc->events & kCcProbe) == 0 || rtt <= Duration(0) || stalled) return;
  cc_->OnProbe({.now = now, .rtt = rtt, .marked = marked, .path = probe.path});
  RefreshAllowance();
}

// As long as the time-outs in a row that use up all retries.
Duration Sender::SilenceMax() const {
  const int longest = std::max(0, loss_.retries_max - kBackoffMax);
  return loss_.rto_min * ((int64_t{2} << kBackoffMax) - 1 + (int64_t{longest} << kBackoffMax));
}

void Sender::HeardFromPeer(Time now) {
  unanswered_ = 0;
  heard_at_ = now;
}

void Sender::HandleTimeout(Time now) {
  ++timeouts_in_row_;
  ++stats_.timeouts;
  ++shared_.counters.timeouts;
  Bytes lost{};
  while (!window_.in_flight.empty()) {
    const uint16_t slot = window_.in_flight.head;
    lost += Bytes(window_.At(slot).size);
    ++shared_.counters.lost_by_timeout;
    DeclareLost(now, slot, PathEvent::kTimeout);
  }
  cc_->OnTimeout({.now = now, .round = round_, .lost = lost, .consecutive = timeouts_in_row_});
  RefreshAllowance();
}

void Sender::HandleCnp(Time now) {
  HeardFromPeer(now);
  ++shared_.counters.cnps_received;
  if ((binding_->cc->events & kCcCnp) == 0) return;
  cc_->OnCnp(now);
  RefreshAllowance();
}

void Sender::HandleCredit(Time now, uint32_t granted) {
  HeardFromPeer(now);
  const auto units = static_cast<int32_t>(granted - granted_);
  if (units <= 0) return;
  granted_ = granted;
  credit_asks_ = 0;
  if ((binding_->cc->events & kCcCredit) == 0) return;
  cc_->OnCredit(now, Bytes(units * kCreditUnit));
  RefreshAllowance();
}

}  // namespace weir
