// Which paths to one destination do not work at present, known to all connections there.
//
//   fails `kStrikes` times in a row, or times out once   not usable; looked at after `grace`
//   at the look: nothing good came from any path         usable again: the fault is not the path's
//                other paths work                        out: probed, at first after `probe_first`
//   a probe is lost                                      the next after twice the interval
//   `kGoodProbes` probes in a row come back              usable, and remembered for a while:
//   fails again while remembered                         out, with twice the first interval
//
// At least half of the paths stay usable, whatever happens. Trims at the last hop and what a
// receiver refuses say nothing of a path and are never reported here.
//
// Source: MRC's states of an entropy value (ASSUMED_BAD, probed, GOOD), OCP 2026; the intervals of
// 1, 2, 4 ms and more and the growth with each relapse are ours.
#pragma once

#include <array>
#include <cstdint>

#include "datapath/api/signals.h"
#include "datapath/api/units.h"

namespace weir {

class PathHealth {
 public:
  static constexpr uint32_t kRoom = 64;  // paths known to be bad at a time
  static constexpr int kStrikes = 2;
  static constexpr int kGoodProbes = 2;
  static constexpr Duration kProbeFirst = Millis(1);
  static constexpr Duration kProbeMost = Seconds(1);

  PathHealth() = default;
  // `paths` of the connections there, >= 1; `grace`: within it an answer from a working path comes.
  PathHealth(uint32_t paths, Duration grace) : most_out_(paths / 2), grace_(grace) {}

  // --- For policies ---
  bool Usable(PathId path) const { return entries_ == 0 || FindOut(path) == nullptr; }
  uint32_t out() const { return out_; }  // paths not usable now

  // --- For the core ---
  void OnFeedback(const PathFeedback& feedback) {
    if (feedback.event == PathEvent::kGood || feedback.event == PathEvent::kMarked) {
      good_at_ = feedback.now;
      if (entries_ > 0) OnGood(feedback.path);
    } else if (feedback.event == PathEvent::kLost || feedback.event == PathEvent::kTimeout) {
      OnFailure(feedback);
    }
  }
  void OnProbeAnswer(Time now, PathId path);
  // When Next() has something to say.
  Time deadline() const { return deadline_; }
  // Does what is due by `now`; true: `path` is to be probed. Call until it says false.
  bool Next(Time now, PathId& path);

  uint64_t evictions() const { return evictions_; }
  uint64_t returns() const { return returns_; }

 private:
  enum class State : uint8_t {
    kWatched,    // has failed, is used
    kSuspected,  // not used until the look
    kOut,        // not used, probed
    kReturned,   // used again, remembered
  };
  struct Entry {
    PathId path = 0;
    State state = State::kWatched;
    uint8_t strikes = 0;
    uint8_t good_probes = 0;
    uint8_t relapses = 0;
    bool probe_pending = false;
    Duration interval{};
    Time since{};
    Time due = Time::Never();
  };

  const Entry* FindOut(PathId path) const;
  Entry* Find(PathId path);
  void OnGood(PathId path);
  void OnFailure(const PathFeedback& feedback);
  void Suspect(Time now, Entry& entry);
  void Look(Time now, Entry& entry);
  void Forget(Entry& entry);
  void Settle();  // the earliest deadline

  std::array<Entry, kRoom> table_{};
  uint32_t entries_ = 0;
  uint32_t out_ = 0;
  uint32_t most_out_ = 0;
  Duration grace_{};
  Time good_at_{INT64_MIN};
  Time deadline_ = Time::Never();
  uint64_t evictions_ = 0;
  uint64_t returns_ = 0;
};

// For policies that are built without a core.
inline constexpr PathHealth kAllPathsGood;

}  // namespace weir
