#include "datapath/text/quantity_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datapath/api/rng.h"

namespace weir {
namespace {

using testing::HasSubstr;

template <class T>
std::string ErrorOf(const absl::StatusOr<T>& value) {
  return std::string(value.status().message());
}

struct Config {
  Bytes size = KiB(64);
  Duration wait = Micros(10);
  Rate rate = Gbps(100);
  double gain = 0.5;
  int count = 3;
  bool on = true;
};
constexpr ParamSpec kSize = Param<&Config::size>("size", 1024, 1 << 20, "", "");
constexpr ParamSpec kWait = Param<&Config::wait>("wait", 1000, 1e6, "", "");
constexpr ParamSpec kRate = Param<&Config::rate>("rate", 1e6, 9.3e18, "", "");
constexpr ParamSpec kGain = Param<&Config::gain>("gain", 0, 1, "", "");
constexpr ParamSpec kShift = Param<&Config::gain>("shift", -1, 1, "", "");
constexpr ParamSpec kCount = Param<&Config::count>("count", 1, 64, "", "");
constexpr ParamSpec kOn = Param<&Config::on>("on", 0, 1, "", "");

TEST(QuantityTextTest, EveryUnitHasItsFactor) {
  EXPECT_EQ(*ParseBytes("3B"), Bytes(3));
  EXPECT_EQ(*ParseBytes("3kB"), Bytes(3000));
  EXPECT_EQ(*ParseBytes("3MB"), Bytes(3'000'000));
  EXPECT_EQ(*ParseBytes("3GB"), Bytes(3'000'000'000));
  EXPECT_EQ(*ParseBytes("3KiB"), KiB(3));
  EXPECT_EQ(*ParseBytes("3MiB"), MiB(3));
  EXPECT_EQ(*ParseBytes("3GiB"), MiB(3 * 1024));
  EXPECT_EQ(*ParseDuration("3ns"), Nanos(3));
  EXPECT_EQ(*ParseDuration("3us"), Micros(3));
  EXPECT_EQ(*ParseDuration("3ms"), Millis(3));
  EXPECT_EQ(*ParseDuration("3s"), Seconds(3));
  EXPECT_EQ(*ParseRate("3bps"), Rate(3));
  EXPECT_EQ(*ParseRate("3kbps"), Rate(3000));
  EXPECT_EQ(*ParseRate("3Mbps"), Mbps(3));
  EXPECT_EQ(*ParseRate("3Gbps"), Gbps(3));
  EXPECT_EQ(*ParseRate("3Tbps"), Gbps(3000));
}

TEST(QuantityTextTest, FractionsAreExactOrRefused) {
  EXPECT_EQ(*ParseDuration("1.5us"), Nanos(1500));
  EXPECT_EQ(*ParseDuration("0.001us"), Nanos(1));
  EXPECT_EQ(*ParseBytes("0.5KiB"), Bytes(512));
  EXPECT_EQ(*ParseDuration("2.50000ms"), Micros(2500));
  EXPECT_THAT(ErrorOf(ParseDuration("0.0001us")), HasSubstr("is no whole number of ns"));
  EXPECT_THAT(ErrorOf(ParseBytes("0.3KiB")), HasSubstr("is no whole number of B"));  // 307.2
}

TEST(QuantityTextTest, TheLargestValueFitsAndTheNextDoesNot) {
  EXPECT_EQ(*ParseRate("9223372036854775807bps"), Rate::Max());
  EXPECT_THAT(ErrorOf(ParseRate("9223372036854775808bps")), HasSubstr("is too large"));
  EXPECT_THAT(ErrorOf(ParseDuration("9223372037s")), HasSubstr("is too large"));
  EXPECT_THAT(ErrorOf(ParseRate("999999999999999999999999Tbps")), HasSubstr("is too large"));
  EXPECT_THAT(ErrorOf(ParseRate("9999999999999999999999999Tbps")), HasSubstr("too many digits"));
}

TEST(QuantityTextTest, ErrorsNameFindingUnitsAndExample) {
  EXPECT_EQ(ErrorOf(ParseBytes("64")),
            "\"64\" has no unit; write a size as a number and one of B kB KiB MB MiB GB GiB, such "
            "as \"64KiB\"");
  EXPECT_EQ(ErrorOf(ParseDuration("5min")),
            "\"5min\" has the unknown unit \"min\"; write a duration as a number and one of ns us "
            "ms s, such as \"250us\"");
  EXPECT_EQ(ErrorOf(ParseRate("fast")),
            "\"fast\" is no rate; write a rate as a number and one of bps kbps Mbps Gbps Tbps, "
            "such as \"100Gbps\"");
}

TEST(QuantityTextTest, ReadingIsStrict) {
  for (const char* text : {"",      " ",      "KiB",    "-1KiB",    "+1KiB",  "1 KiB",   " 1KiB",
                           "1KiB ", ".5KiB",  "5.KiB",  "1.2.3KiB", "1e3KiB", "0x10KiB", "1KIB",
                           "1K",    "1_000B", "1,5KiB", "infB",     "nanB",   ".B"}) {
    EXPECT_FALSE(ParseBytes(text).ok()) << text;
  }
  EXPECT_FALSE(ParseRate("100GBps").ok());
  EXPECT_FALSE(ParseDuration(std::string("1us\0", 4)).ok());
}

TEST(QuantityTextTest, TheShortestTextIsWritten) {
  EXPECT_EQ(Format(KiB(64)), "64KiB");
  EXPECT_EQ(Format(Bytes(64'000)), "64kB");
  EXPECT_EQ(Format(Bytes(4086)), "4086B");  // 4.086kB is longer
  EXPECT_EQ(Format(Bytes(1536)), "1536B");  // 1.5KiB is longer
  EXPECT_EQ(Format(MiB(1) + KiB(512)), "1.5MiB");
  EXPECT_EQ(Format(Nanos(1500)), "1.5us");
  EXPECT_EQ(Format(Nanos(8250)), "8.25us");  // as long as 8250ns: the larger unit
  EXPECT_EQ(Format(Nanos(500)), "500ns");    // not 0.5us
  EXPECT_EQ(Format(Gbps(100)), "100Gbps");
  EXPECT_EQ(Format(Mbps(2500)), "2.5Gbps");
  EXPECT_EQ(Format(Gbps(1600)), "1.6Tbps");
  EXPECT_EQ(Format(Duration(0)), "0ns");
  EXPECT_EQ(Format(Nanos(-1500)), "-1.5us");
}

TEST(QuantityTextTest, WhatIsWrittenReadsBack) {
  Rng rng(3);
  for (int i = 0; i < 20'000; ++i) {
    // Of every magnitude, some of them round.
    int64_t value = static_cast<int64_t>(rng.Next() >> 1 >> rng.Below(63));
    if (rng.Chance(0.5)) value = value / 1000 * 1000;
    ASSERT_EQ(*ParseBytes(Format(Bytes(value))), Bytes(value));
    ASSERT_EQ(*ParseDuration(Format(Duration(value))), Duration(value));
    ASSERT_EQ(*ParseRate(Format(Rate(value))), Rate(value));
  }
  EXPECT_EQ(*ParseRate(Format(Rate::Max())), Rate::Max());
}

TEST(QuantityTextTest, DamagedTextNeverCrashes) {
  Rng rng(4);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = "12.5KiB";
    text[rng.Below(7)] = static_cast<char>(rng.Below(256));
    text.resize(rng.Below(8));
    (void)ParseBytes(text);
    (void)ParseParam(kGain, text);
    (void)ParseParam(kCount, text);
  }
}

TEST(ParamTextTest, ValuesComeInBaseUnits) {
  EXPECT_EQ(*ParseParam(kSize, "64KiB"), 65536);
  EXPECT_EQ(*ParseParam(kWait, "2.5us"), 2500);
  EXPECT_EQ(*ParseParam(kRate, "100Gbps"), 1e11);
  EXPECT_EQ(*ParseParam(kGain, "0.0625"), 0.0625);
  EXPECT_EQ(*ParseParam(kGain, "1e-3"), 0.001);
  EXPECT_EQ(*ParseParam(kShift, "-0.25"), -0.25);
  EXPECT_EQ(*ParseParam(kCount, "16"), 16);
  EXPECT_EQ(*ParseParam(kOn, "true"), 1);
  EXPECT_EQ(*ParseParam(kOn, "false"), 0);
}

TEST(ParamTextTest, TheLimitsAreAllowedAndWhatIsBeyondIsNot) {
  EXPECT_TRUE(ParseParam(kSize, "1KiB").ok());
  EXPECT_TRUE(ParseParam(kSize, "1MiB").ok());
  EXPECT_EQ(ErrorOf(ParseParam(kSize, "1023B")),
            "size: \"1023B\" is outside 1KiB to 1MiB; write a value within, such as \"1KiB\"");
  EXPECT_FALSE(ParseParam(kSize, "1048577B").ok());
  EXPECT_TRUE(ParseParam(kGain, "0").ok());
  EXPECT_TRUE(ParseParam(kGain, "1").ok());
  EXPECT_EQ(ErrorOf(ParseParam(kGain, "1.01")),
            "gain: \"1.01\" is outside 0 to 1; write a value within, such as \"0\"");
  EXPECT_FALSE(ParseParam(kGain, "-0.01").ok());
  EXPECT_FALSE(ParseParam(kCount, "0").ok());
  EXPECT_FALSE(ParseParam(kCount, "65").ok());
}

TEST(ParamTextTest, TheUnitMustFitTheParameter) {
  EXPECT_THAT(ErrorOf(ParseParam(kSize, "64")), HasSubstr("size: \"64\" has no unit"));
  EXPECT_THAT(ErrorOf(ParseParam(kSize, "5us")), HasSubstr("unknown unit \"us\""));
  EXPECT_EQ(ErrorOf(ParseParam(kGain, "80%")),
            "gain: \"80%\" is no ratio; write a number without a unit, such as \"0.8\"");
  EXPECT_EQ(ErrorOf(ParseParam(kCount, "2.0")),
            "count: \"2.0\" is no count; write a whole number without a unit, such as \"16\"");
  EXPECT_EQ(ErrorOf(ParseParam(kOn, "yes")), "on: \"yes\" is no flag; write \"true\" or \"false\"");
  for (const char* text : {"", "-", "nan", "inf", "1e999", ".5", "5.", "1 ", "0x1", "--1", "1e"}) {
    EXPECT_FALSE(ParseParam(kGain, text).ok()) << text;
  }
}

TEST(ParamTextTest, NoLimitStaysWithinTheRangeOfARate) {
  Config config;
  kRate.set(&config, *ParseParam(kRate, Format(Rate::Max())));
  EXPECT_GT(config.rate, Gbps(9'000'000'000));
}

TEST(ParamTextTest, DefaultsReadBack) {
  const Config config;
  for (const ParamSpec& spec : {kSize, kWait, kRate, kGain, kCount, kOn}) {
    const double value = spec.get(&config);
    EXPECT_EQ(*ParseParam(spec, FormatParam(spec, value)), value) << spec.name;
  }
  EXPECT_EQ(FormatParam(kSize, 65536), "64KiB");
  EXPECT_EQ(FormatParam(kWait, 1e6), "1ms");
  EXPECT_EQ(FormatParam(kGain, 0.1), "0.1");
  EXPECT_EQ(FormatParam(kCount, 64), "64");
  EXPECT_EQ(FormatParam(kOn, 1), "true");
  EXPECT_EQ(FormatParam(kRate, 1e300), Format(Rate::Max()));
}

TEST(ParamTextTest, AChoiceIsOneOfItsNames) {
  enum class Form : uint8_t { kPaper, kAdapter };
  struct FormConfig {
    Form form = Form::kPaper;
  };
  constexpr ParamSpec kForm =
      ChoiceParam<&FormConfig::form>("form", "paper|adapter", "which", "ours");
  FormConfig config;
  EXPECT_EQ(FormatParam(kForm, kForm.get(&config)), "paper");
  kForm.set(&config, *ParseParam(kForm, "adapter"));
  EXPECT_EQ(config.form, Form::kAdapter);
  EXPECT_EQ(FormatParam(kForm, kForm.max), "adapter");
  EXPECT_EQ(ParseParam(kForm, "1").status().message(), "form: \"1\" is none of paper, adapter");
}

}  // namespace
}  // namespace weir
