#include "nic_drivers/udp/name.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace weir {
namespace {

absl::Status Bad(const std::string& text, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrFormat("device \"%s\": %s; the form is udp:<interface>[,paths=16]", text, what));
}

}  // namespace

absl::StatusOr<UdpName> ParseUdpName(const std::string& text) {
  constexpr char kPrefix[] = "udp:";
  if (text.rfind(kPrefix, 0) != 0) return Bad(text, "it does not begin with udp:");
  const std::vector<std::string> parts = absl::StrSplit(text.substr(sizeof kPrefix - 1), ',');
  UdpName name{.interface = parts.front()};
  if (name.interface.empty()) return Bad(text, "it names no interface (ip -br addr lists them)");
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (parts[i].substr(0, equals) != "paths") {
      return Bad(text, absl::StrFormat("it has no option \"%s\"", parts[i].substr(0, equals)));
    }
    int value = 0;
    const bool number = equals != std::string::npos &&
                        absl::SimpleAtoi(parts[i].substr(equals + 1).c_str(), &value);
    if (!number || value < 1 || value > kUdpPathsMax) {
      return Bad(text, absl::StrFormat("paths is a number from 1 to %d", kUdpPathsMax));
    }
    name.paths = static_cast<uint32_t>(value);
  }
  return name;
}

}  // namespace weir
