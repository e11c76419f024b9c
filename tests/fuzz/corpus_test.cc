// Replays what the fuzzers have kept, and random inputs besides, where no fuzzer is at hand.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "gtest/gtest.h"
#include "tests/fuzz/endpoint_target.h"
#include "tests/fuzz/wire_target.h"

namespace weir {
namespace {

using Target = void (*)(std::span<const uint8_t>);

// Each file of the corpus; at least one.
void Replay(const char* name, Target target) {
  const std::filesystem::path folder =
      std::filesystem::path(WEIR_SOURCE_DIR) / "tests/fuzz/corpus" / name;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
    target(bytes);
    ++files;
  }
  EXPECT_GT(files, 0);
}

std::vector<uint8_t> AnyBytes(uint64_t seed, uint32_t most) {
  Rng rng(seed);
  std::vector<uint8_t> bytes(rng.Below(most));
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng.Next() >> 32);
  return bytes;
}

TEST(CorpusTest, WireStandsIt) { Replay("wire", FuzzWire); }

TEST(CorpusTest, EndpointStandsIt) { Replay("endpoint", FuzzEndpoint); }

TEST(CorpusTest, EndpointStandsRandomBytes) {
  for (uint64_t seed = 1; seed <= 300; ++seed) FuzzEndpoint(AnyBytes(seed, 3000));
}

}  // namespace
}  // namespace weir
