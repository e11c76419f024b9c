// The ChunkPort of an RDMA device: a path is an RC queue pair, a chunk an RDMA write.
//
// A chunk that tells is a write with immediate data; what it tells uses up one of the receives that
// all queue pairs share. Every write is signalled: its completion is what congestion control hears.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "datapath/offload/chunk_port.h"
#include "nic_drivers/monotonic_clock.h"
#include "nic_drivers/verbs/memory.h"
#include "nic_drivers/verbs/reliable_links.h"

namespace weir {

class ReliablePort final : public ChunkPort {
 public:
  struct Config {
    ChunkCaps caps{};
    ibv_cq* completions = nullptr;
    ibv_srq* arrivals = nullptr;
    uint32_t receives = 0;          // waiting, of all links together
    uint32_t sends = 0;             // on their way on a queue pair
    const ibv_mr* zeros = nullptr;  // what is sent where the content does not matter
    RegisteredMemory* memory = nullptr;
    ReliableLinks* links = nullptr;
    const std::atomic<bool>* gone = nullptr;  // the device was removed
  };
  ReliablePort(const Config& config, const MonotonicClock& clock);
  // Hands the device its receives; once, before the first poll.
  absl::Status Begin();

  Time Now() override { return clock_.Now(); }
  const ChunkCaps& caps() const override { return config_.caps; }
  absl::StatusOr<LinkId> Open(const LinkRequest& request) override;
  void Close(LinkId link) override;
  bool Reads(const std::byte* data, uint64_t size) const override;
  uint64_t RegionSize(LinkId link, uint32_t region) const override;
  bool Post(LinkId link, PathId path, const Chunk& chunk) override;
  size_t Poll(std::span<ChunkEvent> out) override;

  uint64_t chunks() const { return chunks_; }
  // ibv_wc_status of the latest chunk that failed; 0: none has.
  int failure() const { return failure_; }

 private:
  // A write handed to the device, and the memory that it reads.
  struct Sent {
    uint64_t cookie = 0;
    uint32_t region = RegisteredMemory::kNone;
  };
  // One queue pair. Its writes are done in the order in which they were posted.
  struct Path {
    ibv_qp* pair = nullptr;
    std::vector<Sent> ring{};
    uint64_t sent = 0, done = 0;
  };
  struct Link {
    enum class State : uint8_t { kFree, kOpening, kMade, kOpen };
    State state = State::kFree;
    bool failed = false;  // and told
    uint32_t use = 0;
    std::vector<Path> paths{};
    std::vector<LinkMessage::Region> regions{};  // the peer's
  };
  struct Route {
    LinkId link = 0;
    PathId path = 0;
  };
  void HandleNews();
  void Learn(const ReliableLinks::News& news);
  bool Collect();
  void Take(const ibv_wc& completion);
  void TakeArrival(const ibv_wc& completion);
  void Fail(LinkId link, Cause cause);
  void PostReceives(uint32_t count);
  bool FillParts(const Chunk& chunk, std::span<ibv_sge> parts, int& used, Sent& sent);

  Config config_;
  MonotonicClock clock_;
  std::vector<Link> links_;
  std::map<uint32_t, Route> routes_;  // by number of queue pair
  uint32_t receives_short_ = 0;       // not given to the device (again) yet
  Time polled_{};
  Time emptied_{};  // the last time that there was nothing more
  Duration gap_{};
  std::vector<ChunkEvent> events_;  // that were not taken yet, from next_event_ on
  size_t next_event_ = 0;
  uint64_t chunks_ = 0;
  int failure_ = 0;
};

// Of a link whose chunk failed, by its ibv_wc_status.
Cause LinkCause(int status);

// What a write of any size is made of at most, where its content does not matter.
inline constexpr uint32_t kZeroParts = 4;

}  // namespace weir
