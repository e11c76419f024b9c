// DCQCN over one bottleneck, against the fluid model of Zhu et al., CoNEXT 2016.
#include "cc_algos/dcqcn.h"

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr double kSmallPacket = 1000;  // on the wire
constexpr uint16_t kSmallPayload = 1000 - DataOverhead(false);
constexpr Rate kRate = Gbps(40);

// The set-up of SIGCOMM 2015 section 5: Kmin 5 kB, Kmax 200 kB, Pmax 1 %.
NetworkSpec PaperSpec(uint32_t senders, Params params) {
  return {
      .topology = SingleBottleneck({.senders = senders, .rate = kRate, .delay = Nanos(900)}),
      .binding = Bind("dcqcn", params),
      .switches = {.mark_min = Bytes(5'000), .mark_max = Bytes(200'000), .mark_probability = 0.01},
      .endpoint = {.max_queue = Millis(5), .payload_max = kSmallPayload}};
}

double AlphaOf(Network& net, uint32_t flow) {
  Dcqcn copy = static_cast<const Dcqcn&>(net.sender(flow).cc());
  return copy.AlphaAt(net.now());
}

// Solves a^2 alpha = tau^2 R_AI R (b + d) (c + e) for p and returns alpha = 1 - (1-p)^(tau' R), in
// packets and seconds: tau = 50 us between CNPs, tau' = T = 55 us, B = 10 MB, F = 5.
double AlphaOfFluidModel(double packets_per_second) {
  const double rate = packets_per_second;
  const double tau = 50e-6;
  const double timer = 55e-6;
  const double counter = 10e6 / kSmallPacket;
  const double additive = 40e6 / 8 / kSmallPacket;
  double low = 1e-7;
  double high = 0.5;
  for (int i = 0; i < 100; ++i) {
    const double p = (low + high) / 2;
    const double cut = 1 - std::pow(1 - p, tau * rate);
    const double alpha = 1 - std::pow(1 - p, timer * rate);
    const double b = p / (std::pow(1 - p, -counter) - 1);
    const double c = std::pow(1 - p, 5 * counter) * b;
    const double d = p / (std::pow(1 - p, -timer * rate) - 1);
    const double e = std::pow(1 - p, 5 * timer * rate) * d;
    const double excess = cut * cut * alpha - tau * tau * additive * rate * (b + d) * (c + e);
    (excess > 0 ? high : low) = p;
  }
  return 1 - std::pow(1 - low, timer * rate);
}

// T-DCQCN-3. The fixed point does not depend on g; a larger one gets there sooner.
TEST(DcqcnScenario, AlphaSettlesAtTheFixedPointOfTheFluidModel) {
  EXPECT_NEAR(AlphaOfFluidModel(40e9 / 8 / kSmallPacket / 2), 0.101, 0.001);  // the paper's curve
  for (const uint32_t n : {2u, 4u}) {
    Network net(PaperSpec(n, {{"gain", 1.0 / 64}}));
    net.ConnectIncast(n);
    net.WriteAll();
    net.RunFor(Millis(25));  // seven time constants of 64 * 55 us
    net.Mark();
    double sum = 0;
    constexpr int kSamples = 150;
    for (int i = 0; i < kSamples; ++i) {
      net.RunFor(Micros(100));
      for (uint32_t f = 0; f < n; ++f) sum += AlphaOf(net, f) / n;
    }
    const double expected = AlphaOfFluidModel(40e9 / 8 / kSmallPacket / n);
    const double alpha = Measured("alpha_" + std::to_string(n), sum / kSamples);
    EXPECT_NEAR(alpha, expected, 0.25 * expected) << n;
    EXPECT_GT(net.Utilisation(LinkTo(net.topology(), n)), 0.98) << n;
  }
}

// T-DCQCN-4.
TEST(DcqcnScenario, TwoSendersShareWithin20Milliseconds) {
  Network net(PaperSpec(2, {}));
  net.ConnectIncast(2);
  net.Write(0);
  net.RunFor(Micros(100));
  net.Write(1);
  net.RunFor(Millis(15));
  net.Mark();
  net.RunFor(Millis(5));
  EXPECT_GT(Measured("jain", net.Jain()), 0.99);
}

// Sends a fixed window and writes down when CNPs come.
class CnpListener final : public CongestionControl {
 public:
  struct Config {};
  static constexpr std::array<ParamSpec, 0> kParams{};
  CnpListener(const FlowInfo& flow, const Config&) : window_(flow.bdp()) {}
  static ReceiverDuty Duty(const FlowInfo&, const Config&) { return {.cnp_interval = Micros(50)}; }
  void OnCnp(Time now) override { heard.push_back(now); }
  Allowance allowance() const override { return {.window = window_}; }

