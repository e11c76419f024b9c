// Worker processes of a sweep. Each is this program again and is given one run at a time, so that a
// run that crashes takes nothing else with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weir {

// Of a run that is over: its number in the sweep, and what went wrong (empty: nothing).
using OnRunDone = std::function<void(uint32_t run, const std::string& error)>;

// Runs `runs` with `jobs` processes of `command` (argv). A worker reads a number a line from
// standard input and answers with "done N" or "failed N REASON" on standard output.
void RunInWorkers(const std::vector<std::string>& command, uint32_t jobs,
                  const std::vector<uint32_t>& runs, const OnRunDone& on_done);

// The worker's side: calls `run` for each number until standard input ends. `run` returns an error
// or nothing.
void ServeAsWorker(const std::function<std::string(uint32_t run)>& run);

}  // namespace weir
