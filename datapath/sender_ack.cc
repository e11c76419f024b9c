// Sender: what an acknowledgement says.
#include <algorithm>

#include "datapath/sender.h"

namespace weir {

struct Sender::AckWork {
  Time now{};
  Time arrived{};
  const AckHeader* ack = nullptr;
  Bytes acked{};
  Bytes marked{};
  Bytes spurious{};
  Duration rtt{};  // 0: no sample
  PathId rtt_path = 0;
  Psn rtt_psn{};
  bool round_over = false;
};

void Sender::HandleAck(Time now, Time arrived, const AckHeader& ack) {
  // A cumulative number from before `una` is an old acknowledgement; one beyond what was sent is
  // none of ours.
  const int32_t ahead = Distance(window_.una(), ack.cumulative);
  if (ahead > static_cast<int32_t>(window_.span())) return;
  ++shared_.counters.acks_received;
  HeardFromPeer(now);
  if (static_cast<int32_t>(ack.receives - receives_) > 0) {
    receives_ = ack.receives;
    probes_in_row_ = 0;
  }

  AckWork work{.now = now, .arrived = arrived, .ack = &ack};
  MeasureRtt(arrived, ack, work);
  for (int w = 0; w < ack.words; ++w) {
    const uint64_t marked = ack.marked[w];
    const Psn base = ack.base + static_cast<uint32_t>(64 * w);
    window_.AckWord(base, ack.arrived[w], [&](Psn psn, TxRecord& record) {
      AckRecord(psn, record, (marked >> Distance(base, psn) & 1) != 0, work);
    });
  }
  window_.AckBelow(ahead > 0 ? ack.cumulative : window_.una(),
                   [&](Psn psn, TxRecord& record) { AckRecord(psn, record, false, work); });
  if (work.acked > Bytes(0)) TellAlgorithm(now, ack, work);
  HandleCredit(now, ack.credit);
  DetectLosses(now, arrived);
  EnterIdleIfDone(now);
}

// The echoed packet names one transmission, so the sample is good for retransmissions, too.
void Sender::MeasureRtt(Time arrived, const AckHeader& ack, AckWork& work) {
  if ((ack.flags & AckHeader::kProbeEcho) != 0) HandleProbeEcho(ack);
  if ((ack.flags & AckHeader::kEcho) == 0) return;
  const TxRecord* record = window_.Find(ack.echo);
  if (record == nullptr || record->state == TxState::kAcked || record->attempt != ack.attempt) {
    return;
  }
  const Duration rtt = arrived - record->sent - ack.hold;
  if (rtt <= Duration(0) || record->sent < shared_.stalled_until) {
    ++shared_.counters.rtt_rejected;
    return;
  }
  rtt_.Add(work.now, rtt);
  work.rtt = rtt;
  work.rtt_path = record->path;
  work.rtt_psn = ack.echo;
}

// A probe that came back is evidence like a packet sent when the probe was.
void Sender::HandleProbeEcho(const AckHeader& ack) {
  if (!probe_under_way_ || ack.echo.value() != probe_number_) return;
  if (static_cast<int32_t>(probe_seq_ - rack_seq_) > 0) {
    rack_seq_ = probe_seq_;
    rack_sent_ = probe_sent_;
    rack_valid_ = rack_by_probe_ = true;
  }
  probe_under_way_ = false;
}

void Sender::AckRecord(Psn psn, TxRecord& record, bool marked, AckWork& work) {
  const Bytes size(record.size);
  const uint16_t slot = TxWindow::Slot(psn);
  bool spurious = record.state == TxState::kLost;  // and not yet sent again
  if (spurious) {
    window_.Remove(window_.lost, slot);
    lost_bytes_ -= record.size;
  } else {
    window_.Remove(window_.in_flight, slot);
    in_flight_ -= size;
    // Sent again: which transmission arrived? The echo tells, or it was too quick for the last.
    const bool echoed = psn == work.ack->echo && (work.ack->flags & AckHeader::kEcho) != 0;
    if (record.attempt > 0) {
      spurious = echoed ? work.ack->attempt != record.attempt
                        : work.arrived - record.sent < 3 * rtt_.min() / 4;
    }
  }
  if (spurious) {
    work.spurious += size;
    ++stats_.spurious;
    ++shared_.counters.spurious_retransmissions;
  } else {
    if (!rack_valid_ || static_cast<int32_t>(record.send_seq - rack_seq_) > 0) {
      rack_valid_ = true;
      rack_by_probe_ = false;
      rack_seq_ = record.send_seq;
      rack_sent_ = record.sent;
      rack_path_ = record.path;
    }
    if (static_cast<int32_t>(record.send_seq - round_end_) >= 0) work.round_over = true;
  }
  record.state = TxState::kAcked;
  work.acked += size;
  if (marked) {
    work.marked += size;
    ++shared_.counters.marks_echoed;
  }
  TellPolicy({.now = work.now,
              .path = record.path,
              .event = marked ? PathEvent::kMarked : PathEvent::kGood,
              .rtt = psn == work.rtt_psn ? work.rtt : Duration(0)});
  FinishPiece(record);
}

void Sender::FinishPiece(const TxRecord& record) {
  TxMessage& message = shared_.tx_messages[record.message];
  if (++message.pieces_acked < message.pieces) return;
  shared_.completions.Push({.event = Event::kSent,
                            .connection = id_,
                            .cookie = message.cookie,
                            .bytes = message.length});
  Forget(record.message);
}

void Sender::TellAlgorithm(Time now, const AckHeader& ack, const AckWork& work) {
  if (work.round_over) {
    ++round_;
    round_end_ = next_send_seq_;
  }
  timeouts_in_row_ = probes_in_row_ = 0;
  last_progress_ = now;
  stats_.acked_bytes += static_cast<uint64_t>(work.acked.count());
  stats_.marked_bytes += static_cast<uint64_t>(work.marked.count());
  if (work.spurious > Bytes(0)) {
    // The window in which we wait for stragglers was too short.
    reorder_window_ =
        std::min(reorder_window_ + rtt_.min() / 4, std::max(loss_.reorder_window, rtt_.smoothed()));
    cc_->OnSpurious({.now = now, .round = round_, .bytes = work.spurious});
  }
  cc_->OnAck(
      {.now = now,
       .round = round_,
       .newly_acked = work.acked,
       .newly_marked = work.marked,
       .in_flight = in_flight_,
       .rtt = work.rtt,
       .limit = limit_,
       .host_stall = work.rtt == Duration(0) && now < shared_.stalled_until + rtt_.smoothed(),
       .path = work.rtt_path,
       .telemetry = std::span(ack.telemetry.data(), ack.records),
       .path_load = ack.path_load,
       .receiver_level = ack.receiver_level});
  RefreshAllowance();
}

}  // namespace weir
