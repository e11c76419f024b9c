#include "nic_drivers/dpdk/regions.h"

#include <rte_malloc.h>

#include <algorithm>
#include <mutex>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

constexpr size_t kZeros = 64 * 1024;  // as much as one buffer can hold

// Payload whose content does not matter; kept for the life of the process.
const std::byte* Zeros() {
  static const auto* zeros = static_cast<const std::byte*>(rte_zmalloc("weir_zeros", kZeros, 4096));
  return zeros;
}

// The memory is not ours to free.
void Keep(void* /*memory*/, void* /*opaque*/) {}

}  // namespace

// Of closed devices, until nothing refers to them and the next device is closed.
struct Regions::Retired {
  std::mutex mutex;
  std::vector<std::unique_ptr<std::array<Region, kMax>>> regions;
};

Regions::Regions(uint32_t queues) : regions_(std::make_unique<std::array<Region, kMax>>()) {
  for (Region& region : *regions_) {
    region.infos.resize(queues);
    for (Info& info : region.infos) {
      info.free_cb = Keep;
      rte_mbuf_ext_refcnt_set(&info, 1);
    }
  }
  Region& zeros = regions_->front();
  zeros.owner = Zeros();
  zeros.size = Zeros() == nullptr ? 0 : kZeros;
  zeros.iova = reinterpret_cast<uint64_t>(Zeros());
  zeros.base = Zeros();
}

Regions::~Regions() {
  static Retired& retired = *new Retired;
  const std::lock_guard lock(retired.mutex);
  retired.regions.push_back(std::move(regions_));
  std::erase_if(retired.regions, [](const auto& regions) {
    return std::none_of(regions->begin(), regions->end(), InUse);
  });
}

bool Regions::InUse(const Region& region) {
  return std::any_of(region.infos.begin(), region.infos.end(),
                     [](const Info& info) { return rte_mbuf_ext_refcnt_read(&info) != 1; });
}

absl::Status Regions::Add(const std::byte* base, size_t size, uint64_t iova) {
  if (base == nullptr || size == 0) {
    return absl::InvalidArgumentError("memory to register must have an address and a size");
  }
  for (Region& region : *regions_) {
    if (region.owner != base) continue;
    return absl::AlreadyExistsError("memory at this address is registered, or not yet released");
  }
  for (uint32_t i = 1; i < kMax; ++i) {
    Region& region = (*regions_)[i];
    if (region.owner != nullptr) continue;
    region.owner = base;
    region.size = size;
    region.iova = iova;
    region.base = base;
    if (used_ <= i) used_ = i + 1;
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrFormat(
      "a device takes %d regions of memory; register fewer, larger ones", kMax - 1));
}

absl::Status Regions::Remove(const std::byte* base) {
  for (uint32_t i = 1; i < kMax; ++i) {
    Region& region = (*regions_)[i];
    if (base == nullptr || region.owner != base) continue;
    region.base = nullptr;
    if (InUse(region)) {
      return absl::UnavailableError(
          "frames on their way refer to this memory; poll the queues and try again");
    }
    region.owner = nullptr;
    return absl::OkStatus();
  }
  return absl::NotFoundError("no memory is registered at this address");
}

bool Regions::Attach(uint32_t queue, const std::byte* payload, uint32_t size, rte_mbuf& mbuf) {
  if (payload == nullptr) {
    Region& zeros = regions_->front();
    return size <= zeros.size && AttachTo(zeros, queue, zeros.base, size, mbuf);
  }
  const uint32_t used = used_.load(std::memory_order_acquire);
  for (uint32_t i = 1; i < used; ++i) {
    Region& region = (*regions_)[i];
    const std::byte* base = region.base.load(std::memory_order_acquire);
    if (base == nullptr || payload < base) continue;
    const auto offset = static_cast<size_t>(payload - base);
    const size_t room = region.size.load(std::memory_order_relaxed);
    if (offset <= room && size <= room - offset) {
      return AttachTo(region, queue, payload, size, mbuf);
    }
  }
  return false;
}

// First the reference, then another look: either Remove sees the reference, or we see that it has
// been here.
bool Regions::AttachTo(Region& region, uint32_t queue, const std::byte* payload, uint32_t size,
                       rte_mbuf& mbuf) {
  Info& info = region.infos[queue];
  const std::byte* base = region.base.load(std::memory_order_relaxed);
  __atomic_add_fetch(&info.refcnt, 1, __ATOMIC_SEQ_CST);
  const bool gone = base == nullptr || region.base.load(std::memory_order_seq_cst) != base;
  if (gone) {
    __atomic_sub_fetch(&info.refcnt, 1, __ATOMIC_SEQ_CST);
    return false;
  }
  void* address = const_cast<std::byte*>(payload);  // devices only read it
  const rte_iova_t iova =
      region.iova.load(std::memory_order_relaxed) + static_cast<uint64_t>(payload - base);
  rte_pktmbuf_attach_extbuf(&mbuf, address, iova, static_cast<uint16_t>(size), &info);
  mbuf.data_len = static_cast<uint16_t>(size);
  return true;
}

}  // namespace weir
