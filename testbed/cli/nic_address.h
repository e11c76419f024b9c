// The address that a device is opened with by `weir nic`.
#pragma once

#include <string>

namespace weir {

// `given` by the user, or `usual` for devices that have none of their own; empty: the device's own.
std::string AddressFor(const std::string& device, const std::string& given, const char* usual);

}  // namespace weir
