#include "testbed/cli/nic_address.h"

#include "nic_drivers/registry.h"

namespace weir {

std::string AddressFor(const std::string& device, const std::string& given, const char* usual) {
  const DriverEntry* driver = FindDriver(device);
  const bool own = driver != nullptr && driver->has_address;
  return given.empty() && !own ? usual : given;
}

}  // namespace weir
