// An algorithm for sprayed traffic: Inner, fed by the median delay over paths instead of that of
// the newest packet.
//
//   remember the RTT of the latest sample of each of the last `paths` distinct paths
//   rtt <- their median                                  for each acknowledgement with a sample
//
// One slow path of many then neither cuts the window nor, if it is the only fast one, grows it:
// that is for the load balancer to answer. With one path the median is the sample itself.
//
// Source: Gerstein, Silberstein, Keslassy, arXiv 2509.07907, for the median as the feedback of
// sprayed traffic, in MSwift and MNSCC. Ours: over which samples it is taken.
// Departure: samples older than four base RTTs are forgotten, so that a path that is no longer used
// has no say.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "datapath/api/congestion_control.h"

namespace weir {

template <class Inner>
struct MedianConfig {
  typename Inner::Config inner;
  int64_t paths = 7;
};

template <class Inner>
class MedianOverPaths final : public CongestionControl {
 public:
  static constexpr size_t kPathsMax = 7;
  using Config = MedianConfig<Inner>;
  static constexpr auto kParams = [] {
    constexpr auto inner = MovedParams<&Config::inner, std::size(Inner::kParams), Inner::kParams>();
    std::array<ParamSpec, inner.size() + 1> all{};
    const auto end = std::copy(inner.begin(), inner.end(), all.begin());
    *end = Param<&Config::paths>("paths", 1, static_cast<double>(kPathsMax),
                                 "paths over which the median is taken",
                                 "ours: three of them may be slow");
    return all;
  }();
  static constexpr auto& kCounters = Inner::kCounters;
  static_assert(internal::CcEvents<Inner>() == 0, "forward what else Inner listens to");

  MedianOverPaths(const FlowInfo& flow, const Config& config)
      : inner_(flow, config.inner),
        paths_(static_cast<size_t>(config.paths)),
        stale_after_(4 * flow.base_rtt) {}

  void OnAck(const AckSample& ack) override {
    AckSample median = ack;
    if (ack.rtt > Duration(0) && !ack.host_stall) {
      Remember(ack);
      median.rtt = Median();
    }
    inner_.OnAck(median);
  }
  void OnLoss(const LossSample& loss) override { inner_.OnLoss(loss); }
  void OnSpurious(const SpuriousSample& spurious) override { inner_.OnSpurious(spurious); }
  void OnTimeout(const TimeoutSample& timeout) override { inner_.OnTimeout(timeout); }
  void OnResume(Time now, Duration idle) override { inner_.OnResume(now, idle); }
  Snapshot snapshot() const override { return inner_.snapshot(); }
  void Restore(const Snapshot& snapshot) override { inner_.Restore(snapshot); }
  Allowance allowance() const override { return inner_.allowance(); }
  std::span<const uint64_t> counters() const override { return inner_.counters(); }

  const Inner& inner() const { return inner_; }

 private:
  struct Sample {
    Time at{};
    Duration rtt{};
    PathId path = 0;
  };

  // Newest first.
  void Remember(const AckSample& ack) {
    const auto gone = [&](const Sample& s) {
      return s.path == ack.path || ack.now - s.at > stale_after_;
    };
    count_ = static_cast<size_t>(std::remove_if(samples_.begin(), samples_.begin() + count_, gone) -
                                 samples_.begin());
    count_ = std::min(count_ + 1, paths_);
    std::copy_backward(samples_.begin(), samples_.begin() + count_ - 1, samples_.begin() + count_);
    samples_[0] = {.at = ack.now, .rtt = ack.rtt, .path = ack.path};
  }

  // Of an even number, the mean of the two in the middle.
  Duration Median() const {
    std::array<Duration, kPathsMax> sorted;
    for (size_t i = 0; i < count_; ++i) sorted[i] = samples_[i].rtt;
    std::sort(sorted.begin(), sorted.begin() + count_);
    return (sorted[(count_ - 1) / 2] + sorted[count_ / 2]) / 2;
  }

  Inner inner_;
  size_t paths_;
  Duration stale_after_;
  size_t count_ = 0;  // of samples_, at most paths_
  std::array<Sample, kPathsMax> samples_{};
};

}  // namespace weir
