// A device in RDMA mode: one ChunkPort, and the memory that it and its peers may reach. Drivers
// whose devices deliver reliably by themselves implement it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"
#include "datapath/offload/chunk_port.h"

namespace weir {

class ChunkDevice {
 public:
  virtual ~ChunkDevice() = default;
  virtual ChunkPort& port() = 0;
  virtual const NetAddress& address() const = 0;
  // Chunks can be read from [base, base + size) from here on.
  virtual absl::Status RegisterMemory(std::byte* base, size_t size) = 0;
  // And peers may write there: the region's number, as WriteRequest has it. Only peers whose
  // connections are opened afterwards know it.
  virtual absl::StatusOr<uint32_t> RegisterRegion(std::byte* base, size_t size) = 0;
  // What was asked for and what is in use, one line each.
  virtual std::vector<std::string> features() const = 0;
};

// Opens options.device, "driver:name", in RDMA mode. kUnimplemented: its kind has none.
absl::StatusOr<std::unique_ptr<ChunkDevice>> OpenChunkDevice(const DeviceOptions& options);

}  // namespace weir
