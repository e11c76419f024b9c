// One queue of an RDMA device.
//
// What travels as a datagram's payload is Weir's frame as on Ethernet, from the Ethernet header on:
// the core reads addresses, classes and paths from these headers, so nothing above NicPort differs,
// and captures look the same. Outside of it are the device's own headers, which routers and
// switches see: on RoCE v2 the UDP source port follows from the queue pair, or from the flow label
// of its address, and so from the path. A received datagram begins with 40 bytes that stand for the
// global route header; they are left out.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "datapath/nic_port.h"
#include "nic_drivers/buffer_pool.h"
#include "nic_drivers/monotonic_clock.h"
#include "nic_drivers/sorter.h"
#include "nic_drivers/verbs/exchange.h"
#include "nic_drivers/verbs/memory.h"
#include "nic_drivers/verbs/peers.h"
#include "nic_drivers/verbs/queue_pairs.h"

namespace weir {

inline constexpr uint32_t kGrhBytes = 40;
inline constexpr uint32_t kSignalEvery = 16;  // sends of a queue pair, and the last of a burst

// Written by the thread that polls, read by any.
struct VerbsCounters {
  std::atomic<uint64_t> rx_packets{0}, rx_bytes{0}, rx_errors{0}, rx_foreign{0};
  std::atomic<uint64_t> tx_packets{0}, tx_bytes{0}, tx_dropped{0}, tx_copied{0};
  std::atomic<uint64_t> revived{0};  // queue pairs that had failed
  std::atomic<uint64_t> buffers{0};  // frames on their way
  std::atomic<int> failure{0};       // ibv_wc_status of the latest send that failed
};

class VerbsPort final : public NicPort {
 public:
  struct Config {
    uint32_t queue = 0;
    NetAddress self{};
    PortCaps caps{};
    bool in_place = true;   // payload of registered memory
    BufferPool tx{}, rx{};  // each with room for a whole frame; rx: and the route header
    VerbsMr tx_memory{}, rx_memory{};
    QueuePairs pairs{};             // behind the memory, so that they end before it
    const ibv_mr* zeros = nullptr;  // as long as the longest payload
    RegisteredMemory* memory = nullptr;
    PeerTable* peers = nullptr;
    const std::atomic<bool>* gone = nullptr;  // the device was removed
  };
  VerbsPort(Config config, const MonotonicClock& clock);

  // Hands the device its receive buffers; once, before the first poll. `exchange` outlives the
  // polls.
  absl::Status Begin(PeerExchange* exchange);
  std::vector<uint32_t> pairs() const;  // numbers, path by path

  Time Now() override { return clock_.Now(); }
  const PortCaps& caps() const override { return config_.caps; }
  size_t RxBurst(std::span<Frame> out) override;
  void Release(std::span<const Frame> frames) override;
  size_t TxFrames(std::span<Frame> out) override;
  void TxBurst(std::span<const Frame> frames) override;

  const VerbsCounters& counters() const { return counters_; }

 private:
  // A frame handed to the device: its buffer, and the region its payload is in.
  struct Sent {
    uint32_t buffer = 0;
    uint32_t region = RegisteredMemory::kNone;
  };
  // One queue pair. Frames of it are done in the order in which they were sent.
  struct Path {
    std::vector<Sent> ring{};  // a power of two
    uint64_t sent = 0, done = 0;
    uint32_t unsignalled = 0;
    bool failed = false;  // it is revived once nothing of it is on its way
    // The work requests of a burst, linked.
    ibv_send_wr* first = nullptr;
    ibv_send_wr* last = nullptr;
  };
  struct Work {
    ibv_send_wr request{};
    ibv_sge parts[2]{};
  };

  bool Gone() const { return config_.gone->load(std::memory_order_relaxed); }
  void Post(std::span<const uint32_t> buffers);
  bool Take(const ibv_wc& completion, Frame& out);
  void Reap();
  void Finish(Path& path, uint64_t upto);
  void Revive(uint32_t path);
  const Peer* Find(std::span<const std::byte> frame);
  bool Fill(const Frame& frame, Work& work, Sent& sent);
  bool AddPayload(const Frame& frame, Work& work, Sent& sent);
  void Chain(const Frame& frame, Work& work, const Sent& sent);
  void Drop(const Sent& sent);
  void Ring(uint32_t path);

  Config config_;
  MonotonicClock clock_;
  PeerExchange* exchange_ = nullptr;
  Sorter sorter_;
  VerbsCounters counters_;
  std::vector<Path> paths_;
  std::array<Work, kBurst> work_{};
  PeerMap peers_;  // as the table was at peers_version_
  uint64_t peers_version_ = 0;
  const Peer* recent_ = nullptr;
  Time asked_{};  // for an unknown peer, last
  Time polled_{};
  Duration gap_{};
};

}  // namespace weir
