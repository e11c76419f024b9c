// No reaction: one window and one rate for the whole life of the connection.
//
//   W = `window`, or one BDP      R = `rate`, or no limit
//
// The baseline, and the right choice where admission is decided above the transport. Alone on its
// path a connection gets min(R, W / (T + q/C)); N of them hold a queue of N W - BDP.
//
// Source: the CONSTANT mode of uet-htsim, `uec.cpp`.
// Departure: the window is never below one packet, because a smaller one without a rate would never
// send.
#pragma once

#include "datapath/api/congestion_control.h"

namespace weir {

class None final : public CongestionControl {
 public:
  struct Config {
    Bytes window{};  // 0: one BDP
    Rate rate{};     // 0: not paced
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::window>("window", 0, 1e9, "bytes in flight; 0: one BDP", "uet-htsim CONSTANT"),
      Param<&Config::rate>("rate", 0, 1e12, "pacing rate; 0: not paced", "uet-htsim CONSTANT"),
  };

  None(const FlowInfo& flow, const Config& config);

  Allowance allowance() const override { return allowance_; }

 private:
  Allowance allowance_;
};

}  // namespace weir
