#include "nic_drivers/dpdk/doctor.h"

#include <rte_version.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_format.h"
#include "nic_drivers/dpdk/doctor_device.h"
#include "nic_drivers/dpdk/eal.h"
#include "nic_drivers/dpdk/host_facts.h"

namespace weir {
namespace {

namespace fs = std::filesystem;
using Findings = std::vector<Finding>;

constexpr uint64_t kLockedMin = 64 << 20;

void Say(Findings& out, bool good, const std::string& text, const std::string& remedy,
         Verdict otherwise = Verdict::kWarn) {
  out.push_back({good ? Verdict::kOk : otherwise, text, good ? "" : remedy});
}

void CheckHugePages(bool pci, Findings& out) {
  std::error_code error;
  int64_t found = 0;
  for (const auto& node : fs::directory_iterator("/sys/devices/system/node", error)) {
    const std::string name = node.path().filename();
    if (name.rfind("node", 0) != 0) continue;
    int64_t bytes = 0;
    for (const auto& size : fs::directory_iterator(node.path() / "hugepages", error)) {
      // "hugepages-2048kB"
      const int64_t kilobytes = std::atoll(size.path().filename().string().substr(10).c_str());
      bytes += kilobytes * 1024 * std::atoll(FirstLine(size.path() / "free_hugepages").c_str());
    }
    found += bytes;
    Say(out, bytes > 0, absl::StrFormat("huge pages on %s: %d MB free", name, bytes >> 20),
        absl::StrFormat("echo 1024 | sudo tee /sys/devices/system/node/%s/hugepages/"
                        "hugepages-2048kB/nr_hugepages",
                        name));
  }
  if (found == 0) found = FreeHugeBytes();
  if (pci && found == 0) {
    Say(out, false, "a PCI device needs huge pages", "reserve some as above", Verdict::kFail);
  }
}

void CheckMounts(Findings& out) {
  std::ifstream mounts("/proc/mounts");
  bool mounted = false;
  for (std::string line; std::getline(mounts, line);) {
    mounted = mounted || line.find(" hugetlbfs ") != std::string::npos;
  }
  Say(out, mounted, mounted ? "hugetlbfs is mounted" : "hugetlbfs is not mounted",
      "needed only if other processes attach (--file-prefix): sudo mount -t hugetlbfs none "
      "/dev/hugepages");
}

void CheckLockedMemory(Findings& out) {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const bool unlimited = limit.rlim_cur == RLIM_INFINITY;
  Say(out, unlimited || limit.rlim_cur >= kLockedMin || geteuid() == 0,
      unlimited ? "locked memory: unlimited"
                : absl::StrFormat("locked memory: %d KiB%s", limit.rlim_cur >> 10,
                                  geteuid() == 0 ? ", which does not bind root" : ""),
      "ulimit -l unlimited, or LimitMEMLOCK=infinity in the service's unit");
}

void CheckIommu(bool pci, Findings& out) {
  std::error_code error;
  const bool iommu = fs::exists("/sys/kernel/iommu_groups", error) &&
                     !fs::is_empty("/sys/kernel/iommu_groups", error);
  const Verdict otherwise = pci ? Verdict::kFail : Verdict::kWarn;
  Say(out, iommu, iommu ? "the IOMMU is on" : "there is no IOMMU, or it is off",
      "boot with intel_iommu=on iommu=pt (AMD: iommu=pt); without one only virtual devices and "
      "those that share the kernel's driver work",
      pci ? Verdict::kWarn : otherwise);
  const bool vfio = access("/dev/vfio/vfio", R_OK | W_OK) == 0;
  Say(out, vfio, vfio ? "vfio is there and accessible" : "/dev/vfio/vfio is not accessible",
      "sudo modprobe vfio-pci, and give this user access to /dev/vfio; needed for PCI devices");
}

bool CpuFlag(const std::string& flag) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("flags", 0) == 0)
      return (line + " ").find(" " + flag + " ") != std::string::npos;
  }
  return false;
}

void CheckProcessor(Findings& out) {
  const bool steady = CpuFlag("constant_tsc") && CpuFlag("nonstop_tsc");
  Say(out, steady,
      steady ? "the time-stamp counter is invariant" : "the time-stamp counter may change its rate",
      "ports tell the time by it; use another machine, or another type of virtual machine");
  const std::string governor = FirstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  Say(out, governor.empty() || governor == "performance",
      "frequency governor: " + (governor.empty() ? "none" : governor),
      "sudo cpupower frequency-set -g performance");
  const std::string isolated = FirstLine("/sys/devices/system/cpu/isolated");
  Say(out, !isolated.empty(), "isolated cores: " + (isolated.empty() ? "none" : isolated),
      "for steady latency boot with isolcpus=<cores> nohz_full=<cores> rcu_nocbs=<cores> and poll "
      "on those");
}

void CheckDpdk(Findings& out) {
  std::error_code error;
  int drivers = 0;
  fs::path directory(RTE_EAL_PMD_PATH);
  if (directory.is_relative()) directory = fs::path("/usr/lib/x86_64-linux-gnu") / directory;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    drivers += name.rfind("librte_net_", 0) == 0 && name.ends_with(".so") ? 1 : 0;
  }
  Say(out, drivers > 0,
      absl::StrFormat("%s; %d network drivers in %s", rte_version(), drivers, directory.string()),
      "install them: sudo apt-get install librte-meta-net", Verdict::kFail);
}

bool HasCapability(int number) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("CapEff:", 0) != 0) continue;
    return (std::strtoull(line.c_str() + 7, nullptr, 16) >> number & 1) != 0;
  }
  return false;
}

void CheckPermissions(Findings& out) {
  constexpr int kNetAdmin = 12, kNetRaw = 13, kSysAdmin = 21, kBpf = 39;
  Say(out, HasCapability(kNetRaw), "permission for AF_PACKET (CAP_NET_RAW)",
      "missing: run as root, or sudo setcap cap_net_raw,cap_net_admin+ep <program>");
  Say(out, HasCapability(kNetRaw) && (HasCapability(kBpf) || HasCapability(kSysAdmin)),
      "permission for AF_XDP (CAP_NET_RAW, CAP_BPF)",
      "missing: run as root, or sudo setcap cap_net_raw,cap_net_admin,cap_bpf+ep <program>");
  Say(out, HasCapability(kNetAdmin) && access("/dev/net/tun", R_OK | W_OK) == 0,
      "permission for TAP (CAP_NET_ADMIN, /dev/net/tun)",
      "missing: run as root, and sudo modprobe tun");
}

}  // namespace

std::vector<Finding> ExamineHost(const std::string& device) {
  Findings out;
  DeviceName name;
  if (!device.empty()) {
    absl::StatusOr<DeviceName> parsed = ParseDeviceName(device);
    if (!parsed.ok()) {
      out.push_back({Verdict::kFail, "device " + device, std::string(parsed.status().message())});
    } else {
      name = *parsed;
    }
  }
  CheckDpdk(out);
  CheckHugePages(name.pci, out);
  CheckMounts(out);
  CheckLockedMemory(out);
  CheckIommu(name.pci, out);
  CheckProcessor(out);
  CheckPermissions(out);
  if (!name.name.empty()) ExamineDevice(name, out);
  return out;
}

}  // namespace weir
