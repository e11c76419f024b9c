// What a fabric does to frames at the far end of a ring device, and what the host sees of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "nic_drivers/dpdk/ring_pair.h"
#include "tests/nic_drivers/exchange.h"

namespace weir {
namespace {

class FarEndTest : public testing::Test {
 protected:
  void Open(uint32_t queues, int vlan = -1) {
    for (int i = 0; i < 2; ++i) {
      DeviceOptions options;
      options.address = i == 0 ? "10.0.0.1/24" : "10.0.0.2/24";
      options.mtu = 4200;
      options.queues = queues;
      options.vlan = vlan;
      auto device = OpenRingDevice(options);
      ASSERT_TRUE(device.ok()) << device.status().message();
      hosts_[i] = *std::move(device);
    }
    for (uint32_t i = 0; i < kPayload; ++i) memory_[i] = PatternByte(1, i);
  }
  // One data packet from host 0 to a worker of host 1.
  void SendData(const std::byte* payload, uint16_t worker = 0) {
    NicPort& port = hosts_[0].device->queue(0);
    Frame frame;
    ASSERT_EQ(port.TxFrames({&frame, 1}), 1u);
    const FrameWriter writer(hosts_[0].device->address(), hosts_[1].device->address(), 7);
    frame.size = writer.Write(DataHeader{.payload = kPayload}, 3, false, frame.data);
    const uint16_t to = __builtin_bswap16(static_cast<uint16_t>(kUdpPort + worker));
    std::memcpy(frame.data + kEthernetBytes + 20 + 2, &to, 2);
    frame.payload = payload;
    frame.payload_size = kPayload;
    port.TxBurst({&frame, 1});
  }
  Frame Carried() {
    Frame frame;
    EXPECT_EQ(hosts_[0].far_end->Receive({&frame, 1}), 1u);
    return frame;
  }
  // How many frames queue `q` of host 1 receives; the last one's sizes are kept.
  size_t Received(uint32_t q) {
    NicPort& port = hosts_[1].device->queue(q);
    Frame frames[kBurst];
    const size_t n = port.RxBurst(frames);
    if (n > 0) last_ = frames[n - 1];
    if (n > 0) bytes_.assign(last_.data, last_.data + last_.size);
    if (n > 0) bytes_.insert(bytes_.end(), last_.payload, last_.payload + last_.payload_size);
    port.Release(std::span(frames, n));
    return n;
  }
  uint64_t InUse() {
    return hosts_[0].device->counters().buffers_in_use +
           hosts_[1].device->counters().buffers_in_use;
  }

