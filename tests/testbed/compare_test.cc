// `weir compare`: what is shown to be worse, what is not, and what cannot be compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/run_weir.h"
#include "tests/support/temp_folder.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class CompareTest : public testing::Test {
 protected:
  // Ten seeds of one arm, paced; the noise is of spraying.
  std::string Store(const std::string& name, const std::string& more) {
    const std::string path = folder_ / name;
    const Outcome run = Weir(
        "run --quiet --set fabric.leaves=2 --set fabric.hosts_per_leaf=4 --set "
        "fabric.spines=4 --set fabric.rate=100Gbps --traffic permutation "
        "--set traffic.size=1MB --cc none --lb oblivious --set run.seeds=10 " +
        more + " --json " + path);
    EXPECT_EQ(run.exit_code, 0) << run.text;
    return path;
  }
  static void Write(const std::string& path, const Json& json) {
    std::ofstream(path) << json.dump();
  }

  TempFolder folder_;
};

constexpr char kRate[] = "--set arms.0.cc_params.rate=";

TEST_F(CompareTest, TheSameRunsAreTheSameAndNoRegression) {
  const std::string base = Store("base", std::string(kRate) + "50Gbps");
  const Outcome same = Weir("compare " + base + " " + base);
  EXPECT_EQ(same.exit_code, 0) << same.text;
  EXPECT_THAT(same.text, HasSubstr("10 of 10 pairs of runs are the same to the bit"));
  EXPECT_THAT(same.text, HasSubstr("fingerprints and configuration are the same"));
}

TEST_F(CompareTest, TwoPercentSlowerIsARegressionAndTwoPercentFasterIsNot) {
  const std::string base = Store("base", std::string(kRate) + "50Gbps");
  const std::string slower = Store("slower", std::string(kRate) + "49Gbps");
  const Outcome worse = Weir("compare " + base + " " + slower);
  EXPECT_EQ(worse.exit_code, 1);
  EXPECT_THAT(worse.text, HasSubstr("REGRESSION: none/oblivious: last completion +"));
  // The configuration is not the same, and that is said.
  EXPECT_THAT(worse.text,
              HasSubstr("DIFFERS experiment.given.arms.0.cc_params.rate: '50Gbps' -> '49Gbps'"));
  EXPECT_THAT(worse.text, HasSubstr("UNSOUND"));
  EXPECT_EQ(Weir("compare " + slower + " " + base).exit_code, 0);
  EXPECT_EQ(Weir("compare --tolerance 5 " + base + " " + slower).exit_code, 0);
}

// Other random choices only: an A/A comparison of two stored results.
TEST_F(CompareTest, OtherRandomChoicesAreNoRegression) {
  const std::string base = Store("base", std::string(kRate) + "50Gbps");
  const std::string salted = Store("salted", std::string(kRate) + "50Gbps --set arms.0.salt=1");
  const Outcome o = Weir("compare " + base + " " + salted);
  EXPECT_EQ(o.exit_code, 0) << o.text;
  EXPECT_THAT(o.text, Not(HasSubstr("to the bit")));
}

TEST_F(CompareTest, AnotherRevisionOrMachineIsNamedAndAnotherDriverMakesItUnsound) {
  const std::string base = Store("base", std::string(kRate) + "50Gbps");
  const std::string other = Store("other", std::string(kRate) + "50Gbps");
  Json json = Json::parse(Content(other));
  json["fingerprint"]["revision"] = "v9";
  json["fingerprint"]["system"] = "Plan 9";
  Write(other, json);
  const Outcome sound = Weir("compare " + base + " " + other);
  EXPECT_EQ(sound.exit_code, 0);
  EXPECT_THAT(sound.text, HasSubstr("-> v9"));
  EXPECT_THAT(sound.text, HasSubstr("differs system"));
  EXPECT_THAT(sound.text, Not(HasSubstr("UNSOUND")));
  json["fingerprint"]["driver"] = "DPDK 1.0, net_ring";
  Write(other, json);
  EXPECT_THAT(Weir("compare " + base + " " + other).text, HasSubstr("UNSOUND"));
}

TEST_F(CompareTest, RunsThatNoLongerFinishAreARegression) {
  const std::string base = Store("base", "--set run.seeds=5");
  const std::string other = Store("other", "--set run.seeds=5");
  Json json = Json::parse(Content(other));
  json["results"][2]["finished"] = false;
  Write(other, json);
  const Outcome o = Weir("compare " + base + " " + other);
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_THAT(o.text, HasSubstr("1 of 5 runs do not finish, 0 did not before"));
}

TEST_F(CompareTest, BadInputIsNamedWithItsRemedy) {
  const std::string base = Store("base", "--set run.seeds=4");
  const auto refused = [&](const std::string& arguments, const char* why) {
    const Outcome o = Weir("compare " + arguments);
    EXPECT_EQ(o.exit_code, 2) << o.text;
    EXPECT_THAT(o.text, HasSubstr(why));
  };
  refused("nowhere.json " + base, "no such file");
  refused("README.md " + base, "is not JSON");
  Json json = Json::parse(Content(base));
  const std::string other = Store("other", "--set run.seeds=4 --set arms.0.salt=2");
  refused(base + " " + other, "nothing can be judged");  // four seeds
  json["results"][0].erase("makespan_ns");
  Write(base, json);
  refused(base + " " + other, "makespan_ns");
  json["schema"] = 7;
  Write(base, json);
  refused(base + " " + other, "has the schema \"(none)\"");
  json["schema"] = "weir.perf/1";
  Write(base, json);
  refused(base + " " + other, "weir.result/1 or weir.sweep/1 is wanted");
}

}  // namespace
}  // namespace weir
