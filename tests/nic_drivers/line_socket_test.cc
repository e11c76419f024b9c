// Lines over TCP, between two ends in one process.
#include "testbed/nic/line_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <tuple>

namespace weir {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

struct Ends {
  LineListener listener = *LineListener::Open({.host = "127.0.0.1", .port = 0});
  LineSocket one =
      *LineSocket::Connect({.host = "127.0.0.1", .port = listener.port()}, seconds(10));
  std::optional<LineSocket> other = Accepted();

  std::optional<LineSocket> Accepted() {
    listener.Wait(seconds(10));
    return listener.Accept();
  }
};

// The next line, or what became of the connection.
std::string Next(LineSocket& socket) {
  while (true) {
    const auto line = socket.Receive();
    if (!line.ok()) return std::string(line.status().message());
    if (line->has_value()) return **line;
    socket.Wait(seconds(10));
  }
}

TEST(LineSocketTest, LinesArriveOneByOneInOrder) {
  Ends ends;
  ASSERT_TRUE(ends.other.has_value());
  EXPECT_EQ(ends.other->peer(), "127.0.0.1");
  ASSERT_TRUE(ends.one.Send("first\nsecond").ok());
  ASSERT_TRUE(ends.one.Send("").ok());
  EXPECT_EQ(Next(*ends.other), "first");
  EXPECT_EQ(Next(*ends.other), "second");
  EXPECT_EQ(Next(*ends.other), "");
  const auto none = ends.other->Receive();
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
}

TEST(LineSocketTest, ALineOfTheGreatestLengthArrivesAndALongerOneIsRefused) {
  for (const size_t size : {kLineMax, kLineMax + 1}) {
    Ends ends;
    ASSERT_TRUE(ends.other.has_value());
    // What does not fit into the kernel's buffers is on its way while the other end reads.
    std::thread sender([&] { (void)ends.one.Send(std::string(size, 'x')); });
    const std::string got = Next(*ends.other);
    if (size == kLineMax) {
      EXPECT_EQ(got.size(), size);
    } else {
      EXPECT_EQ(got, "a line is longer than 262144 bytes");
    }
    ends.other.reset();
    sender.join();
  }
}

TEST(LineSocketTest, AnEndThatIsClosedIsNoticedByTheOther) {
  Ends ends;
  ASSERT_TRUE(ends.one.Send("last words").ok());
  ends.one = LineSocket(OwnedFd(), "");
  EXPECT_EQ(Next(*ends.other), "last words");
  EXPECT_EQ(Next(*ends.other), "the connection is lost: it was closed by the other end");
}

TEST(LineSocketTest, AnEndThatSaysNoMoreStillHears) {
  Ends ends;
  ends.one.EndSending();
  EXPECT_EQ(Next(*ends.other), "the connection is lost: it was closed by the other end");
  ASSERT_TRUE(ends.other->Send("yet").ok());
  EXPECT_EQ(Next(ends.one), "yet");
}

TEST(LineListenerTest, APortIsHadOnce) {
  const auto first = LineListener::Open({.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(first.ok());
  const auto second = LineListener::Open({.host = "127.0.0.1", .port = first->port()});
  EXPECT_TRUE(absl::IsUnavailable(second.status()));
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("Address already in use"));
}

TEST(HostPortTest, TheFormsAreReadAndWritten) {
  for (const auto& [text, host, port, written] :
       {std::tuple{"10.0.0.2", "10.0.0.2", 9, "10.0.0.2:9"},
        {"host2:14970", "host2", 14970, "host2:14970"},
        {"fd00::2", "fd00::2", 9, "[fd00::2]:9"},
        {"[fd00::2]", "fd00::2", 9, "[fd00::2]:9"},
        {"[fd00::2]:65535", "fd00::2", 65535, "[fd00::2]:65535"}}) {
    const auto read = ParseHostPort(text, 9);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(read->host, host);
    EXPECT_EQ(read->port, port);
    EXPECT_EQ(read->Text(), written);
  }
}

TEST(HostPortTest, WhatIsNoneIsRefusedWithTheForms) {
  for (const char* text :
       {"", ":14970", "host2:", "host2:x", "host2:65536", "[fd00::2", "[]:1", "[fd00::2]14970"}) {
    const auto read = ParseHostPort(text, 9);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr("the forms are")) << text;
  }
}

}  // namespace
}  // namespace weir
