// What an RDMA device reports, in words.
#pragma once

#include <string>

namespace weir {

// `status`: ibv_wc_status.
std::string CompletionCause(int status);
// `event`: ibv_event_type.
std::string EventCause(int event);
// Whether the device can no longer be used after it.
bool EventEndsDevice(int event);

}  // namespace weir
