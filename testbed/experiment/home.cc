#include "testbed/experiment/home.h"

namespace weir {

Counters Home::TotalCounters() {
  Counters total;
  for (const uint32_t host : hosts_) {
    Look(host, [&total](const Endpoint& endpoint) { total += endpoint.counters(); });
  }
  return total;
}

std::optional<Home::Opener> Home::OpenerOf(uint32_t host, WireId id) {
  std::optional<Opener> opener;
  Look(host, [&](const Endpoint& endpoint) {
    const Connection* accepted = endpoint.Find(id);
    if (accepted != nullptr) opener = {.host = HostOf(accepted->remote), .id = accepted->peer};
  });
  return opener;
}

Bytes Home::InFlight(uint32_t host, WireId id) {
  Bytes in_flight{};
  Look(host, [&](const Endpoint& endpoint) {
    const Connection* c = endpoint.Find(id);
    if (c != nullptr) in_flight = c->sender.in_flight();
  });
  return in_flight;
}

}  // namespace weir
