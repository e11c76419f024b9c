#include "nic_drivers/verbs/doctor.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nic_drivers/verbs/gid_choice.h"
#include "nic_drivers/verbs/listing.h"
#include "nic_drivers/verbs/name.h"

namespace weir {
namespace {

constexpr rlim_t kLockedMin = 64 << 20;  // bytes

Finding Memory() {
  rlimit limit{};
  (void)getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= kLockedMin) {
    return {.verdict = Verdict::kOk, .text = "RDMA: enough memory may be locked", .remedy = ""};
  }
  return {.verdict = Verdict::kWarn,
          .text = absl::StrFormat("RDMA: only %d KB of memory may be locked",
                                  static_cast<uint64_t>(limit.rlim_cur >> 10)),
          .remedy = "ulimit -l unlimited, or LimitMEMLOCK=infinity in the service's unit"};
}

Finding Named(const VerbsName& name) {
  const VerbsContext context = OpenVerbsContext(name.device);
  if (context == nullptr) {
    return {.verdict = Verdict::kFail,
            .text = absl::StrFormat("RDMA device %s cannot be opened", name.device),
            .remedy = "look at `rdma link` and at the rights of /dev/infiniband/uverbs*"};
  }
  const auto gid = ChooseGid(name.device, GidsOf(context.get(), name.port), name.gid, nullptr);
  if (!gid.ok()) {
    return {.verdict = Verdict::kFail, .text = std::string(gid.status().message()), .remedy = ""};
  }
  return {.verdict = Verdict::kOk,
          .text = absl::StrFormat("RDMA device %s: GID %d is RoCE v2", name.device, gid->index),
          .remedy = ""};
}

}  // namespace

std::vector<Finding> ExamineRdma(const std::string& device) {
  const bool wanted = device.rfind("verbs:", 0) == 0;
  const Verdict missing = wanted ? Verdict::kFail : Verdict::kWarn;
  const std::vector<std::string> names = ListVerbsDevices();
  if (names.empty()) {
    const bool kernel = std::filesystem::exists("/sys/class/infiniband_verbs");
    return {{.verdict = missing,
             .text = kernel ? "RDMA: there is no device"
                            : "RDMA: the kernel gives programs no access to devices",
             .remedy = kernel
                           ? "only for devices named verbs:...; in software: modprobe rdma_rxe && "
                             "rdma link add rxe0 type rxe netdev <interface>"
                           : "only for devices named verbs:...: modprobe ib_uverbs"}};
  }
  std::vector<Finding> out = {{.verdict = Verdict::kOk,
                               .text = "RDMA: there are " + absl::StrJoin(names, ", "),
                               .remedy = ""},
                              Memory()};
  if (!wanted) return out;
  const absl::StatusOr<VerbsName> name = ParseVerbsName(device);
  if (name.ok()) {
    out.push_back(Named(*name));
  } else {
    out.push_back(
        {.verdict = Verdict::kFail, .text = std::string(name.status().message()), .remedy = ""});
  }
  return out;
}

}  // namespace weir
