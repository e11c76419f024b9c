// An RDMA device in RDMA mode: reliable connected queue pairs on any device whose port speaks RoCE
// v2.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nic_drivers/buffer_pool.h"
#include "nic_drivers/chunk_device.h"
#include "nic_drivers/verbs/memory.h"
#include "nic_drivers/verbs/opened.h"
#include "nic_drivers/verbs/reliable_links.h"
#include "nic_drivers/verbs/reliable_port.h"

namespace weir {

class ReliableDevice final : public ChunkDevice {
 public:
  static absl::StatusOr<std::unique_ptr<ChunkDevice>> Open(const DeviceOptions& options);

  ChunkPort& port() override { return *port_; }
  const NetAddress& address() const override { return opened_.address; }
  absl::Status RegisterMemory(std::byte* base, size_t size) override;
  absl::StatusOr<uint32_t> RegisterRegion(std::byte* base, size_t size) override;
  std::vector<std::string> features() const override;

 private:
  ReliableDevice(const DeviceOptions& options, OpenedVerbs opened)
      : options_(options), opened_(std::move(opened)) {}
  absl::Status Set();
  absl::Status MakeQueues();
  absl::Status MakeZeros();
  uint32_t LinksMax() const;
  void OnEvent(int event);

  DeviceOptions options_;
  std::atomic<bool> gone_{false};
  mutable std::mutex event_mutex_;
  std::string last_event_;  // in words; empty: none so far
  // In the order in which they depend on each other.
  OpenedVerbs opened_;
  uint32_t sends_ = 0;     // of a queue pair
  uint32_t receives_ = 0;  // of all
  VerbsCq completions_;
  VerbsSrq arrivals_;
  BufferPool zeros_;
  VerbsMr zeros_memory_;
  std::unique_ptr<RegisteredMemory> memory_;
  std::vector<VerbsMr> regions_;  // that peers may write to
  std::unique_ptr<ReliableLinks> links_;
  std::unique_ptr<ReliablePort> port_;
};

}  // namespace weir
