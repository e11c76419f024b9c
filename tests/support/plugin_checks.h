// What the conformance suites of both registries share.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "datapath/api/params.h"
#include "datapath/api/rng.h"

namespace weir {

// One number for a sequence of decisions.
class Digest {
 public:
  void Add(int64_t value) { value_ = Mix64(value_ ^ static_cast<uint64_t>(value)); }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
};

// A registry as a list that the test framework can iterate and name.
template <class Entry>
std::vector<const Entry*> Pointers(std::span<const Entry> all) {
  std::vector<const Entry*> pointers;
  for (const Entry& entry : all) pointers.push_back(&entry);
  return pointers;
}
template <class Entry>
std::string EntryName(const testing::TestParamInfo<const Entry*>& info) {
  std::string name = info.param->name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

// The defaults of an entry with one parameter changed.
template <class Entry>
ConfigBlob With(const Entry& entry, const ParamSpec& param, double value) {
  ConfigBlob config = entry.defaults();
  param.set(config.data(), value);
  return config;
}

inline bool IsSnakeCase(const std::string& name) {
  if (name.empty() || std::islower(static_cast<unsigned char>(name[0])) == 0) return false;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (std::islower(u) == 0 && std::isdigit(u) == 0 && c != '_') return false;
  }
  return true;
}

template <class Entry>
void CheckTables(const Entry& entry) {
  const ConfigBlob defaults = entry.defaults();
  std::set<std::string> names;
  for (const ParamSpec& param : entry.params) {
    SCOPED_TRACE(param.name);
    EXPECT_TRUE(IsSnakeCase(param.name));
    EXPECT_TRUE(names.insert(param.name).second) << "named twice";
    EXPECT_NE(std::string(param.meaning), "");
    EXPECT_NE(std::string(param.source), "");
    EXPECT_LT(param.min, param.max);
    EXPECT_GE(param.get(defaults.data()), param.min);
    EXPECT_LE(param.get(defaults.data()), param.max);
    for (const double value : {param.min, param.max}) {
      const ConfigBlob changed = With(entry, param, value);
      EXPECT_DOUBLE_EQ(param.get(changed.data()), value);
    }
  }
  names.clear();
  for (const CounterSpec& counter : entry.counters) {
    EXPECT_TRUE(IsSnakeCase(counter.name)) << counter.name;
    EXPECT_TRUE(names.insert(counter.name).second) << counter.name << " named twice";
    EXPECT_NE(std::string(counter.meaning), "");
  }
  EXPECT_NE(std::string(entry.summary), "");
  EXPECT_NE(std::string(entry.source), "");
}

// The paragraph of a plug-in in a page of docs/: its heading, and each parameter in backquotes.
template <class Entry>
void CheckParagraph(const Entry& entry, const std::string& page) {
  std::ifstream file(std::string(WEIR_SOURCE_DIR) + "/docs/" + page);
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_NE(text.str(), "") << "no docs/" << page;
  const std::string heading = std::string("\n## ") + entry.name + "\n";
  EXPECT_NE(text.str().find(heading), std::string::npos)
      << "docs/" << page << " has no paragraph '## " << entry.name << "'";
  for (const ParamSpec& param : entry.params) {
    EXPECT_NE(text.str().find(std::string("`") + param.name + "`"), std::string::npos)
        << "docs/" << page << " does not explain `" << param.name << "`";
  }
}

}  // namespace weir
