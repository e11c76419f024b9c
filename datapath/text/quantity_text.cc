#include "datapath/text/quantity_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace weir {
namespace {

struct Unit {
  const char* name;
  int64_t factor;  // base units in one
};

// A kind of quantity. Units by size, the base unit first.
struct Kind {
  const char* noun;
  std::span<const Unit> units;
  const char* example;
};

constexpr int64_t kKilo = 1000;
constexpr int64_t kKibi = 1024;

constexpr Unit kByteUnits[] = {{"B", 1},
                               {"kB", kKilo},
                               {"KiB", kKibi},
                               {"MB", kKilo* kKilo},
                               {"MiB", kKibi* kKibi},
                               {"GB", kKilo* kKilo* kKilo},
                               {"GiB", kKibi* kKibi* kKibi}};
constexpr Unit kDurationUnits[] = {
    {"ns", 1}, {"us", kKilo}, {"ms", kKilo* kKilo}, {"s", kKilo* kKilo* kKilo}};
constexpr Unit kRateUnits[] = {{"bps", 1},
                               {"kbps", kKilo},
                               {"Mbps", kKilo* kKilo},
                               {"Gbps", kKilo* kKilo* kKilo},
                               {"Tbps", kKilo* kKilo* kKilo* kKilo}};

constexpr Kind kBytesKind = {"size", kByteUnits, "64KiB"};
constexpr Kind kDurationKind = {"duration", kDurationUnits, "250us"};
constexpr Kind kRateKind = {"rate", kRateUnits, "100Gbps"};

constexpr char kDigits[] = "0123456789";
// 24 digits times the largest unit, 10^12, stay within 128 bits.
constexpr size_t kDigitsMax = 24;
constexpr Int128 kValueMax = Bytes::Max().count();

absl::Status Refuse(const Kind& kind, const std::string& text, const std::string& why) {
  std::string units;
  for (const Unit& unit : kind.units) absl::StrAppend(&units, " ", unit.name);
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" ", why, "; write a ", kind.noun,
                                                 " as a number and one of", units, ", such as \"",
                                                 kind.example, "\""));
}

// Digits, with at most one point between them.
bool IsDecimal(const std::string& number) {
  const size_t point = number.find('.');
  const std::string whole = number.substr(0, point);
  if (whole.empty() || whole.find_first_not_of(kDigits) != std::string::npos) return false;
  if (point == std::string::npos) return true;
  const std::string part = number.substr(point + 1);
  return !part.empty() && part.find_first_not_of(kDigits) == std::string::npos;
}

// The exact product of a decimal number and a unit, or why there's none.
absl::StatusOr<int64_t> Scale(const Kind& kind, const std::string& text, const std::string& number,
                              const Unit& unit) {
  if (number.size() > kDigitsMax) return Refuse(kind, text, "has too many digits");
  Int128 value = 0;
  Int128 divisor = 1;
  bool after_point = false;
  for (const char c : number) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    value = value * 10 + (c - '0');
    if (after_point) divisor *= 10;
  }
  value *= unit.factor;
  if (value % divisor != 0) {
    return Refuse(kind, text, absl::StrCat("is no whole number of ", kind.units[0].name));
  }
  if (value / divisor > kValueMax) return Refuse(kind, text, "is too large");
  return static_cast<int64_t>(value / divisor);
}

absl::StatusOr<int64_t> Parse(const Kind& kind, const std::string& text) {
  const size_t split = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string number = text.substr(0, split);
  const std::string name = text.substr(split);
  if (!IsDecimal(number)) return Refuse(kind, text, absl::StrCat("is no ", kind.noun));
  if (name.empty()) return Refuse(kind, text, "has no unit");
  for (const Unit& unit : kind.units) {
    if (name == unit.name) return Scale(kind, text, number, unit);
  }
  return Refuse(kind, text, absl::StrCat("has the unknown unit \"", name, "\""));
}

// All units are products of twos and fives, so the digits end.
std::string Decimal(Int128 value, int64_t factor) {
  std::string text = absl::StrCat(static_cast<uint64_t>(value / factor));
  Int128 rest = value % factor;
  if (rest != 0) text += '.';
  for (; rest != 0; rest = rest * 10 % factor) {
    text += static_cast<char>('0' + static_cast<int>(rest * 10 / factor));
  }
  return text;
}

// Of equally short texts, that in the largest unit; never less than one of a unit.
std::string FormatQuantity(const Kind& kind, int64_t value) {
  const Int128 magnitude = value < 0 ? -static_cast<Int128>(value) : value;
  std::string best = absl::StrCat(Decimal(magnitude, 1), kind.units[0].name);
  for (const Unit& unit : kind.units.subspan(1)) {
    if (magnitude < unit.factor) continue;
    const std::string text = absl::StrCat(Decimal(magnitude, unit.factor), unit.name);
    if (text.size() <= best.size()) best = text;
  }
  return value < 0 ? "-" + best : best;
}

template <class Q>
absl::StatusOr<Q> ParseAs(const Kind& kind, const std::string& text) {
  const absl::StatusOr<int64_t> value = Parse(kind, text);
  if (!value.ok()) return value.status();
  return Q(*value);
}

