// Metadata of a plug-in: its tunables and its counters, with units, ranges and sources.
//
// Configuration checks, `weir show`, reports and documentation are built from these tables, with
// no further code in the plug-in. A tunable is a member of the plug-in's `struct Config`; its
// default is the member's initializer, so it is written down once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "datapath/api/units.h"

namespace weir {

enum class ParamUnit : uint8_t { kBytes, kDuration, kRate, kRatio, kCount, kFlag, kChoice };

// One tunable. Values travel as double: exact for every integer quantity below 2^53.
struct ParamSpec {
  const char* name;
  ParamUnit unit;
  double min;
  double max;
  const char* meaning;
  const char* source;  // of the default
  void (*set)(void* config, double value);
  double (*get)(const void* config);
  const char* choices = nullptr;  // kChoice: "first|second|third", for 0, 1, 2
};

// One counter a plug-in exports; the order is that of `CongestionControl::counters()`.
struct CounterSpec {
  const char* name;
  const char* meaning;
};

namespace internal {
template <class T>
struct MemberOf;
template <class C, class V>
struct MemberOf<V C::*> {
  using Class = C;
  using Value = V;
};

template <class V>
constexpr double ToDouble(V v) {
  if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
    return static_cast<double>(v);
  } else {
    return static_cast<double>(v.count());
  }
}
template <class V>
constexpr V FromDouble(double d) {
  if constexpr (std::is_same_v<V, bool>) {
    return d != 0;
  } else if constexpr (std::is_floating_point_v<V>) {
    return static_cast<V>(d);
  } else if constexpr (std::is_enum_v<V>) {
    return static_cast<V>(static_cast<int>(d));
  } else if constexpr (std::is_integral_v<V>) {
    return static_cast<V>(d);
  } else {
    return V(static_cast<int64_t>(d));
  }
}
template <class V>
constexpr ParamUnit DefaultUnit() {
  if constexpr (std::is_same_v<V, Bytes>) return ParamUnit::kBytes;
  if constexpr (std::is_same_v<V, Duration>) return ParamUnit::kDuration;
  if constexpr (std::is_same_v<V, Rate>) return ParamUnit::kRate;
  if constexpr (std::is_same_v<V, bool>) return ParamUnit::kFlag;
  if constexpr (std::is_floating_point_v<V>) return ParamUnit::kRatio;
  return ParamUnit::kCount;
}
}  // namespace internal

// A row of a plug-in's parameter table: Param<&Config::gain>("gain", 0.0, 1.0, "...", "RFC ...").
// `min` and `max` are in base units (bytes, nanoseconds, bits a second).
template <auto Member>
constexpr ParamSpec Param(const char* name, double min, double max, const char* meaning,
                          const char* source) {
  using Class = typename internal::MemberOf<decltype(Member)>::Class;
  using Value = typename internal::MemberOf<decltype(Member)>::Value;
  return {name,
          internal::DefaultUnit<Value>(),
          min,
          max,
          meaning,
          source,
          [](void* config, double value) {
            static_cast<Class*>(config)->*Member = internal::FromDouble<Value>(value);
          },
          [](const void* config) {
            return internal::ToDouble(static_cast<const Class*>(config)->*Member);
          }};
}

// A row for an enumeration, whose values are named in order: "first|second|third".
template <auto Member>
constexpr ParamSpec ChoiceParam(const char* name, const char* choices, const char* meaning,
                                const char* source) {
  int last = 0;
  for (const char* c = choices; *c != '\0'; ++c) last += *c == '|' ? 1 : 0;
  ParamSpec row = Param<Member>(name, 0, last, meaning, source);
  row.unit = ParamUnit::kChoice;
  row.choices = choices;
  return row;
}

// The rows of a table whose Config is a member of a larger one.
template <auto Member, size_t N, const auto& Rows>
constexpr auto MovedParams() {
  using Outer = typename internal::MemberOf<decltype(Member)>::Class;
  return []<size_t... I>(std::index_sequence<I...>) {
    const auto moved = []<size_t J>(std::integral_constant<size_t, J>) {
      ParamSpec row = Rows[J];
      row.set = [](void* config, double value) {
        Rows[J].set(&(static_cast<Outer*>(config)->*Member), value);
      };
      row.get = [](const void* config) {
        return Rows[J].get(&(static_cast<const Outer*>(config)->*Member));
      };
      return row;
    };
    return std::array<ParamSpec, N>{moved(std::integral_constant<size_t, I>{})...};
  }
  (std::make_index_sequence<N>());
}

// Room for any plug-in's Config, copied by value into rules, arms and connections.
class ConfigBlob {
 public:
  static constexpr size_t kBytes = 256;

  template <class Config>
  static ConfigBlob Of(const Config& config) {
    static_assert(sizeof(Config) <= kBytes && std::is_trivially_copyable_v<Config>);
    ConfigBlob blob;
    ::new (blob.bytes_) Config(config);
    return blob;
  }
  template <class Config>
  const Config& As() const {
    return *std::launder(reinterpret_cast<const Config*>(bytes_));
  }
  void* data() { return bytes_; }
  const void* data() const { return bytes_; }

 private:
  alignas(16) std::byte bytes_[kBytes] = {};
};

}  // namespace weir
