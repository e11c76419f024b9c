#include "nic_drivers/dpdk/eal_log.h"

#include <rte_log.h>

#include <cstdio>
#include <mutex>
#include <utility>

namespace weir {
namespace {

constexpr size_t kKept = 16 * 1024;

struct Log {
  std::mutex mutex;
  std::string text;
};
// Never destroyed: threads of DPDK may write until the process ends.
Log& TheLog() {
  static Log& log = *new Log;
  return log;
}

ssize_t Append(void* /*cookie*/, const char* text, size_t size) {
  Log& log = TheLog();
  const std::lock_guard lock(log.mutex);
  log.text.append(text, size);
  if (log.text.size() > kKept) log.text.erase(0, log.text.size() - kKept);
  return static_cast<ssize_t>(size);
}

}  // namespace

void KeepEalLog() {
  cookie_io_functions_t functions{};
  functions.write = Append;
  static FILE* const stream = fopencookie(nullptr, "w", functions);
  if (stream == nullptr) return;
  setvbuf(stream, nullptr, _IOLBF, 0);
  rte_openlog_stream(stream);
}

std::string TakeEalLog() {
  Log& log = TheLog();
  const std::lock_guard lock(log.mutex);
  return std::exchange(log.text, {});
}

}  // namespace weir
