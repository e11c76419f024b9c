#include "testbed/perf/server.h"

#include <array>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"

namespace weir {

absl::StatusOr<std::unique_ptr<PerfServer>> PerfServer::Create(Context& context, uint64_t capacity,
                                                               bool discard) {
  std::unique_ptr<PerfServer> server(new PerfServer(context, capacity, discard));
  std::byte* base = discard ? nullptr : server->memory_.data();
  const absl::StatusOr<uint32_t> region = context.OpenRegion(base, capacity);
  if (!region.ok()) return region.status();
  server->region_ = *region;
  if (discard) return server;
  const absl::Status registered = context.RegisterMemory(base, capacity);
  if (!registered.ok()) return registered;
  return server;
}

PerfServer::PerfServer(Context& context, uint64_t capacity, bool discard)
    : context_(context), capacity_(capacity), memory_(discard ? 0 : capacity) {}

PerfServer::~PerfServer() {
  (void)context_.CloseRegion(region_);
  if (memory_.empty()) return;
  while (absl::IsUnavailable(context_.UnregisterMemory(memory_.data()))) std::this_thread::yield();
}

template <class Fn>
void PerfServer::Insist(Fn post) {
  while (absl::IsResourceExhausted(post())) {
    std::array<Completion, 32> some;
    const size_t n = context_.Poll(some);
    waiting_.insert(waiting_.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
    if (n == 0) std::this_thread::yield();
  }
}

bool PerfServer::Step() {
  std::array<Completion, 32> some;
  const size_t n = context_.Poll(some);
  for (size_t i = 0; i < n; ++i) Handle(some[i]);
  while (!waiting_.empty()) {
    for (const Completion& completion : std::exchange(waiting_, {})) Handle(completion);
  }
  return n > 0;
}

void PerfServer::PostReceive(WireId id, uint64_t length) {
  std::byte* data = memory_.empty() ? nullptr : memory_.data();
  Insist([&] {
    return context_.PostReceive(id, {.data = data, .capacity = static_cast<uint32_t>(length)});
  });
}

void PerfServer::Handle(const Completion& completion) {
  const WireId id = completion.connection;
  const auto found = peers_.find(id.value);
  switch (completion.event) {
    case Event::kAccepted: {
      auto peer = std::make_unique<Peer>();
      PerfHello& hello = peer->hello;
      peers_[id.value] = std::move(peer);
      ++clients_;
      return Insist([&] {
        return context_.PostReceive(
            id, {.data = reinterpret_cast<std::byte*>(&hello), .capacity = sizeof(PerfHello)});
      });
    }
    case Event::kReceived: {
      if (found == peers_.end()) return;
      Peer& peer = *found->second;
      if (!peer.greeted) return Greet(id, peer);
      if (peer.hello.kind == PerfKind::kEcho) {
        const std::byte* data = memory_.empty() ? nullptr : memory_.data();
        Insist([&] { return context_.PostSend(id, {.data = data, .length = completion.bytes}); });
      }
      return PostReceive(id, peer.hello.length);
    }
    case Event::kClosed:
    case Event::kFailed:
      if (found == peers_.end()) return;
      peers_.erase(found);
      ++ended_;
      news_.push_back(
          absl::StrFormat("connection %#x ended: %s", id.value, Name(completion.cause)));
      return;
    case Event::kRejected:
      // A reply or a receive that found no room: the client would wait for it.
      if (found == peers_.end() || completion.cause != Cause::kFull) return;
      news_.push_back(absl::StrFormat("connection %#x: %s", id.value, Name(completion.cause)));
      (void)context_.Abort(id);
      return;
    default:
      return;
  }
}

void PerfServer::Greet(WireId id, Peer& peer) {
  peer.greeted = true;
  const PerfHello& hello = peer.hello;
  if (hello.magic != kPerfMagic || hello.version != kPerfVersion) {
    news_.push_back(absl::StrFormat("connection %#x does not speak as weir perf does", id.value));
    (void)context_.Abort(id);
    return;
  }
  if (hello.kind != PerfKind::kWrite && hello.length <= capacity_) {
    for (uint32_t i = 0; i < hello.depth; ++i) PostReceive(id, hello.length);
  }
  peer.ready = {.region = region_, .capacity = capacity_};
  Insist([&] {
    return context_.PostSend(
        id, {.data = reinterpret_cast<const std::byte*>(&peer.ready), .length = sizeof(PerfReady)});
  });
}

}  // namespace weir
