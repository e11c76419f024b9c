// What a report says of a machine.
#pragma once

#include <string>

namespace weir {

struct HostFacts {
  std::string system;   // kernel and processor
  std::string version;  // of Weir
};
// Where this process runs.
HostFacts ThisHost();

}  // namespace weir
