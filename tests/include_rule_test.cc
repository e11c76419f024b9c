// The include rule of docs/architecture.md, and what else a program can check of the house rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace weir {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = WEIR_SOURCE_DIR;

std::string Slurp(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> Sources(const std::string& folder) {
  std::vector<fs::path> out;
  if (!fs::exists(kRoot / folder)) return out;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".h" || extension == ".cc") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The quoted includes of a file: "datapath/api/units.h".
std::vector<std::string> Includes(const fs::path& path) {
  static const std::regex kInclude("^#include \"([^\"]+)\"");
  std::vector<std::string> out;
  std::istringstream lines(Slurp(path));
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) out.push_back(match[1]);
  }
  return out;
}

std::string Relative(const fs::path& path) { return fs::relative(path, kRoot).string(); }

bool StartsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

// Project folders that a folder may include from.
const std::map<std::string, std::vector<std::string>> kMayInclude = {
    {"datapath/api", {"datapath/api/"}},
    {"datapath", {"datapath/"}},
    {"nic_drivers", {"datapath/", "cc_algos/registry.h", "lb_policies/registry.h", "nic_drivers/"}},
    {"testbed", {"datapath/", "cc_algos/", "lb_policies/", "nic_drivers/", "testbed/"}},
};

TEST(IncludeRuleTest, EveryFolderIncludesOnlyWhatStandsBelowIt) {
  for (const auto& [folder, allowed] : kMayInclude) {
    for (const fs::path& path : Sources(folder)) {
      for (const std::string& include : Includes(path)) {
        if (StartsWith(include, "absl/")) continue;
        const bool ok = std::any_of(allowed.begin(), allowed.end(),
                                    [&](const std::string& a) { return StartsWith(include, a); });
        EXPECT_TRUE(ok) << Relative(path) << " includes " << include;
      }
    }
  }
}

TEST(IncludeRuleTest, APluginIncludesItsOwnFolderAndTheApiOnly) {
  for (const std::string folder : {"cc_algos", "lb_policies"}) {
    for (const fs::path& path : Sources(folder)) {
      if (path.stem() == "registry") continue;
      for (const std::string& include : Includes(path)) {
        const bool own = StartsWith(include, folder + "/") && include != folder + "/registry.h";
        EXPECT_TRUE(own || StartsWith(include, "datapath/api/"))
            << Relative(path) << " includes " << include;
      }
    }
  }
}

TEST(IncludeRuleTest, TheApiHasNoAbseilType) {
  for (const fs::path& path : Sources("datapath/api")) {
    EXPECT_EQ(Slurp(path).find("absl"), std::string::npos) << Relative(path);
  }
}

TEST(IncludeRuleTest, DeviceHeadersStayInTheirDriver) {
  static const std::regex kDevice("#include [<\"](rte_|infiniband/)");
  for (const std::string folder :
       {"datapath", "cc_algos", "lb_policies", "nic_drivers/host", "testbed"}) {
    for (const fs::path& path : Sources(folder)) {
      EXPECT_FALSE(std::regex_search(Slurp(path), kDevice)) << Relative(path);
    }
  }
}

// Neither a clock nor a random source: the same inputs give the same trace.
TEST(IncludeRuleTest, TheCoreReadsNoClockAndRollsNoDice) {
  static const std::regex kForbidden(
      "<chrono>|<random>|<ctime>|<thread>|<mutex>|<atomic>|std::rand|gettimeofday|clock_gettime|"
      "rdtsc|random_device|unordered_map|flat_hash_map");
  for (const std::string folder : {"datapath", "cc_algos", "lb_policies", "testbed/fabric"}) {
    for (const fs::path& path : Sources(folder)) {
      std::smatch match;
      const std::string text = Slurp(path);
      EXPECT_FALSE(std::regex_search(text, match, kForbidden))
          << Relative(path) << " has " << match.str();
    }
  }
}

// What the registry does not know is a part that plug-ins share.
bool IsPlugin(const std::string& folder, const std::string& stem) {
  const std::vector<std::string> registered = Includes(kRoot / folder / "registry.cc");
  return stem != "registry" &&
         std::count(registered.begin(), registered.end(), folder + "/" + stem + ".h") > 0;
}

TEST(IncludeRuleTest, APluginHasItsTestAndItsParagraph) {
  const std::map<std::string, std::string> docs = {{"cc_algos", "algorithms"},
                                                   {"lb_policies", "policies"}};
  for (const auto& [folder, doc] : docs) {
    const std::string text = Slurp(kRoot / "docs" / (doc + ".md"));
    std::string tests;
    for (const fs::path& path : Sources("tests/" + folder)) tests += Slurp(path);
    for (const fs::path& path : Sources(folder)) {
      const std::string stem = path.stem().string();
      if (path.extension() != ".h" || !IsPlugin(folder, stem)) continue;
      EXPECT_NE(text.find(stem), std::string::npos) << "docs/" << doc << ".md lacks " << stem;
      EXPECT_NE(tests.find(folder + "/" + stem + ".h"), std::string::npos)
          << "tests/" << folder << " has no test of " << stem;
    }
  }
}

TEST(IncludeRuleTest, NothingIncludesTestsOrBenches) {
  for (const std::string folder :
       {"datapath", "cc_algos", "lb_policies", "nic_drivers", "testbed"}) {
    for (const fs::path& path : Sources(folder)) {
      for (const std::string& include : Includes(path)) {
        EXPECT_FALSE(StartsWith(include, "tests/") || StartsWith(include, "bench/"))
            << Relative(path) << " includes " << include;
      }
    }
  }
}

}  // namespace
}  // namespace weir
