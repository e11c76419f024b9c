#include "nic_drivers/verbs/name.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace weir {
namespace {

constexpr char kForm[] = "verbs:<device>[,port=1][,gid=<index>][,paths=8]";

absl::Status Bad(const std::string& text, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrFormat("device \"%s\": %s; the form is %s", text, what, kForm));
}

}  // namespace

absl::StatusOr<VerbsName> ParseVerbsName(const std::string& text) {
  constexpr char kPrefix[] = "verbs:";
  if (text.rfind(kPrefix, 0) != 0) return Bad(text, "it does not begin with verbs:");
  const std::vector<std::string> parts = absl::StrSplit(text.substr(sizeof kPrefix - 1), ',');
  VerbsName name{.device = parts.front()};
  if (name.device.empty() || name.device.find('/') != std::string::npos) {
    return Bad(text, "it names no RDMA device (ibv_devices lists them)");
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    const std::string key = parts[i].substr(0, equals);
    int value = -1;
    const bool number = equals != std::string::npos &&
                        absl::SimpleAtoi(parts[i].substr(equals + 1).c_str(), &value);
    const auto within = [&](int least, int most) {
      return number && value >= least && value <= most;
    };
    if (key == "port") {
      if (!within(1, 255)) return Bad(text, "port is a number from 1 to 255");
      name.port = static_cast<uint8_t>(value);
    } else if (key == "gid") {
      if (!within(0, 255)) return Bad(text, "gid is an index from 0 to 255");
      name.gid = value;
    } else if (key == "paths") {
      if (!within(1, kVerbsPathsMax)) {
        return Bad(text, absl::StrFormat("paths is a number from 1 to %d", kVerbsPathsMax));
      }
      name.paths = static_cast<uint32_t>(value);
    } else {
      return Bad(text, absl::StrFormat("it has no option \"%s\"", key));
    }
  }
  return name;
}

}  // namespace weir
