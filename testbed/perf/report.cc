#include "testbed/perf/report.h"

#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"

namespace weir {
namespace {

using nlohmann::json;

double InUnit(double bits, bool gbits) { return gbits ? bits / 1e9 : bits / 8 / (1 << 20); }

const char* Name(PerfKind kind) {
  switch (kind) {
    case PerfKind::kWrite:
      return "write";
    case PerfKind::kSend:
      return "send";
    case PerfKind::kEcho:
      return "latency";
  }
  return "?";
}

double BusyShare(const PollStats& p) {
  const auto all = static_cast<double>(p.busy_cycles + p.idle_cycles);
  return all > 0 ? static_cast<double>(p.busy_cycles) / all : 0;
}

double LongestGap(const PollStats& p) {  // microseconds
  return p.cycles_per_second > 0
             ? static_cast<double>(p.longest_gap_cycles) / p.cycles_per_second * 1e6
             : 0;
}

}  // namespace

std::string PerfHeading(const PerfPlan& plan, bool gbits) {
  if (plan.kind == PerfKind::kEcho) {
    return " #bytes  #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
           "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n";
  }
  return gbits
             ? " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
             : " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n";
}

std::string PerfRow(const PerfResult& r, bool gbits) {
  if (r.plan.kind == PerfKind::kEcho) {
    return absl::StrFormat(
        " %-7d %-12d   %-11.2f    %-11.2f  %-15.2f    %-11.2f    %-13.2f   %-20.2f   %-22.2f\n",
        r.plan.length, r.messages, r.t_min, r.t_max, r.t_typical, r.t_avg, r.t_stdev, r.t_99,
        r.t_999);
  }
  return absl::StrFormat(" %-10d %-14d %-18.2f %-20.2f %.6f\n", r.plan.length, r.messages,
                         InUnit(r.bandwidth_peak, gbits), InUnit(r.bandwidth, gbits), r.rate / 1e6);
}

std::string PerfNotes(const PerfResult& r) {
  std::string text;
  for (const ConnectionInfo& c : r.connections) {
    text += absl::StrFormat(
        "connection %#x to %s: %s over %s, payload %d B, rtt %s (min %s), window %s\n", c.id.value,
        c.remote, c.algorithm, c.policy, c.payload_max, Format(c.smoothed_rtt), Format(c.min_rtt),
        Format(c.allowance.window));
  }
  const Counters& n = r.counters;
  text += absl::StrFormat(
      "packets %d, retransmitted %d, judged lost and yet arrived %d, time-outs %d, marks echoed "
      "%d, host stalls %d\n",
      n.data_packets_sent, n.retransmitted_packets, n.spurious_retransmissions, n.timeouts,
      n.marks_echoed, n.host_stalls);
  if (n.clock_steps_back > 0) {
    text += absl::StrFormat("the port's clock ran backwards %d times: its driver is at fault\n",
                            n.clock_steps_back);
  }
  text +=
      absl::StrFormat("poll thread: %.0f %% busy, longest gap %.1f us; payload copied %d times\n",
                      100 * BusyShare(r.polls), LongestGap(r.polls), r.device.tx_copied);
  return text;
}

json PerfJson(const std::vector<PerfResult>& results, const Context& context) {
  json all = {{"schema", "weir.perf/1"},
              {"version", WEIR_VERSION},
              {"device",
               {{"name", context.options().device.device},
                {"mtu_bytes", context.device().caps().mtu},
                {"line_rate_bps", context.device().caps().line_rate.count()},
                {"features", context.device().features()},
                {"warnings", context.device().warnings()}}},
              {"results", json::array()}};
  for (const PerfResult& r : results) {
    json one = {{"test", Name(r.plan.kind)},
                {"MsgSize", r.plan.length},
                {"n_iterations", r.messages},
                {"qps", r.plan.connections},
                {"tx_depth", r.plan.depth},
                {"elapsed_ns", static_cast<int64_t>(r.elapsed * 1e9)},
                {"MsgRate", r.rate / 1e6},
                {"retransmitted_packets", r.counters.retransmitted_packets},
                {"spurious_retransmissions", r.counters.spurious_retransmissions},
                {"timeouts", r.counters.timeouts},
                {"host_stalls", r.counters.host_stalls},
                {"clock_steps_back", r.counters.clock_steps_back},
                {"tx_copied", r.device.tx_copied},
                {"poll_busy_share", BusyShare(r.polls)},
                {"poll_gap_longest_ns", static_cast<int64_t>(1e3 * LongestGap(r.polls))},
                {"connections", json::array()}};
    if (r.plan.kind == PerfKind::kEcho) {
      one.update({{"t_min", r.t_min},
                  {"t_max", r.t_max},
                  {"t_typical", r.t_typical},
                  {"t_avg", r.t_avg},
                  {"t_stdev", r.t_stdev},
                  {"percentile_99", r.t_99},
                  {"percentile_99.9", r.t_999}});
    } else {
      one.update({{"BW_average", InUnit(r.bandwidth, false)},
                  {"BW_peak", InUnit(r.bandwidth_peak, false)},
                  {"bandwidth_bps", r.bandwidth}});
    }
    for (const ConnectionInfo& c : r.connections) {
      one["connections"].push_back({{"remote", c.remote},
                                    {"cc", c.algorithm},
                                    {"lb", c.policy},
                                    {"payload_bytes", c.payload_max},
                                    {"rtt_smoothed_ns", c.smoothed_rtt.count()},
                                    {"rtt_min_ns", c.min_rtt.count()},
                                    {"packets", c.sent.packets},
                                    {"retransmits", c.sent.retransmits}});
    }
    all["results"].push_back(std::move(one));
  }
  return all;
}

}  // namespace weir