  static inline std::vector<Time> heard;

 private:
  Bytes window_;
};

// T-DCQCN-1: the first CNP answers the first mark, and each later one comes 50 us after the last.
TEST(DcqcnScenario, CnpsComeAtOnceAndThenOncePerInterval) {
  const CcEntry listener = CcPlugin<CnpListener>("listener", "hears CNPs", "none", Signal::kCnp);
  CnpListener::heard.clear();
  NetworkSpec spec{
      .topology = SingleBottleneck({.senders = 2, .rate = Gbps(100), .delay = Micros(3)}),
      .binding = Bind(listener),
      .switches = {.mark_min = Bytes(0), .mark_max = Bytes(0)},
      .endpoint = {.max_queue = Millis(1)}};
  Network net(spec);
  net.ConnectIncast(2);
  const Time start = net.now();
  net.WriteAll();
  net.RunFor(Millis(1));
  const std::vector<Time>& heard = CnpListener::heard;
  ASSERT_GE(heard.size(), 4u);
  // Two packets meet at the switch, one waits behind the other and the first to leave is marked.
  const Duration packet = kMtu / Gbps(100);
  EXPECT_LE(heard[0] - start, net.base_rtt() + 3 * packet);
  // Of both connections together: two each interval of 1 ms / 50 us = 20, up to the first.
  EXPECT_NEAR(static_cast<double>(heard.size()), 2 * 20, 2);
  // The connections take turns, and only packets that waited are marked: the next mark of one
  // comes a few packets after its interval, and a packet may be in the way of the CNP.
  for (size_t i = 2; i < heard.size(); ++i) {
    EXPECT_GE(heard[i] - heard[i - 2], Micros(50) - packet) << i;
    EXPECT_LE(heard[i] - heard[i - 2], Micros(50) + 6 * packet) << i;
  }
}

// Without a window nothing bounds what a line-rate start queues until CNPs have had their effect:
// with N senders (N-1) C flows into the queue for the first RTT, and each 50 us removes at most
// half of what is left. 100 Gb/s, 12 us: the reference peaks at 31 BDPs and drains in 50 RTTs with
// N = 8, and at 320 and 356 with N = 32. Orders of magnitude, because they depend on the marking.
TEST(DcqcnScenario, WithoutAWindowTheQueueIsTensToHundredsOfBdps) {
  struct Case {
    uint32_t senders;
    double peak;
    double drain;
  };
  for (const Case& c : {Case{8, 31, 50}, Case{32, 320, 356}}) {
    NetworkSpec spec = PaperSpec(c.senders, {});
    spec.topology = SingleBottleneck(
        {.senders = c.senders, .rate = Gbps(100), .delay = DelayFor(Micros(12), Gbps(100))});
    spec.endpoint = {.max_queue = Millis(8)};
    Network net(spec);
    const LinkId bottleneck = LinkTo(net.topology(), c.senders);
    net.ConnectIncast(c.senders);
    net.WriteAll();
    net.RunFor(Micros(12) * 4);
    int rtts = 4;
    while (net.Queue(bottleneck) > Bytes(150'000) && rtts < 2000) {
      net.RunFor(Micros(12));
      ++rtts;
    }
    const double peak = Ratio(net.world().fabric().port(bottleneck).queue_peak, Bytes(150'000));
    EXPECT_GT(peak, c.peak / 3) << c.senders;
    EXPECT_LT(peak, c.peak * 3) << c.senders;
    EXPECT_GT(rtts, c.drain / 3) << c.senders;
    EXPECT_LT(rtts, c.drain * 3) << c.senders;
    Measured("peak_bdps_" + std::to_string(c.senders), peak);
    Measured("drain_rtts_" + std::to_string(c.senders), rtts);
  }
}

// The optional window is what bounds it: at most N BDPs are in flight, N - 1 of them in the queue.
TEST(DcqcnScenario, AWindowOfOneBdpBoundsTheQueue) {
  NetworkSpec spec = PaperSpec(8, {{"window_bdps", 1}});
  spec.topology =
      SingleBottleneck({.senders = 8, .rate = Gbps(100), .delay = DelayFor(Micros(12), Gbps(100))});
  spec.endpoint = {.max_queue = Millis(8)};
  Network net(spec);
  net.ConnectIncast(8);
  net.WriteAll();
  net.RunFor(Millis(1));
  EXPECT_LE(net.world().fabric().port(LinkTo(net.topology(), 8)).queue_peak, Bytes(7 * 150'000));
}

}  // namespace
}  // namespace weir
