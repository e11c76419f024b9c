// What an experiment's file and overrides say, key by key: what results of it are told apart by.
#pragma once

#include <toml++/toml.h>

#include <string>
#include <vector>

#include "testbed/experiment/experiment.h"

namespace weir {

// Every value with its path, "arms.0.cc" and "'nscc'", in the order of keys. A value that names a
// file (from the folder of `file`) is followed by "arms.0.file#" and a hash of its content.
std::vector<GivenValue> FlattenGiven(const toml::table& table, const std::string& file);

// 36 characters, the same on every machine.
std::string ContentHash(const std::string& text);

}  // namespace weir
