#include "nic_drivers/verbs/memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"

namespace weir {

RegisteredMemory::RegisteredMemory(ibv_pd* domain, uint32_t queues) : domain_(domain) {
  for (Region& region : regions_) region.references = std::vector<std::atomic<uint32_t>>(queues);
}

RegisteredMemory::~RegisteredMemory() {
  for (Region& region : regions_) {
    if (region.registration != nullptr) (void)ibv_dereg_mr(region.registration);
  }
}

absl::Status RegisteredMemory::Add(std::byte* base, size_t size) {
  if (base == nullptr || size == 0) {
    return absl::InvalidArgumentError("memory to register has an address and a size above 0");
  }
  uint32_t free = kMax;
  for (uint32_t i = kMax; i > 0; --i) {
    const Region& region = regions_[i - 1];
    if (region.owner == nullptr) {
      free = i - 1;
      continue;
    }
    const bool apart = base + size <= region.owner || region.owner + region.size <= base;
    if (!apart) return absl::AlreadyExistsError("this memory, or a part of it, is registered");
  }
  if (free == kMax) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%d regions are registered, and a device takes no more", kMax));
  }
  ibv_mr* registration = ibv_reg_mr(domain_, base, size, 0);
  if (registration == nullptr) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "%d bytes cannot be registered: %s; raise the limit of locked memory (ulimit -l)", size,
        std::strerror(errno)));
  }
  Region& region = regions_[free];
  region.owner = base;
  region.registration = registration;
  region.size = size;
  region.key = registration->lkey;
  region.base = base;
  used_ = std::max(used_.load(), free + 1);
  return absl::OkStatus();
}

absl::Status RegisteredMemory::Remove(std::byte* base) {
  for (Region& region : regions_) {
    if (base == nullptr || region.owner != base) continue;
    region.base = nullptr;
    for (const std::atomic<uint32_t>& references : region.references) {
      if (references != 0) {
        return absl::UnavailableError(
            "frames on their way refer to this memory; poll and try again");
      }
    }
    (void)ibv_dereg_mr(region.registration);
    region.registration = nullptr;
    region.owner = nullptr;
    return absl::OkStatus();
  }
  return absl::NotFoundError("no memory is registered at this address");
}

uint32_t RegisteredMemory::Take(uint32_t queue, const std::byte* payload, uint32_t size,
                                uint32_t& key) {
  const uint32_t used = used_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < used; ++i) {
    Region& region = regions_[i];
    const std::byte* base = region.base.load(std::memory_order_acquire);
    if (base == nullptr || payload < base || payload + size > base + region.size) continue;
    // Remove() clears `base` and then reads the references; here it is the other way round.
    ++region.references[queue];
    if (region.base == base) {
      key = region.key.load(std::memory_order_relaxed);
      return i;
    }
    --region.references[queue];
  }
  return kNone;
}

void RegisteredMemory::Give(uint32_t queue, uint32_t region) {
  --regions_[region].references[queue];
}

}  // namespace weir
