#include "nic_drivers/verbs/listing.h"

#include <algorithm>
#include <cerrno>

namespace weir {
namespace {

struct FreeList {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
};

constexpr size_t kGidsMax = 1024;

GidKind KindOf(uint32_t type) {
  switch (type) {
    case IBV_GID_TYPE_ROCE_V1:
      return GidKind::kRoceV1;
    case IBV_GID_TYPE_ROCE_V2:
      return GidKind::kRoceV2;
    default:
      return GidKind::kInfiniBand;
  }
}

}  // namespace

std::vector<std::string> ListVerbsDevices() {
  std::vector<std::string> names;
  int count = 0;
  const std::unique_ptr<ibv_device*, FreeList> list(ibv_get_device_list(&count));
  for (int i = 0; list != nullptr && i < count; ++i) {
    names.push_back(std::string("verbs:") + ibv_get_device_name(list.get()[i]));
  }
  return names;
}

VerbsContext OpenVerbsContext(const std::string& device) {
  int count = 0;
  const std::unique_ptr<ibv_device*, FreeList> list(ibv_get_device_list(&count));
  for (int i = 0; list != nullptr && i < count; ++i) {
    if (device == ibv_get_device_name(list.get()[i])) {
      return VerbsContext(ibv_open_device(list.get()[i]));
    }
  }
  errno = ENODEV;
  return nullptr;
}

std::vector<GidEntry> GidsOf(ibv_context* context, uint8_t port) {
  std::vector<ibv_gid_entry> entries(kGidsMax);
  const ssize_t got = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  std::vector<GidEntry> gids;
  for (ssize_t i = 0; i < got; ++i) {
    const ibv_gid_entry& e = entries[static_cast<size_t>(i)];
    // An address handle has room for 8 bits of index.
    if (e.port_num != port || e.gid_index > 255) continue;
    GidEntry gid{.index = e.gid_index, .kind = KindOf(e.gid_type)};
    std::copy_n(e.gid.raw, gid.gid.size(), gid.gid.begin());
    gids.push_back(gid);
  }
  return gids;
}

}  // namespace weir
