// The files of testbed/report/files, which are part of the program.
#pragma once

#include <string>

namespace weir {

// The text of a file; one that is not there ends the program.
std::string EmbeddedFile(const char* name);

}  // namespace weir
