// Quantities as people write them: "64KiB", "250us", "100Gbps", "0.8".
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "datapath/api/params.h"
#include "datapath/api/units.h"

namespace weir {

// Units: B, kB, MB, GB (10^3), KiB, MiB, GiB (2^10); ns, us, ms, s; bps, kbps, Mbps, Gbps, Tbps.
// A bare number without a unit is refused, with the units that would do in the message.
absl::StatusOr<Bytes> ParseBytes(const std::string& text);
absl::StatusOr<Duration> ParseDuration(const std::string& text);
absl::StatusOr<Rate> ParseRate(const std::string& text);

// A value of a plug-in's parameter in base units; checks unit and range. Ratios and counts are bare
// numbers, flags are true or false, choices one of their names.
absl::StatusOr<double> ParseParam(const ParamSpec& spec, const std::string& text);

// The shortest text that reads back as the same value: "64KiB", "1.5us", "100Gbps".
std::string Format(Bytes bytes);
std::string Format(Duration duration);
std::string Format(Rate rate);
std::string FormatParam(const ParamSpec& spec, double value);

}  // namespace weir
