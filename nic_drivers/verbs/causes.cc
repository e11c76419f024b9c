#include "nic_drivers/verbs/causes.h"

#include <infiniband/verbs.h>

#include "absl/strings/str_format.h"

namespace weir {

std::string CompletionCause(int status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return "done";
    case IBV_WC_WR_FLUSH_ERR:
      return "flushed: its queue pair had failed before, or was closed";
    case IBV_WC_RETRY_EXC_ERR:
      return "the peer did not answer any of the retries";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "the peer had no receive buffer for all of the retries";
    case IBV_WC_LOC_LEN_ERR:
      return "longer than the buffer, or than the path MTU";
    case IBV_WC_LOC_QP_OP_ERR:
      return "the device could not send: no way to the peer (link down, no route or no neighbour)";
    case IBV_WC_LOC_PROT_ERR:
      return "memory that is not registered, or not any more";
    case IBV_WC_FATAL_ERR:
      return "the device failed";
    default:
      return absl::StrFormat("%s (ibv_wc_status %d)",
                             ibv_wc_status_str(static_cast<ibv_wc_status>(status)), status);
  }
}

std::string EventCause(int event) {
  switch (event) {
    case IBV_EVENT_PORT_ACTIVE:
      return "the port is up";
    case IBV_EVENT_PORT_ERR:
      return "the port is down: look at the cable, or at its network interface (ip link)";
    case IBV_EVENT_DEVICE_FATAL:
      return "the device was removed or failed: close it";
    case IBV_EVENT_CQ_ERR:
      return "a completion queue overflowed or failed: close the device and open it again";
    case IBV_EVENT_QP_FATAL:
      return "a queue pair failed";
    case IBV_EVENT_SRQ_ERR:
      return "the queue of receive buffers failed: close the device and open it again";
    case IBV_EVENT_GID_CHANGE:
      return "the port's table of GIDs changed: an IP address came or went";
    default:
      return absl::StrFormat("%s (ibv_event_type %d)",
                             ibv_event_type_str(static_cast<ibv_event_type>(event)), event);
  }
}

bool EventEndsDevice(int event) {
  return event == IBV_EVENT_DEVICE_FATAL || event == IBV_EVENT_CQ_ERR || event == IBV_EVENT_SRQ_ERR;
}

}  // namespace weir
