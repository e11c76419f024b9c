// Quantities with units: bytes, durations, points in time, rates and wrapping packet numbers.
//
// A raw integer is a count. Every conversion states its rounding; nothing here is floating point
// except the explicitly named `Scaled` and `Ratio`, which a plug-in uses for its own real-valued
// state.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace weir {

// 128-bit intermediates keep `rate * time` exact: 800 Gb/s over a second overflows 64 bits.
__extension__ using Int128 = __int128;

// A signed 64-bit amount of one unit. Arithmetic stays within the unit.
template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(int64_t value) : value_(value) {}

  constexpr int64_t count() const { return value_; }
  static constexpr Quantity Max() { return Quantity(std::numeric_limits<int64_t>::max()); }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  constexpr Quantity& operator+=(Quantity o) { return value_ += o.value_, *this; }
  constexpr Quantity& operator-=(Quantity o) { return value_ -= o.value_, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
  friend constexpr Quantity operator*(Quantity a, int64_t n) { return Quantity(a.value_ * n); }
  friend constexpr Quantity operator*(int64_t n, Quantity a) { return a * n; }
  // Rounds toward zero.
  friend constexpr Quantity operator/(Quantity a, int64_t n) { return Quantity(a.value_ / n); }
  // How many whole `b` fit in `a`; `b` is not zero.
  friend constexpr int64_t operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }

 private:
  int64_t value_ = 0;
};

using Bytes = Quantity<struct BytesUnit>;
using Duration = Quantity<struct NanosUnit>;      // nanoseconds
using Rate = Quantity<struct BitsPerSecondUnit>;  // Rate::Max() means "no limit"

constexpr Bytes KiB(int64_t n) { return Bytes(n * 1024); }
constexpr Bytes MiB(int64_t n) { return Bytes(n * 1024 * 1024); }
constexpr Duration Nanos(int64_t n) { return Duration(n); }
constexpr Duration Micros(int64_t n) { return Duration(n * 1000); }
constexpr Duration Millis(int64_t n) { return Duration(n * 1'000'000); }
constexpr Duration Seconds(int64_t n) { return Duration(n * 1'000'000'000); }
constexpr Rate Mbps(int64_t n) { return Rate(n * 1'000'000); }
constexpr Rate Gbps(int64_t n) { return Rate(n * 1'000'000'000); }

inline constexpr int64_t kBitNanosPerByteSecond = 8'000'000'000;  // 8 bits, 1e9 ns

// The time `n` >= 0 bytes take at `rate` > 0, rounded up.
constexpr Duration operator/(Bytes n, Rate rate) {
  const Int128 scaled = static_cast<Int128>(n.count()) * kBitNanosPerByteSecond;
  return Duration(static_cast<int64_t>((scaled + rate.count() - 1) / rate.count()));
}
// The whole bytes that `rate` carries in `d` >= 0, rounded down.
constexpr Bytes operator*(Rate rate, Duration d) {
  return Bytes(static_cast<int64_t>(static_cast<Int128>(rate.count()) * d.count() /
                                    kBitNanosPerByteSecond));
}
// The rate that carries `n` in `d` > 0, rounded down; Rate::Max() if it does not fit.
constexpr Rate operator/(Bytes n, Duration d) {
  const Int128 rate = static_cast<Int128>(n.count()) * kBitNanosPerByteSecond / d.count();
  return rate > Rate::Max().count() ? Rate::Max() : Rate(static_cast<int64_t>(rate));
}
static_assert(KiB(4) / Gbps(400) == Duration(82));       // 81.92 ns, rounded up
static_assert(Gbps(400) * Micros(8) == Bytes(400'000));  // one bandwidth-delay product

// `a` times a real factor, rounded toward zero and saturated at the range of the quantity.
template <class Unit>
constexpr Quantity<Unit> Scaled(Quantity<Unit> a, double factor) {
  constexpr double kLimit = 9.2e18;
  const double scaled = static_cast<double>(a.count()) * factor;
  if (scaled >= kLimit) return Quantity<Unit>::Max();
  if (scaled <= -kLimit) return Quantity<Unit>(-Quantity<Unit>::Max().count());
  return Quantity<Unit>(static_cast<int64_t>(scaled));
}
// a / b as a real number; `b` is not zero.
template <class Unit>
constexpr double Ratio(Quantity<Unit> a, Quantity<Unit> b) {
  return static_cast<double>(a.count()) / static_cast<double>(b.count());
}

// A point in time: nanoseconds since an origin that the port chose.
class Time {
 public:
  constexpr Time() = default;
  constexpr explicit Time(int64_t nanos) : nanos_(nanos) {}

  constexpr int64_t nanos() const { return nanos_; }
  static constexpr Time Never() { return Time(std::numeric_limits<int64_t>::max()); }

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Duration operator-(Time a, Time b) { return Duration(a.nanos_ - b.nanos_); }
  friend constexpr Time operator+(Time t, Duration d) { return Time(t.nanos_ + d.count()); }
  friend constexpr Time operator-(Time t, Duration d) { return Time(t.nanos_ - d.count()); }

 private:
  int64_t nanos_ = 0;
};

// A packet number on the wire: 32 bits that wrap. Two numbers in use at once are less than half
// the space apart, so that `Distance` orders them.
class Psn {
 public:
  constexpr Psn() = default;
  constexpr explicit Psn(uint32_t value) : value_(value) {}

  constexpr uint32_t value() const { return value_; }
  friend constexpr bool operator==(Psn, Psn) = default;
  friend constexpr Psn operator+(Psn p, uint32_t n) { return Psn(p.value_ + n); }
  friend constexpr Psn operator-(Psn p, uint32_t n) { return Psn(p.value_ - n); }
  // From `from` to `to`: positive if `to` comes later, across the wrap too.
  friend constexpr int32_t Distance(Psn from, Psn to) {
    return static_cast<int32_t>(to.value_ - from.value_);
  }
  friend constexpr bool Before(Psn a, Psn b) { return Distance(a, b) > 0; }

 private:
  uint32_t value_ = 0;
};
static_assert(Before(Psn(0xFFFF'FFFF), Psn(0)));

// An entropy value in [0, paths). How it is expressed on the wire is the driver's business.
using PathId = uint16_t;

}  // namespace weir