  static constexpr uint16_t kPayload = 3000;
  static constexpr uint32_t kHeader = 14 + 20 + 8 + kDataHeaderBytes;
  RingDevice hosts_[2];
  std::byte memory_[kPayload];
  Frame last_{};
  std::vector<std::byte> bytes_;
};

TEST_F(FarEndTest, PayloadStaysWhereItIsAcrossTheFabric) {
  Open(1);
  ASSERT_TRUE(hosts_[0].device->RegisterMemory(memory_, kPayload).ok());
  SendData(memory_ + 0);
  Frame frame = Carried();
  EXPECT_EQ(frame.payload, memory_);
  EXPECT_EQ(frame.payload_size, kPayload);
  MarkFrame({frame.data, frame.size});
  EXPECT_EQ(hosts_[1].far_end->Send({&frame, 1}), 1u);
  ASSERT_EQ(Received(0), 1u);
  EXPECT_EQ(last_.payload, memory_);
  FrameInfo info;
  ASSERT_EQ(ReadFrame(bytes_, info), WireError::kNone);
  EXPECT_TRUE(info.marked);
  EXPECT_EQ(InUse(), 0u);
}

TEST_F(FarEndTest, MemoryIsNotReleasedWhileFramesReferToIt) {
  Open(1);
  NicDevice& host = *hosts_[0].device;
  ASSERT_TRUE(host.RegisterMemory(memory_, kPayload).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(host.RegisterMemory(memory_, kPayload)));
  SendData(memory_);
  EXPECT_TRUE(absl::IsUnavailable(host.UnregisterMemory(memory_)));
  Frame frame = Carried();
  EXPECT_TRUE(absl::IsUnavailable(host.UnregisterMemory(memory_)));
  hosts_[0].far_end->Drop({&frame, 1});
  EXPECT_TRUE(host.UnregisterMemory(memory_).ok());
  EXPECT_TRUE(absl::IsNotFound(host.UnregisterMemory(memory_)));
  EXPECT_EQ(host.counters().tx_copied, 0u);
  SendData(memory_);
  EXPECT_EQ(host.counters().tx_copied, 1u);
  frame = Carried();
  EXPECT_EQ(frame.size, kHeader + kPayload) << "headers and payload in one buffer";
  hosts_[0].far_end->Drop({&frame, 1});
  EXPECT_EQ(InUse(), 0u);
}

TEST_F(FarEndTest, ATrimmedFrameArrivesWithoutItsPayload) {
  Open(1);
  for (const bool apart : {true, false}) {
    if (apart) {
      ASSERT_TRUE(hosts_[0].device->RegisterMemory(memory_, kPayload).ok());
    }
    SendData(memory_);
    Frame frame = Carried();
    frame.size = kHeader;
    frame.payload_size = 0;
    SetFrameDscp({frame.data, frame.size}, kDscpTrimmed);
    ASSERT_EQ(hosts_[1].far_end->Send({&frame, 1}), 1u);
    ASSERT_EQ(Received(0), 1u);
    EXPECT_EQ(bytes_.size(), kHeader);
    FrameInfo info;
    ASSERT_EQ(ReadFrame(bytes_, info), WireError::kNone);
    EXPECT_TRUE(info.trimmed);
    if (apart) {
      ASSERT_TRUE(hosts_[0].device->UnregisterMemory(memory_).ok());
    }
  }
  EXPECT_EQ(InUse(), 0u);
}

TEST_F(FarEndTest, ACopyArrivesBesideItsOriginal) {
  Open(1);
  ASSERT_TRUE(hosts_[0].device->RegisterMemory(memory_, kPayload).ok());
  SendData(memory_);
  Frame frames[2] = {Carried()};
  ASSERT_TRUE(hosts_[0].far_end->Copy(frames[0], frames[1]));
  EXPECT_EQ(hosts_[1].far_end->Send(frames), 2u);
  ASSERT_EQ(Received(0), 2u);
  ASSERT_EQ(bytes_.size(), kHeader + kPayload);
  EXPECT_EQ(std::memcmp(bytes_.data() + kHeader, memory_, kPayload), 0);
  EXPECT_EQ(InUse(), 0u);
}

TEST_F(FarEndTest, AFullQueueLeavesFramesWithTheCaller) {
  Open(1);
  size_t taken = 0;
  Frame frame;
  for (int i = 0; i < 2000; ++i) {
    SendData(nullptr);
    frame = Carried();
    if (hosts_[1].far_end->Send({&frame, 1}) == 0) break;
    ++taken;
  }
  EXPECT_EQ(taken, RingOptions().ring);
  hosts_[1].far_end->Drop({&frame, 1});
  while (Received(0) > 0) {
  }
  EXPECT_EQ(InUse(), 0u);
}

TEST_F(FarEndTest, AFrameOnAWrongQueueIsPassedToItsOwn) {
  Open(3);
  SendData(nullptr, 5);  // worker 5 of 3 queues: queue 2
  Frame frame = Carried();
  ASSERT_EQ(hosts_[1].far_end->SendTo(0, {&frame, 1}), 1u);
  EXPECT_EQ(Received(2), 0u);
  EXPECT_EQ(Received(0), 0u);
  EXPECT_EQ(Received(2), 1u);
  EXPECT_EQ(hosts_[1].device->counters().rx_steered, 1u);
  EXPECT_EQ(hosts_[1].device->counters().rx_packets, 1u);

  SendData(nullptr, 64 + 1);  // no worker has this port
  frame = Carried();
  ASSERT_EQ(hosts_[1].far_end->SendTo(0, {&frame, 1}), 1u);
  EXPECT_EQ(Received(0) + Received(1) + Received(2), 0u);
  EXPECT_EQ(hosts_[1].device->counters().rx_foreign, 1u);

  SendData(nullptr, 4);
  frame = Carried();
  ASSERT_EQ(hosts_[1].far_end->Send({&frame, 1}), 1u);
  EXPECT_EQ(Received(1), 1u) << "the far end steers by itself";
  EXPECT_EQ(InUse(), 0u);
}

TEST_F(FarEndTest, TagsAreWrittenAndWanted) {
  Open(1, 100);
  SendData(nullptr);
  Frame frame = Carried();
  EXPECT_EQ(frame.data[12], std::byte{0x81});
  EXPECT_EQ(frame.data[15], std::byte{100});
  ASSERT_EQ(hosts_[1].far_end->Send({&frame, 1}), 1u);
  EXPECT_EQ(Received(0), 1u);
  FrameInfo info;
  EXPECT_EQ(ReadFrame(bytes_, info), WireError::kNone);

  SendData(nullptr);
  frame = Carried();
  frame.data[15] = std::byte{101};
  ASSERT_EQ(hosts_[1].far_end->Send({&frame, 1}), 1u);
  EXPECT_EQ(Received(0), 0u);
  EXPECT_EQ(hosts_[1].device->counters().rx_foreign, 1u);
  EXPECT_EQ(InUse(), 0u);
}

TEST_F(FarEndTest, DevicesAndFarEndsCloseInAnyOrder) {
  Open(1);
  SendData(nullptr);
  Frame frame = Carried();
  ASSERT_EQ(hosts_[1].far_end->Send({&frame, 1}), 1u);
  hosts_[0].device.reset();  // its buffer is still on its way
  EXPECT_EQ(Received(0), 1u);
  hosts_[1].far_end.reset();
  hosts_[1].device.reset();
}

TEST_F(FarEndTest, PortsOfAProcessAgreeOnTheTime) {
  Open(1);
  Time last(0);
  for (int i = 0; i < 1000; ++i) {
    const Time now = hosts_[i % 2].device->queue(0).Now();
    EXPECT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace weir
