// Request traces of language-model services.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "testbed/traffic/import/json_parts.h"
#include "testbed/traffic/import/parts.h"

namespace weir {
namespace {

constexpr uint32_t kTokensMax = 100'000'000;
constexpr uint32_t kBlockTokens = 512;  // of Mooncake's hash_ids

// TIMESTAMP,ContextTokens,GeneratedTokens
absl::StatusOr<RequestTrace> ReadAzure(const std::string& file,
                                       const std::vector<std::string>& lines) {
  RequestTrace trace;
  std::optional<absl::Time> begin;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const std::vector<std::string> words = SplitWords(lines[i], ",");
    absl::Time at;
    std::string error;
    if (words.size() != 3 ||
        !absl::ParseTime("%Y-%m-%d %H:%M:%E*S", words[0], absl::UTCTimeZone(), &at, &error)) {
      return ErrorAt(file, i + 1, "write a time as in 2023-11-16 18:17:03.97, and two counts");
    }
    const auto context = WholeNumber(words[1], 0, kTokensMax);
    const auto generated = WholeNumber(words[2], 0, kTokensMax);
    if (!context.has_value() || !generated.has_value()) {
      return ErrorAt(file, i + 1, "the counts of tokens are no numbers");
    }
    if (!begin.has_value()) begin = at;
    trace.requests.push_back({.arrival = Duration(absl::ToInt64Nanoseconds(at - *begin)),
                              .context = static_cast<uint32_t>(*context),
                              .generated = static_cast<uint32_t>(*generated)});
  }
  return trace;
}

// {"timestamp": MS, "input_length": N, "output_length": N, "hash_ids": [...]}
absl::StatusOr<RequestTrace> ReadMooncake(const std::string& file,
                                          const std::vector<std::string>& lines) {
  RequestTrace trace;
  std::set<int64_t> seen;
  std::optional<double> begin;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const nlohmann::json request = nlohmann::json::parse(lines[i], nullptr, false);
    if (!request.is_object() || !request.contains("timestamp") ||
        !request["timestamp"].is_number()) {
      return ErrorAt(file, i + 1, "is no JSON object with a timestamp");
    }
    const double at = request["timestamp"].get<double>();
    if (!begin.has_value()) begin = at;
    Request r{.arrival = MicrosOf(nlohmann::json((at - *begin) * 1e3)),
              .context = Count(request, "input_length", 0),
              .generated = Count(request, "output_length", 0)};
    uint32_t known = 0;
    for (const nlohmann::json& id : request.value("hash_ids", nlohmann::json::array())) {
      if (id.is_number_integer() && !seen.insert(id.get<int64_t>()).second) ++known;
    }
    r.cached = std::min(r.context, known * kBlockTokens);
    trace.requests.push_back(r);
  }
  return trace;
}

}  // namespace

absl::StatusOr<RequestTrace> ImportRequests(const std::string& path) {
  const absl::StatusOr<std::vector<NamedText>> files = ReadFileSet(path);
  if (!files.ok()) return files.status();
  if (files->size() != 1) return BadFile(path, "a request trace is one file");
  return ReadRequests(files->front());
}

absl::StatusOr<RequestTrace> ReadRequests(const NamedText& file) {
  const std::vector<std::string> lines = LinesOf(file.text);
  if (lines.empty()) return BadFile(file.name, "is empty");
  absl::StatusOr<RequestTrace> trace = lines[0].rfind("TIMESTAMP", 0) == 0
                                           ? ReadAzure(file.name, lines)
                                           : ReadMooncake(file.name, lines);
  if (!trace.ok()) return trace;
  if (trace->requests.empty()) return BadFile(file.name, "there is no request in it");
  for (size_t i = 1; i < trace->requests.size(); ++i) {
    Request& r = trace->requests[i];
    if (r.arrival < trace->requests[i - 1].arrival) {
      return BadFile(file.name, absl::StrFormat("request %d arrives before the one above it", i));
    }
  }
  return trace;
}

}  // namespace weir