// A bare number: decimal with an exponent for a ratio, an integer for a count.
std::optional<double> ParseNumber(ParamUnit unit, const std::string& text) {
  const std::string digits = text.substr(text.starts_with('-') ? 1 : 0);
  const char* allowed = unit == ParamUnit::kCount ? kDigits : "0123456789.eE+-";
  if (digits.empty() || digits.find_first_not_of(allowed) != std::string::npos) return {};
  if (!absl::ascii_isdigit(static_cast<unsigned char>(digits.front())) ||
      !absl::ascii_isdigit(static_cast<unsigned char>(digits.back()))) {
    return {};
  }
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !std::isfinite(value)) return {};
  return value;
}

absl::StatusOr<double> ParseBare(ParamUnit unit, const std::string& text) {
  if (unit == ParamUnit::kFlag) {
    if (text == "true") return 1.0;
    if (text == "false") return 0.0;
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no flag; write \"true\" or \"false\""));
  }
  const std::optional<double> value = ParseNumber(unit, text);
  if (value.has_value()) return *value;
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text, "\" is no ",
      unit == ParamUnit::kCount ? "count; write a whole number without a unit, such as \"16\""
                                : "ratio; write a number without a unit, such as \"0.8\""));
}

absl::StatusOr<double> ParseBaseUnits(ParamUnit unit, const std::string& text) {
  const Kind* kind = nullptr;
  switch (unit) {
    case ParamUnit::kBytes:
      kind = &kBytesKind;
      break;
    case ParamUnit::kDuration:
      kind = &kDurationKind;
      break;
    case ParamUnit::kRate:
      kind = &kRateKind;
      break;
    case ParamUnit::kRatio:
    case ParamUnit::kCount:
    case ParamUnit::kFlag:
    case ParamUnit::kChoice:
      return ParseBare(unit, text);
  }
  const absl::StatusOr<int64_t> value = Parse(*kind, text);
  if (!value.ok()) return value.status();
  // 2^63 - 1 would round up to 2^63, which no quantity can hold.
  return std::min(static_cast<double>(*value), std::nextafter(0x1.0p63, 0.0));
}

std::string FormatDouble(double value) {
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

std::vector<std::string> Choices(const ParamSpec& spec) {
  return absl::StrSplit(spec.choices, '|');
}

absl::StatusOr<double> ParseChoice(const ParamSpec& spec, const std::string& text) {
  const std::vector<std::string> choices = Choices(spec);
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found != choices.end()) return static_cast<double>(found - choices.begin());
  return absl::InvalidArgumentError(
      absl::StrCat(spec.name, ": \"", text, "\" is none of ", absl::StrJoin(choices, ", ")));
}

// Rounds toward zero and saturates.
int64_t ToCount(double value) { return Scaled(Bytes(1), value).count(); }

}  // namespace

absl::StatusOr<Bytes> ParseBytes(const std::string& text) {
  return ParseAs<Bytes>(kBytesKind, text);
}
absl::StatusOr<Duration> ParseDuration(const std::string& text) {
  return ParseAs<Duration>(kDurationKind, text);
}
absl::StatusOr<Rate> ParseRate(const std::string& text) { return ParseAs<Rate>(kRateKind, text); }

absl::StatusOr<double> ParseParam(const ParamSpec& spec, const std::string& text) {
  if (spec.unit == ParamUnit::kChoice) return ParseChoice(spec, text);
  const absl::StatusOr<double> value = ParseBaseUnits(spec.unit, text);
  if (!value.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(spec.name, ": ", std::string(value.status().message())));
  }
  if (*value >= spec.min && *value <= spec.max) return *value;
  const std::string min = FormatParam(spec, spec.min);
  return absl::InvalidArgumentError(absl::StrCat(spec.name, ": \"", text, "\" is outside ", min,
                                                 " to ", FormatParam(spec, spec.max),
                                                 "; write a value within, such as \"", min, "\""));
}

std::string Format(Bytes bytes) { return FormatQuantity(kBytesKind, bytes.count()); }
std::string Format(Duration duration) { return FormatQuantity(kDurationKind, duration.count()); }
std::string Format(Rate rate) { return FormatQuantity(kRateKind, rate.count()); }

std::string FormatParam(const ParamSpec& spec, double value) {
  switch (spec.unit) {
    case ParamUnit::kBytes:
      return FormatQuantity(kBytesKind, ToCount(value));
    case ParamUnit::kDuration:
      return FormatQuantity(kDurationKind, ToCount(value));
    case ParamUnit::kRate:
      return FormatQuantity(kRateKind, ToCount(value));
    case ParamUnit::kCount:
      return absl::StrCat(ToCount(value));
    case ParamUnit::kFlag:
      return value != 0 ? "true" : "false";
    case ParamUnit::kChoice:
      return Choices(spec)[static_cast<size_t>(ToCount(value))];
    case ParamUnit::kRatio:
      break;
  }
  return FormatDouble(value);
}

}  // namespace weir
