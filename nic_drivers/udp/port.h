// One queue of a host's network stack.
//
// The kernel writes and reads the headers below Weir's own, so that frames lose theirs on the way
// out and get them back on the way in: the wire is the same as with any other driver, and peers may
// use another one. A path is a socket, with a UDP source port of its own.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "datapath/nic_port.h"
#include "nic_drivers/buffer_pool.h"
#include "nic_drivers/monotonic_clock.h"
#include "nic_drivers/udp/socket.h"

namespace weir {

// Written by the thread that polls, read by any.
struct UdpCounters {
  std::atomic<uint64_t> rx_packets{0}, rx_bytes{0}, rx_missed{0}, rx_errors{0};
  std::atomic<uint64_t> tx_packets{0}, tx_bytes{0}, tx_dropped{0};
  std::atomic<uint64_t> buffers{0};  // frames lent
};

class UdpPort final : public NicPort {
 public:
  // A port of Weir's that this queue receives.
  struct Listener {
    UdpSocket socket{};
    uint16_t port = 0;
    uint32_t missed = 0;  // as the kernel counts, which wraps
  };
  struct Config {
    NetAddress self{};
    PortCaps caps{};
    BufferPool tx{}, rx{};              // each with room for a whole frame
    std::vector<Listener> listeners{};  // the first is the queue's own: its connections' packets
    std::vector<UdpSocket> senders{};   // by path; not empty
  };
  UdpPort(Config config, const MonotonicClock& clock);

  Time Now() override { return clock_.Now(); }
  const PortCaps& caps() const override { return config_.caps; }
  size_t RxBurst(std::span<Frame> out) override;
  void Release(std::span<const Frame> frames) override;
  size_t TxFrames(std::span<Frame> out) override;
  void TxBurst(std::span<const Frame> frames) override;

  const UdpCounters& counters() const { return counters_; }

 private:
  // The others hear nothing but what opens a connection, so they are looked at one each so many
  // polls.
  static constexpr uint32_t kOthersEvery = 4;
  // Of one message: class and ECN bits, and a count of what was missed.
  static constexpr size_t kControlBytes = 64;

  size_t Receive(Listener& listener, std::span<Frame> out);
  bool Take(Listener& listener, const msghdr& message, uint32_t size, Frame& out);
  bool Fill(const Frame& frame, size_t slot);
  void Send(uint32_t path, std::span<const size_t> slots);
  void CountBuffers();

  Config config_;
  MonotonicClock clock_;
  UdpCounters counters_;
  uint32_t header_;  // bytes below Weir's own
  std::vector<std::byte> zeros_;
  size_t next_other_ = 1;
  uint32_t polls_ = 0;
  Time polled_{};
  Duration gap_{};

  // One burst on its way in or out.
  std::array<mmsghdr, kBurst> messages_{};
  std::array<std::array<iovec, 2>, kBurst> parts_{};
  std::array<sockaddr_storage, kBurst> addresses_{};
  alignas(cmsghdr) std::array<std::array<std::byte, kControlBytes>, kBurst> controls_{};
};

}  // namespace weir
