// Numbers out of JSON that may be damaged.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "testbed/traffic/import/parts.h"

namespace weir {

// `elements` of `element` bytes each; 0 for what is no number, and at most kSizeMax.
inline Bytes BytesOf(const nlohmann::json& elements, int64_t element) {
  if (!elements.is_number()) return Bytes(0);
  const double bytes = elements.get<double>() * static_cast<double>(element);
  if (!(bytes > 0)) return Bytes(0);
  return Bytes(static_cast<int64_t>(std::min(bytes, static_cast<double>(kSizeMax))));
}

// A count below kRanksMax at `key` of an object, or `otherwise`.
inline uint32_t Count(const nlohmann::json& object, const char* key, uint32_t otherwise) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return otherwise;
  const double value = found->get<double>();
  return value >= 0 && value <= kRanksMax ? static_cast<uint32_t>(value) : otherwise;
}

// A whole number at `key` of an object; `otherwise` if it is far beyond what a clock or counter
// shows.
inline int64_t Whole(const nlohmann::json& object, const char* key, int64_t otherwise) {
  constexpr double kMost = 4e18;
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if (found->is_number() && !(std::abs(found->get<double>()) < kMost)) return otherwise;
  return found->get<int64_t>();
}

// Microseconds, as profilers write them.
inline Duration MicrosOf(const nlohmann::json& value) {
  if (!value.is_number()) return Duration(0);
  const double micros = value.get<double>();
  if (!(std::abs(micros) < 9e15)) return Duration(0);
  return Duration(static_cast<int64_t>(std::llround(micros * 1e3)));
}

}  // namespace weir
