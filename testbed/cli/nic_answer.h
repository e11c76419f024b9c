// weir nic answer: the other host's part of `weir nic check A --with HOST`.
#pragma once

#include <CLI/CLI.hpp>

namespace weir {

void AddNicAnswer(CLI::App& nic, int& exit_code);

}  // namespace weir
