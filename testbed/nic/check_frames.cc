// Checks below connections: do frames of every length get there, and whose fault is it if not?
#include <algorithm>
#include <chrono>
#include <cmath>

#include "absl/strings/str_format.h"
#include "testbed/nic/checks.h"
#include "testbed/nic/frame_trial.h"

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLinkMax = std::chrono::seconds(10);
constexpr auto kAnswerMax = std::chrono::seconds(3);
constexpr uint32_t kMiddle = 512;     // bytes
constexpr uint32_t kProbeFrames = 8;  // where one length is tried

// One way, all lengths together.
struct Way {
  std::string name;  // "A to B"
  CheckHost* from = nullptr;
  CheckHost* to = nullptr;
  DeviceView view{};  // of the sending device
  std::vector<uint32_t> lengths{};
  std::vector<FrameTrialResult> results{};

  FrameTrialResult Sum() const {
    FrameTrialResult sum;
    for (const FrameTrialResult& r : results) {
      sum.sent += r.sent;
      sum.arrived += r.arrived;
      sum.damaged += r.damaged;
      sum.malformed += r.malformed;
      sum.duplicates += r.duplicates;
      sum.reordered += r.reordered;
      sum.tx_dropped += r.tx_dropped;
      sum.rx_missed += r.rx_missed;
      sum.rx_errors += r.rx_errors;
      if (sum.breach.empty()) sum.breach = r.breach;
    }
    return sum;
  }
  bool nothing() const { return Sum().arrived == 0; }
};

FrameTrialResult Try(CheckedPair& pair, const Way& way, uint32_t length, uint32_t frames) {
  return RunFrameTrial(*way.from, *way.to,
                       {.packet = length, .count = frames, .trial = pair.NextTrial()});
}

// Until the link carries frames, or for as long as it may take to.
void AwaitFirst(CheckedPair& pair, const Way& way) {
  const Clock::time_point deadline = Clock::now() + pair.options().first_frame_max;
  const uint32_t shortest = FramePacketMin(way.view.address.v6);
  while (Try(pair, way, shortest, kProbeFrames).arrived == 0 && Clock::now() < deadline &&
         pair.reach().ok()) {
  }
}

// The longest length that arrives, given one that does and one that does not.
uint32_t LongestThatArrives(CheckedPair& pair, const Way& way, uint32_t good, uint32_t bad) {
  while (bad - good > 1) {
    const uint32_t middle = good + (bad - good) / 2;
    (Try(pair, way, middle, kProbeFrames).arrived > 0 ? good : bad) = middle;
  }
  return good;
}

// What is wrong this way; empty: nothing.
std::string WrongOn(CheckedPair& pair, const Way& way) {
  const FrameTrialResult sum = way.Sum();
  if (!sum.breach.empty())
    return absl::StrFormat("%s: %s; the driver is at fault", way.name, sum.breach);
  for (size_t i = 1; i < way.results.size(); ++i) {
    if (way.results[i].arrived > 0 || way.results[i - 1].arrived == 0) continue;
    const uint32_t longest = LongestThatArrives(pair, way, way.lengths[i - 1], way.lengths[i]);
    return absl::StrFormat(
        "%s: packets of up to %d bytes arrive, longer ones do not, though %d is the MTU; set the "
        "MTU of both devices, and of what is between them, to the same",
        way.name, longest, way.lengths.back());
  }
  if (sum.malformed + sum.damaged > 0) {
    return absl::StrFormat(
        "%s: %d of %d frames arrive with another length or content than they were sent with",
        way.name, sum.malformed + sum.damaged, sum.sent);
  }
  const uint32_t lost = sum.sent - sum.arrived;
  if (lost > 0) {
    const char* where = "no device counts them: they are lost on the way between";
    if (sum.tx_dropped > 0) where = "the sending device counts them as dropped";
    if (sum.rx_missed > 0) {
      where = "the receiving device had no buffer for them, or was polled too late";
    }
    if (sum.rx_errors > 0) where = "the receiving device counts them as damaged";
    return absl::StrFormat("%s: %.2f %% of frames are lost (%d of %d); %s", way.name,
                           100.0 * lost / sum.sent, lost, sum.sent, where);
  }
  if (sum.duplicates > 0) {
    return absl::StrFormat("%s: %d frames arrive twice; look for a loop on the way", way.name,
                           sum.duplicates);
  }
  return "";
}

}  // namespace

