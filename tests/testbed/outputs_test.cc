// What `weir` writes besides tables for people: JSON by its schema, CSV, SQLite, a time line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "testbed/report/chrome_trace.h"
#include "testbed/report/embedded.h"
#include "testbed/report/table_sink.h"
#include "tests/support/run_weir.h"
#include "tests/support/temp_folder.h"

#ifdef WEIR_HAS_VALIJSON
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#endif

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

class OutputsTest : public testing::Test {
 protected:
  std::string At(const std::string& name) const { return folder_ / name; }
  // Two arms, five seeds, eight transfers each.
  std::string Ab(const std::string& more) const {
    return "ab --quiet --set fabric.leaves=2 --set fabric.hosts_per_leaf=4 --set fabric.spines=4 "
           "--set traffic.size=64kB --traffic permutation --cc nscc,none --lb reps "
           "--set run.seeds=5 " +
           more;
  }

  TempFolder folder_;
};

#ifdef WEIR_HAS_VALIJSON

// Empty, or what does not fit.
std::string Misfit(const Json& document) {
  const Json schema_json = Json::parse(EmbeddedFile("result.schema.json"));
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), schema);
  valijson::ValidationResults errors;
  valijson::Validator validator;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &errors)) {
    return "";
  }
  std::string out;
  valijson::ValidationResults::Error error;
  while (errors.popError(error)) {
    for (const std::string& part : error.context) out += part;
    out += ": " + error.description + "\n";
  }
  return out;
}

TEST_F(OutputsTest, ResultsOfRunAbLeagueAndMergeFitTheSchemaAndOthersDoNot) {
  ASSERT_EQ(Weir(Ab("--set run.sample_every=1us --json " + At("ab.json"))).exit_code, 0);
  Json ab = Json::parse(Content(At("ab.json")));
  EXPECT_EQ(Misfit(ab), "");
  EXPECT_EQ(ab["results"].size(), 10u);
  EXPECT_EQ(ab["fingerprint"]["driver"], "virtual time");
  std::ofstream(At("job.toml"))
      << "[fabric]\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\n[traffic]\n"
         "type = \"collective\"\ncollective = \"all_reduce\"\nranks = 8\n"
         "size = [\"64KiB\", \"256KiB\"]\n[[arms]]\ncc = \"nscc\"\nlb = \"reps\"\n"
         "[[arms]]\ncc = \"none\"\nlb = \"reps\"\n[[arms.rules]]\nsize_max = \"1kB\"\n"
         "cc = \"dctcp\"\nlb = \"ecmp\"\n[run]\nseeds = 5\n";
  const Outcome collective = Weir("ab --quiet " + At("job.toml") + " --json " + At("job.json") +
                                  " --html " + At("job.html"));
  ASSERT_EQ(collective.exit_code, 0) << collective.text;
  EXPECT_THAT(collective.text, HasSubstr("time of all_reduce 65.5 kB"));
  EXPECT_EQ(Misfit(Json::parse(Content(At("job.json")))), "");
  EXPECT_THAT(Content(At("job.html")), HasSubstr("Bus bandwidth of all_reduce"));
  // A stored result of collectives can be compared.
  EXPECT_EQ(Weir("compare " + At("job.json") + " " + At("job.json")).exit_code, 0);
  const std::string league = "league" + Ab("--json " + At("league.json")).substr(2);
  ASSERT_EQ(Weir(league).exit_code, 0);
  EXPECT_EQ(Misfit(Json::parse(Content(At("league.json")))), "");

  std::ofstream(At("s.toml"))
      << "[fabric]\nleaves = 2\nhosts_per_leaf = 2\nspines = 2\n"
         "[traffic]\nsize = \"10kB\"\n[[arms]]\ncc = \"nscc\"\nlb = \"reps\"\n"
         "[sweep]\nfabric.spines = [1, 2]\n";
  ASSERT_EQ(Weir("sweep " + At("s.toml") + " --out " + At("s")).exit_code, 0);
  ASSERT_EQ(Weir("merge " + At("s") + " --out " + At("s.json")).exit_code, 0);
  EXPECT_EQ(Misfit(Json::parse(Content(At("s.json")))), "");

  // What the schema does not name, or names otherwise, is refused.
  Json more = ab;
  more["results"][0]["surprise"] = 1;
  EXPECT_NE(Misfit(more), "");
  Json wrong = ab;
  wrong["results"][0]["transfers"][0]["size_bytes"] = "64kB";
  EXPECT_NE(Misfit(wrong), "");
  ab["ab"]["differences"][0].erase("p_adjusted");
  EXPECT_NE(Misfit(ab), "");
}

