#include "nic_drivers/dpdk/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace weir {
namespace {

bool Fails(const std::vector<Finding>& findings, const std::string& text) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
    return f.verdict == Verdict::kFail && f.text.find(text) != std::string::npos;
  });
}

TEST(DoctorTest, WhateverIsNotWellHasItsRemedy) {
  for (const char* device : {"", "dpdk:net_memif0,socket=/run/a", "dpdk:0000:fe:1f.7"}) {
    for (const Finding& finding : ExamineHost(device)) {
      EXPECT_FALSE(finding.text.empty());
      EXPECT_EQ(finding.remedy.empty(), finding.verdict == Verdict::kOk) << finding.text;
    }
  }
}

TEST(DoctorTest, ADeviceThatCannotBeOpenedFails) {
  EXPECT_TRUE(Fails(ExamineHost("dpdk:0000:fe:1f.7"), "0000:fe:1f.7"));
  EXPECT_TRUE(Fails(ExamineHost("dpdk:net_af_packet0,iface=nosuch0"), "net_af_packet0"));
  EXPECT_TRUE(Fails(ExamineHost("eth0"), "eth0"));
  EXPECT_FALSE(Fails(ExamineHost("dpdk:net_ring0"), "net_ring0"));
}

}  // namespace
}  // namespace weir