CheckOutcome CheckMtu(CheckedPair& pair) {
  const uint32_t a = pair.a().Look().caps.mtu, b = pair.b().Look().caps.mtu;
  if (a != b) {
    return Failed(absl::StrFormat(
        "the MTU of A is %d bytes, that of B %d: longer packets than the smaller are lost; set "
        "both, and what is between, to the same",
        a, b));
  }
  CheckOutcome out = Passed();
  out.figures = {{"bytes", std::to_string(a)}};
  return out;
}

CheckOutcome CheckLink(CheckedPair& pair) {
  const Clock::time_point deadline = Clock::now() + kLinkMax;
  while (!(pair.a().link_up() && pair.b().link_up()) && Clock::now() < deadline && pair.Poll()) {
  }
  const bool a = pair.a().link_up(), b = pair.b().link_up();
  if (a && b) return Passed();
  return Failed(
      absl::StrFormat("the link of %s is down; look at the cable, or take it up: ip link "
                      "set <interface> up",
                      a   ? "B"
                      : b ? "A"
                          : "both devices"));
}

CheckOutcome CheckAddresses(CheckedPair& pair) {
  for (const bool from_a : {true, false}) {
    CheckHost& asks = from_a ? pair.a() : pair.b();
    const NetAddress known = (from_a ? pair.b() : pair.a()).Look().address;
    NetAddress remote = known;
    remote.mac = {};
    absl::Status status = asks.Resolve(remote);
    const Clock::time_point deadline = Clock::now() + kAnswerMax;
    while (absl::IsUnavailable(status) && Clock::now() < deadline && pair.Poll()) {
      status = asks.Resolve(remote);
    }
    if (!status.ok()) {
      return Failed(absl::StrFormat("%s does not find the MAC address of %s: %s",
                                    from_a ? "A" : "B", from_a ? "B" : "A",
                                    std::string(status.message())));
    }
    if (remote.mac != known.mac) {
      return Failed(absl::StrFormat(
          "%s is told another MAC address for %s than it has: who else has this IP address?",
          from_a ? "A" : "B", from_a ? "B" : "A"));
    }
  }
  return Passed();
}

CheckOutcome CheckFrames(CheckedPair& pair) {
  Way ways[2] = {{.name = "A to B", .from = &pair.a(), .to = &pair.b()},
                 {.name = "B to A", .from = &pair.b(), .to = &pair.a()}};
  CheckOutcome out = Passed();
  for (Way& way : ways) {
    way.view = way.from->Look();
    AwaitFirst(pair, way);
    const uint32_t longest = way.view.caps.mtu;
    way.lengths = {FramePacketMin(way.view.address.v6), std::min(kMiddle, longest), longest};
    for (const uint32_t length : way.lengths) {
      way.results.push_back(Try(pair, way, length, pair.options().frames));
      if (!way.results.back().breach.empty()) break;
    }
    const FrameTrialResult sum = way.Sum();
    out.figures.push_back({way.name, absl::StrFormat("%d of %d", sum.arrived, sum.sent)});
    if (sum.reordered > 0) {
      out.figures.push_back({way.name + " out of order", std::to_string(sum.reordered)});
    }
  }
  std::string text;
  const bool a_nothing = ways[0].nothing(), b_nothing = ways[1].nothing();
  const bool breach = !ways[0].Sum().breach.empty() || !ways[1].Sum().breach.empty();
  if (a_nothing && b_nothing && !breach) {
    text = "no frame arrives either way: the two are not connected, or something between drops all";
  } else if (a_nothing != b_nothing && !breach) {
    text = absl::StrFormat(
        "no frame arrives from %s, while from %s they do: a filter, a switch's port or a cable "
        "that carries one way only",
        ways[a_nothing ? 0 : 1].name, ways[a_nothing ? 1 : 0].name);
  } else {
    for (const Way& way : ways) {
      const std::string wrong = WrongOn(pair, way);
      if (!wrong.empty()) text += (text.empty() ? "" : "; ") + wrong;
    }
  }
  if (a_nothing || b_nothing) pair.Block("frames do not get through");
  if (text.empty()) return out;
  out.result = CheckResult::kFailed;
  out.text = text;
  return out;
}

}  // namespace weir