#else

TEST_F(OutputsTest, ResultsOfRunAbLeagueAndMergeFitTheSchemaAndOthersDoNot) {
  GTEST_SKIP() << "there is no valijson; install libvalijson-dev and build again";
}

#endif

TEST_F(OutputsTest, TheSchemaIsPrinted) {
  const Outcome schema = Weir("schema result");
  EXPECT_EQ(schema.exit_code, 0);
  EXPECT_EQ(Json::parse(schema.text), Json::parse(EmbeddedFile("result.schema.json")));
  EXPECT_EQ(Weir("schema nonsense").exit_code, 2);
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_F(OutputsTest, CsvHasARowForEveryRunAndTransfer) {
  ASSERT_EQ(Weir(Ab("--csv " + At("csv"))).exit_code, 0);
  const std::vector<std::string> runs = Lines(Content(At("csv/runs.csv")));
  ASSERT_EQ(runs.size(), 11u);
  EXPECT_EQ(runs[0].substr(0, 18), "run,arm,seed,finis");
  EXPECT_EQ(runs[1].substr(0, 16), "1,nscc/reps,1,1,");
  EXPECT_EQ(Lines(Content(At("csv/transfers.csv"))).size(), 81u);
}

TEST_F(OutputsTest, CsvQuotesWhatNeedsIt) {
  RunResult r{.arm = "a, \"b\"", .seed = 3};
  r.transfers.push_back({.from = 1,
                         .to = 2,
                         .size = Bytes(7),
                         .start = Nanos(5),
                         .sent = Duration::Max(),
                         .received = Duration::Max(),
                         .ideal = Nanos(9)});
  absl::StatusOr<std::unique_ptr<TableSink>> sink = MakeCsvSink(At("csv"), {"x.y"});
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->Add({"1"}, r).ok());
  ASSERT_TRUE((*sink)->Finish().ok());
  EXPECT_THAT(Content(At("csv/runs.csv")), HasSubstr("\r\n1,1,\"a, \"\"b\"\"\",3,0,1,"));
  EXPECT_THAT(Content(At("csv/transfers.csv")), HasSubstr("\r\n1,1,2,0,7,5,,,9\r\n"));
}

// The first column of the rows that `query` gives.
std::vector<std::string> Query(const std::string& file, const std::string& query) {
  std::vector<std::string> rows;
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open_v2(file.c_str(), &db, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  const auto add = [](void* out, int, char** values, char**) {
    static_cast<std::vector<std::string>*>(out)->emplace_back(values[0] == nullptr ? "null"
                                                                                   : values[0]);
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(db, query.c_str(), add, &rows, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
  return rows;
}

TEST_F(OutputsTest, SqliteHoldsRunsFactorsAndTransfers) {
  absl::StatusOr<std::unique_ptr<TableSink>> sink = MakeSqliteSink(At("r.db"), {"fabric.spines"});
  ASSERT_TRUE(sink.ok()) << sink.status().message();
  for (const uint64_t seed : {4u, 5u}) {
    RunResult r{.arm = "it's", .seed = seed, .goodput_bps = 1.5e9};
    r.transfers.push_back({.from = 1, .to = 2, .size = Bytes(100), .sent = Duration::Max()});
    ASSERT_TRUE((*sink)->Add({seed == 4 ? "1" : "2"}, r).ok());
  }
  ASSERT_TRUE((*sink)->Finish().ok());
  EXPECT_THAT(Query(At("r.db"), "SELECT seed FROM runs ORDER BY run"), ElementsAre("4", "5"));
  EXPECT_THAT(Query(At("r.db"), "SELECT sum(size_bytes) FROM transfers"), ElementsAre("200"));
  EXPECT_THAT(Query(At("r.db"), "SELECT sent_ns FROM transfers WHERE run = 1"),
              ElementsAre("null"));
  EXPECT_THAT(Query(At("r.db"),
                    "SELECT value FROM factors JOIN runs USING (run) WHERE seed = 5 "
                    "AND key = 'fabric.spines'"),
              ElementsAre("2"));
  EXPECT_FALSE(MakeSqliteSink("/nonexistent/r.db", {}).ok());
}

TEST_F(OutputsTest, SlicesOfAThreadInTheTimeLineNestAndNoneIsLost) {
  RunResult r{.arm = "a"};
  const auto add = [&r](int64_t start, int64_t end) {
    r.transfers.push_back({.from = 0,
                           .to = 1,
                           .size = Bytes(1000),
                           .start = Nanos(start),
                           .sent = Nanos(end),
                           .ideal = Nanos(100)});
  };
  add(0, 1000);
  add(500, 1500);  // overlaps the first
  add(1000, 2000);
  add(0, Duration::Max().count());  // never finished
  r.operations.push_back({.name = "all_reduce",
                          .size = Bytes(5000),
                          .ranks = 8,
                          .first_arrival = Nanos(100),
                          .last_arrival = Nanos(200),
                          .end = Nanos(1900)});
  const Json trace = ChromeTrace({r});
  std::map<std::pair<int, int>, double> busy_until;
  int slices = 0;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] != "X") continue;
    ++slices;
    double& until = busy_until[{e["pid"], e["tid"]}];
    EXPECT_GE(e["ts"].get<double>(), until);
    until = e["ts"].get<double>() + e["dur"].get<double>();
  }
  EXPECT_EQ(slices, 4);              // three transfers, a collective
  EXPECT_EQ(busy_until.size(), 3u);  // two threads for transfers that overlap, and its own
}

