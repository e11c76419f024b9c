#include "testbed/nic/frame_trial.h"

#include <algorithm>

#include "testbed/nic/check_host.h"

namespace weir {
namespace {

constexpr uint32_t kAtOnce = 16;    // frames; fewer than any device's descriptors
constexpr uint32_t kHopeless = 64;  // of so many none arrived: the rest will not either

// A device may hand on what it was given only when it is polled: both are, all the time.
template <class Fn>
void PollUntil(CheckHost& one, CheckHost& other, Fn done) {
  while (!done()) {
    one.Poll();
    other.Poll();
  }
}

}  // namespace

FrameTrialResult RunFrameTrial(CheckHost& from, CheckHost& to, const FrameTrialOptions& options) {
  const NetAddress sender = from.Look().address;
  const NetAddress receiver = to.Look().address;
  to.StartFrames(options, sender, false);
  from.StartFrames(options, receiver, true);
  for (uint32_t goal = 0; goal < options.count;) {
    goal = std::min(options.count, goal + kAtOnce);
    from.GoOnTo(goal);
    PollUntil(from, to, [&] { return from.progress().sent >= goal || from.progress().stuck; });
    to.GoOnTo(from.progress().sent);
    PollUntil(to, from, [&] { return to.progress().settled; });
    if (from.progress().stuck || (goal >= kHopeless && to.progress().arrived == 0)) break;
  }
  const FrameTrialResult sent = from.EndFrames();
  FrameTrialResult result = to.EndFrames();
  result.sent = sent.sent;
  result.tx_dropped = sent.tx_dropped;
  if (!sent.breach.empty()) result.breach = sent.breach;
  return result;
}

}  // namespace weir
