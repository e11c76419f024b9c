// Replays what the fuzzers have kept, and random inputs besides, where no fuzzer is at hand.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "gtest/gtest.h"
#include "tests/fuzz/endpoint_target.h"
#include "tests/fuzz/import_target.h"
#include "tests/fuzz/wire_target.h"

namespace weir {
namespace {

using Target = void (*)(std::span<const uint8_t>);

// The files of the corpus, by name; at least one.
std::vector<std::vector<uint8_t>> CorpusOf(const char* name) {
  const std::filesystem::path folder =
      std::filesystem::path(WEIR_SOURCE_DIR) / "tests/fuzz/corpus" / name;
  const std::filesystem::directory_iterator entries(folder);
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : entries) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::vector<uint8_t>> files;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  EXPECT_FALSE(files.empty()) << folder;
  return files;
}

void Replay(const char* name, Target target) {
  SCOPED_TRACE(name);
  for (const std::vector<uint8_t>& bytes : CorpusOf(name)) target(bytes);
}

std::vector<uint8_t> AnyBytes(uint64_t seed, uint32_t most) {
  Rng rng(seed);
  std::vector<uint8_t> bytes(rng.Below(most));
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng.Next() >> 32);
  return bytes;
}

TEST(CorpusTest, WireStandsIt) { Replay("wire", FuzzWire); }

TEST(CorpusTest, EndpointStandsIt) { Replay("endpoint", FuzzEndpoint); }

TEST(CorpusTest, ImportersStandIt) {
  for (const FuzzTarget& target : kImportTargets) Replay(target.name, target.run);
}

// A byte in a real file that is another, cut off, or doubled.
TEST(CorpusTest, ImportersStandDamagedFiles) {
  for (const FuzzTarget& target : kImportTargets) {
    for (const std::vector<uint8_t>& original : CorpusOf(target.name)) {
      Rng rng(7);
      for (int round = 0; round < 100; ++round) {
        std::vector<uint8_t> bytes = original;
        const auto at = [&] { return rng.Below(static_cast<uint32_t>(bytes.size())); };
        bytes[at()] = static_cast<uint8_t>(rng.Next());
        bytes[at()] = static_cast<uint8_t>('0' + rng.Below(10));
        if (round % 4 == 0) bytes.resize(at() + 1);
        SCOPED_TRACE(target.name);
        target.run(bytes);
      }
    }
  }
}

TEST(CorpusTest, EndpointStandsRandomBytes) {
  for (uint64_t seed = 1; seed <= 300; ++seed) FuzzEndpoint(AnyBytes(seed, 3000));
}

}  // namespace
}  // namespace weir