TEST_F(OutputsTest, ATimeLineIsWrittenForTheFirstSeedOfEveryArm) {
  ASSERT_EQ(Weir(Ab("--trace " + At("t.json"))).exit_code, 0);
  const Json trace = Json::parse(Content(At("t.json")));
  int slices = 0;
  int processes = 0;
  for (const Json& e : trace["traceEvents"]) {
    slices += e["ph"] == "X" ? 1 : 0;
    processes += e["name"] == "process_name" ? 1 : 0;
  }
  EXPECT_EQ(slices, 16);
  EXPECT_EQ(processes, 16);
}

TEST_F(OutputsTest, SamplingChangesNoDigestAndItsSumsAgree) {
  const std::string run =
      "run --quiet --set fabric.leaves=2 --set fabric.hosts_per_leaf=4 --set fabric.spines=4 "
      "--set traffic.size=200kB --traffic permutation --cc nscc --lb reps --json ";
  ASSERT_EQ(Weir(run + At("plain.json")).exit_code, 0);
  ASSERT_EQ(
      Weir(run + At("sampled.json") + " --set run.sample_every=500ns --set run.sample_flow=3-0")
          .exit_code,
      0);
  const Json plain = Json::parse(Content(At("plain.json")))["results"][0];
  const Json sampled = Json::parse(Content(At("sampled.json")))["results"][0];
  EXPECT_EQ(plain["digest"], sampled["digest"]);
  EXPECT_EQ(plain["events"], sampled["events"]);
  EXPECT_FALSE(plain.contains("samples"));
  const Json& s = sampled["samples"];
  const size_t n = s["at_ns"].size();
  ASSERT_GT(n, 20u);
  for (const char* series : {"queue_max_bytes", "load_max", "delivered_bps"}) {
    EXPECT_EQ(s[series].size(), n) << series;
  }
  // 8 x 200 kB arrive, with headers of less than 5 %; the last interval is not sampled.
  double bytes = 0;
  for (const double bps : s["delivered_bps"]) bytes += bps * 500e-9 / 8;
  EXPECT_GT(bytes, 0.93 * 1.6e6);
  EXPECT_LT(bytes, 1.06 * 1.6e6);
  for (const double load : s["load_max"]) EXPECT_LE(load, 1.1);
}

TEST_F(OutputsTest, WhatCannotBeWrittenIsNamed) {
  for (const char* option : {"--json", "--html", "--trace", "--csv"}) {
    const Outcome o = Weir(Ab(std::string(option) + " /proc/nowhere/x"));
    EXPECT_EQ(o.exit_code, 2) << option;
    EXPECT_THAT(o.text, HasSubstr("/proc/nowhere/x can't be")) << option;
  }
}

}  // namespace
}  // namespace weir
