// Writes a buffer into another host's memory.
//
//   host B:  write b.toml                    exposes a region and waits
//   host A:  write a.toml 10.0.0.2           writes into it, three times
#include <cstdio>
#include <vector>
#include <weir/weir.hpp>

namespace {

// The next completion of this kind; nullopt-like `bytes` of what failed are printed.
bool WaitFor(weir::Context& context, weir::Event wanted, weir::Completion& out) {
  while (true) {
    if (context.Poll(std::span(&out, 1)) == 0) continue;
    if (out.event == wanted) return true;
    if (out.event == weir::Event::kFailed || out.event == weir::Event::kClosed) {
      std::fprintf(stderr, "the connection ended: %s\n", Name(out.cause));
      return false;
    }
  }
}

int Wait(weir::Context& context) {
  std::vector<std::byte> memory(1 << 20);
  const absl::StatusOr<uint32_t> region = context.OpenRegion(memory.data(), memory.size());
  if (!region.ok()) return 1;
  std::printf("region %u of %zu bytes is open\n", *region, memory.size());
  weir::Completion completion;
  for (int i = 0; i < 3; ++i) {
    if (!WaitFor(context, weir::Event::kReceived, completion)) return 1;
    std::printf("%u bytes were written\n", completion.bytes);
  }
  WaitFor(context, weir::Event::kClosed, completion);
  return 0;
}

int Write(weir::Context& context, const char* remote) {
  const absl::StatusOr<weir::WireId> connection = context.Connect(remote);
  if (!connection.ok()) {
    std::fprintf(stderr, "%s\n", connection.status().ToString().c_str());
    return 1;
  }
  weir::Completion completion;
  if (!WaitFor(context, weir::Event::kOpened, completion)) return 1;
  std::vector<std::byte> data(1 << 20, std::byte{42});
  if (!context.RegisterMemory(data.data(), data.size()).ok()) return 1;
  for (int i = 0; i < 3; ++i) {
    const absl::Status posted = context.PostWrite(
        *connection, {.data = data.data(), .length = 1 << 20, .region = 0, .notify = true});
    if (!posted.ok() || !WaitFor(context, weir::Event::kSent, completion)) return 1;
  }
  const absl::StatusOr<weir::ConnectionInfo> info = context.Describe(*connection);
  if (info.ok()) {
    std::printf("3 MiB with %s over %s, %llu packets, %llu of them again\n",
                info->algorithm.c_str(), info->policy.c_str(),
                static_cast<unsigned long long>(info->sent.packets),
                static_cast<unsigned long long>(info->sent.retransmits));
  }
  return context.Close(*connection).ok() && WaitFor(context, weir::Event::kClosed, completion) ? 0
                                                                                               : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: write CONFIG.toml [REMOTE]\n");
    return 2;
  }
  const absl::StatusOr<weir::ContextOptions> options = weir::LoadContext(argv[1]);
  if (!options.ok()) {
    std::fprintf(stderr, "%s\n", options.status().ToString().c_str());
    return 2;
  }
  absl::StatusOr<std::unique_ptr<weir::Context>> context = weir::Context::Open(*options);
  if (!context.ok()) {
    std::fprintf(stderr, "%s\n", context.status().ToString().c_str());
    return 3;
  }
  return argc == 2 ? Wait(**context) : Write(**context, argv[2]);
}
