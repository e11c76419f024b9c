// Runs the `weir` program to its end, from the source folder.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace weir {

struct Outcome {
  int exit_code = -1;
  std::string text;  // standard output and error together
};

inline Outcome RunShell(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer{};
  while (size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.text.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

inline Outcome Weir(const std::string& arguments) {
  return RunShell(std::string("cd ") + WEIR_SOURCE_DIR + " && " + WEIR_PROGRAM + " " + arguments);
}

}  // namespace weir
