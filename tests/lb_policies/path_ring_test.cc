#include "lb_policies/path_ring.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(PathRingTest, TheOldestComesFirstAndOnce) {
  PathRing<8> ring(4);
  EXPECT_FALSE(ring.ever_stored());
  for (const PathId path : {PathId{3}, PathId{1}, PathId{2}}) ring.Store(path);
  EXPECT_EQ(ring.TakeOldest(), 3);
  EXPECT_EQ(ring.TakeOldest(), 1);
  EXPECT_EQ(ring.TakeOldest(), 2);
  EXPECT_TRUE(ring.empty());
  EXPECT_TRUE(ring.ever_stored());
}

TEST(PathRingTest, AFullRingLosesItsOldest) {
  PathRing<8> ring(4);
  for (PathId path = 0; path < 6; ++path) ring.Store(path);
  for (PathId path = 2; path < 6; ++path) EXPECT_EQ(ring.TakeOldest(), path);
  EXPECT_TRUE(ring.empty());
}

TEST(PathRingTest, WhatWasTakenStaysKnown) {
  PathRing<8> ring(3);
  for (const PathId path : {PathId{5}, PathId{6}}) ring.Store(path);
  ring.TakeOldest();
  ring.TakeOldest();
  for (const PathId path : {PathId{5}, PathId{6}, PathId{5}}) EXPECT_EQ(ring.NextStored(), path);
}

TEST(PathRingTest, NoRingIsLargerThanItsRoom) {
  PathRing<2> ring(8);
  for (PathId path = 0; path < 5; ++path) ring.Store(path);
  EXPECT_EQ(ring.TakeOldest(), 3);
  EXPECT_EQ(ring.TakeOldest(), 4);
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace weir
