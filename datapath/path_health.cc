#include "datapath/api/path_health.h"

#include <algorithm>

namespace weir {
namespace {

constexpr int kRelapsesMax = 8;
// A path that came back is remembered for so many times its probe interval.
constexpr int kMemory = 32;

}  // namespace

const PathHealth::Entry* PathHealth::FindOut(PathId path) const {
  for (uint32_t i = 0; i < entries_; ++i) {
    const Entry& entry = table_[i];
    if (entry.path != path) continue;
    return entry.state == State::kSuspected || entry.state == State::kOut ? &entry : nullptr;
  }
  return nullptr;
}

PathHealth::Entry* PathHealth::Find(PathId path) {
  for (uint32_t i = 0; i < entries_; ++i) {
    if (table_[i].path == path) return &table_[i];
  }
  return nullptr;
}

void PathHealth::OnGood(PathId path) {
  Entry* entry = Find(path);
  if (entry == nullptr) return;
  switch (entry->state) {
    case State::kWatched:
      Forget(*entry);
      break;
    case State::kSuspected:
      // What was thought lost had arrived.
      --out_;
      Forget(*entry);
      break;
    case State::kReturned:
      entry->strikes = 0;
      break;
    case State::kOut:  // an old packet; probes decide
      break;
  }
  Settle();
}

void PathHealth::OnFailure(const PathFeedback& feedback) {
  if (most_out_ == 0) return;
  Entry* entry = Find(feedback.path);
  if (entry == nullptr) {
    if (entries_ == kRoom) return;
    entry = &table_[entries_++];
    *entry = {.path = feedback.path, .interval = kProbeFirst};
  }
  if (entry->state == State::kSuspected || entry->state == State::kOut) return;
  entry->strikes = static_cast<uint8_t>(std::min(entry->strikes + 1, kStrikes));
  const bool enough = feedback.event == PathEvent::kTimeout || entry->strikes >= kStrikes;
  if (enough && out_ < most_out_) Suspect(feedback.now, *entry);
  if (entry->state == State::kWatched) entry->due = feedback.now + kMemory * kProbeFirst;
  Settle();
}

void PathHealth::Suspect(Time now, Entry& entry) {
  if (entry.state == State::kReturned) {
    entry.relapses = static_cast<uint8_t>(std::min(entry.relapses + 1, kRelapsesMax));
  }
  entry.state = State::kSuspected;
  entry.since = now;
  entry.due = now + grace_;
  ++out_;
}

void PathHealth::Look(Time now, Entry& entry) {
  if (good_at_ <= entry.since) {
    --out_;
    Forget(entry);
    return;
  }
  ++evictions_;
  entry.state = State::kOut;
  entry.good_probes = 0;
  entry.probe_pending = false;
  entry.interval = std::min(kProbeFirst * (int64_t{1} << entry.relapses), kProbeMost);
  entry.due = now + entry.interval;
}

void PathHealth::OnProbeAnswer(Time now, PathId path) {
  Entry* entry = Find(path);
  if (entry == nullptr || entry->state != State::kOut || !entry->probe_pending) return;
  entry->probe_pending = false;
  if (++entry->good_probes < kGoodProbes) return;
  ++returns_;
  --out_;
  entry->state = State::kReturned;
  entry->strikes = 0;
  entry->due = now + kMemory * entry->interval;
  Settle();
}

bool PathHealth::Next(Time now, PathId& path) {
  if (deadline_ > now) return false;
  for (uint32_t i = 0; i < entries_;) {
    Entry& entry = table_[i];
    if (entry.due > now) {
      ++i;
      continue;
    }
    switch (entry.state) {
      case State::kWatched:
      case State::kReturned:
        Forget(entry);  // another takes its place in the table
        continue;
      case State::kSuspected: {
        const uint32_t before = entries_;
        Look(now, entry);
        if (entries_ == before) ++i;
        continue;
      }
      case State::kOut:
        if (entry.probe_pending) {
          entry.good_probes = 0;
          entry.interval = std::min(2 * entry.interval, kProbeMost);
        }
        entry.probe_pending = true;
        entry.due = now + entry.interval;
        path = entry.path;
        Settle();
        return true;
    }
  }
  Settle();
  return false;
}

void PathHealth::Forget(Entry& entry) { entry = table_[--entries_]; }

void PathHealth::Settle() {
  deadline_ = Time::Never();
  for (uint32_t i = 0; i < entries_; ++i) deadline_ = std::min(deadline_, table_[i].due);
}

}  // namespace weir
