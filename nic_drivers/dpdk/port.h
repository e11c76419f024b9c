// One queue pair of a DPDK device.
#pragma once

#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <atomic>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>
#include <vector>

#include "datapath/nic_port.h"
#include "nic_drivers/dpdk/clock.h"
#include "nic_drivers/dpdk/regions.h"
#include "nic_drivers/sorter.h"
#include "nic_drivers/dpdk/stamp_clock.h"

namespace weir {

// Written by the thread that polls, read by any.
struct PortCounters {
  std::atomic<uint64_t> rx_packets{0}, rx_bytes{0}, rx_missed{0}, rx_errors{0}, rx_foreign{0},
      rx_steered{0};
  std::atomic<uint64_t> tx_packets{0}, tx_bytes{0}, tx_dropped{0}, tx_copied{0};
};

// Between the control thread and the thread that polls.
struct NeighbourMail {
  template <size_t kRoom>
  using Ring = boost::lockfree::spsc_queue<NetAddress, boost::lockfree::capacity<kRoom>>;
  Ring<64> questions;  // addresses to ask for; in a full ring the question is put again
  Ring<256> news;      // neighbours that made themselves known; in a full ring they are lost
};

class DpdkPort final : public NicPort {
 public:
  struct Config {
    uint16_t ethdev = 0;
    uint16_t queue = 0;
    NetAddress self{};
    PortCaps caps{};
    int vlan = -1;
    bool pushes_out = false;          // the device cannot be asked for what it has sent
    bool vlan_insert = false;         // the device writes the tag
    bool multi_segment = false;       // the device gathers a frame from several buffers
    int stamp_offset = -1;            // of the time of arrival in a buffer; -1: there is none
    uint64_t stamp_flag = 0;          // of buffers that have one
    rte_mempool* rx_pool = nullptr;   // room for a whole frame
    rte_mempool* tx_pool = nullptr;   // room for a whole frame
    rte_mempool* attached = nullptr;  // no room; for payload in place
    Regions* regions = nullptr;
    const std::atomic<bool>* gone = nullptr;  // the device was taken out
    std::vector<rte_ring*> steering;  // to each queue, frames that another received; may be empty
  };
  DpdkPort(const Config& config, const TscClock& clock);
  ~DpdkPort() override;

  Time Now() override { return clock_.Now(); }
  const PortCaps& caps() const override { return config_.caps; }
  size_t RxBurst(std::span<Frame> out) override;
  void Release(std::span<const Frame> frames) override;
  size_t TxFrames(std::span<Frame> out) override;
  void TxBurst(std::span<const Frame> frames) override;

  const PortCounters& counters() const { return counters_; }
  NeighbourMail& mail() { return mail_; }
  // From any thread: with its next poll the device is to give back what it has sent.
  void AskForSentBuffers() { give_back_.store(true, std::memory_order_relaxed); }

 private:
  // Waiting for the device: a burst of frames, and some answers to neighbours.
  static constexpr uint32_t kPending = 2 * kBurst;

  bool Gone() const {
    return config_.gone != nullptr && config_.gone->load(std::memory_order_relaxed);
  }
  // Each returns whether `out` was filled; if not the buffer is taken care of.
  bool Receive(rte_mbuf* mbuf, Frame& out);
  bool Lend(rte_mbuf* mbuf, uint32_t header, Frame& out);
  void ReadDeviceClock();
  void Stamp(const rte_mbuf& mbuf, Frame& out) const;
  void PassOn(rte_mbuf* mbuf, uint32_t queue);
  bool HandleNeighbour(std::span<const std::byte> frame, uint32_t ip_at);
  void Ask();
  void PushOut();
  void SendSmall(std::span<const std::byte> frame);
  rte_mbuf* Linear(rte_mbuf* mbuf);
  void Trim(rte_mbuf& mbuf, uint32_t length);

  void TakeAttached(std::span<const Frame> frames);
  bool AddPayload(rte_mbuf& mbuf, const Frame& frame);
  bool CopyPayload(rte_mbuf& mbuf, const Frame& frame);
  bool AddTag(rte_mbuf& mbuf);
  void Flush();

  Config config_;
  TscClock clock_;
  StampClock device_clock_;
  Sorter sorter_;
  PortCounters counters_;
  NeighbourMail mail_;
  std::atomic<bool> give_back_{false};
  std::array<rte_mbuf*, kPending> pending_{};
  uint32_t pending_count_ = 0;
  std::array<rte_mbuf*, kBurst> attached_{};  // for payloads of the burst under way
  uint32_t attached_count_ = 0;
  Time polled_{};      // the latest
  Duration gap_{};     // before that
  uint32_t lent_ = 0;  // by TxFrames, not yet back; room is kept for them
};

}  // namespace weir
