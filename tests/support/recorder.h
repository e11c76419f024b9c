// An algorithm for tests of the core: it allows what the test says and writes down what it is told.
#pragma once

#include <vector>

#include "datapath/sender.h"
#include "tests/support/pipe.h"

namespace weir {

struct CcLog {
  Allowance allowance{.window = MiB(1)};
  Bytes credit_wanted{};
  std::vector<SendSample> sends;
  std::vector<AckSample> acks;
  std::vector<LossSample> losses;
  std::vector<SpuriousSample> spurious;
  std::vector<TimeoutSample> timeouts;
  std::vector<Time> cnps;
  std::vector<Bytes> credits;
  int idles = 0;
  int resumes = 0;
};

class Recorder final : public CongestionControl {
 public:
  struct Config {
    CcLog* log = nullptr;
    ReceiverDuty duty{};
  };
  static constexpr std::span<const ParamSpec> kParams{};

  Recorder(const FlowInfo&, const Config& config) : log_(*config.log) {}
  static ReceiverDuty Duty(const FlowInfo&, const Config& config) { return config.duty; }

  void OnSend(const SendSample& s) override { log_.sends.push_back(s); }
  void OnAck(const AckSample& s) override { log_.acks.push_back(s); }
  void OnLoss(const LossSample& s) override { log_.losses.push_back(s); }
  void OnSpurious(const SpuriousSample& s) override { log_.spurious.push_back(s); }
  void OnTimeout(const TimeoutSample& s) override { log_.timeouts.push_back(s); }
  void OnCnp(Time now) override { log_.cnps.push_back(now); }
  void OnCredit(Time, Bytes granted) override { log_.credits.push_back(granted); }
  void OnIdle(Time) override { ++log_.idles; }
  void OnResume(Time, Duration) override { ++log_.resumes; }
  Bytes CreditWanted(Bytes) const override { return log_.credit_wanted; }
  Allowance allowance() const override { return log_.allowance; }

 private:
  CcLog& log_;
};

inline constexpr CcEntry kRecorder = CcPlugin<Recorder>("recorder", "for tests", "none", {});

inline Binding Record(CcLog& log, const char* lb = "ecmp", uint32_t paths = 8,
                      const ReceiverDuty& duty = {}) {
  Binding b = Bind("none", lb, paths);
  b.cc = &kRecorder;
  b.cc_config = ConfigBlob::Of(Recorder::Config{&log, duty});
  return b;
}

}  // namespace weir
