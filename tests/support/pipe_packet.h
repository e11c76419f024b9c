// What a test sees of the packets in a pipe, and what it may do to them.
#pragma once

#include <functional>
#include <vector>

#include "cc_algos/registry.h"
#include "datapath/nic_port.h"
#include "datapath/sender.h"
#include "datapath/wire.h"
#include "lb_policies/registry.h"

namespace weir {

inline Binding Bind(const char* cc, const char* lb = "ecmp", uint32_t paths = 8) {
  const CcEntry* algorithm = FindCc(cc);
  const LbEntry* policy = FindLb(lb);
  return {.cc = algorithm,
          .cc_config = algorithm->defaults(),
          .lb = policy,
          .lb_config = policy->defaults(),
          .paths = paths};
}

// A packet that leaves side `from`; what is not of its type stays at its default.
struct Sight {
  int from = 0;
  int nth = 0;  // of its type from this side, counted from 0
  Time at{};    // its first bit leaves
  FrameInfo info{};
  DataHeader data{};
  AckHeader ack{};
  ControlHeader control{};
  FrameClass cls = FrameClass::kData;
};
struct Fate {
  int copies = 1;  // 0: lost
  Duration extra{};
  bool trim = false;
  bool mark = false;
  std::function<void(std::vector<std::byte>&)> edit{};
};

}  // namespace weir
