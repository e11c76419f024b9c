#include "nic_drivers/host/engine.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "absl/strings/str_format.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace weir {
namespace {

constexpr int kTakenAtOnce = 64;  // postings of a channel between two polls

uint64_t Cycles() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

double CyclesPerSecond() {
  using std::chrono::steady_clock;
  const auto begin = steady_clock::now();
  const uint64_t cycles = Cycles();
  while (steady_clock::now() - begin < std::chrono::milliseconds(2)) {
  }
  const std::chrono::duration<double> passed = steady_clock::now() - begin;
  return static_cast<double>(Cycles() - cycles) / passed.count();
}

absl::Status BindTo(std::thread& thread, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(core), &set);
  const int error = pthread_setaffinity_np(thread.native_handle(), sizeof(set), &set);
  if (error == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("engine: core %d: %s; taskset -p shows the cores that this process may use",
                      core, std::strerror(error)));
}

// Written by one thread, read by others.
class Tally {
 public:
  void Add(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void Raise(uint64_t n) {
    if (n > value_.load(std::memory_order_relaxed)) value_.store(n, std::memory_order_relaxed);
  }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace

// --- Channel ---

Channel::Channel(NicPort& port, std::unique_ptr<Endpoint> endpoint, uint32_t ring,
                 const std::atomic<bool>& running)
    : port_(port),
      endpoint_(std::move(endpoint)),
      postings_(ring),
      completions_(ring),
      running_(running) {}

void Channel::Call(Work work) {
  if (!running_.load(std::memory_order_acquire)) {
    return work(endpoint_->Forward(port_.Now()), *endpoint_);
  }
  call_.store(&work, std::memory_order_release);
  while (call_.load(std::memory_order_acquire) != nullptr) std::this_thread::yield();
}

bool Channel::Turn() {
  bool busy = PollOnce(port_, *endpoint_) > 0;
  Completion completion;
  while (completions_.write_available() > 0 && endpoint_->PollCompletion(completion)) {
    completions_.push(completion);
    busy = true;
  }
  if (Work* work = call_.load(std::memory_order_acquire); work != nullptr) {
    (*work)(endpoint_->Forward(port_.Now()), *endpoint_);
    call_.store(nullptr, std::memory_order_release);
    busy = true;
  }
  if (postings_.read_available() == 0) return busy;
  const Time now = endpoint_->Forward(port_.Now());
  Posting posting;
  // Each may come back as a completion, so there is room for one.
  for (int i = 0; i < kTakenAtOnce && completions_.write_available() > 0; ++i) {
    if (!postings_.pop(posting)) break;
    Take(now, posting);
  }
  return true;
}

void Channel::Take(Time now, const Posting& posting) {
  const WireId id = posting.connection;
  absl::Status status;
  if (const auto* send = std::get_if<SendRequest>(&posting.request)) {
    status = endpoint_->PostSend(now, id, *send);
  } else if (const auto* write = std::get_if<WriteRequest>(&posting.request)) {
    status = endpoint_->PostWrite(now, id, *write);
  } else {
    status = endpoint_->PostReceive(now, id, std::get<ReceiveRequest>(posting.request));
  }
  if (status.ok()) return;
  completions_.push(
      {.event = Event::kRejected,
       .cause = absl::IsResourceExhausted(status) ? Cause::kFull : Cause::kNotOpen,
       .connection = id,
       .cookie = std::visit([](const auto& request) { return request.cookie; }, posting.request),
       .at = now});
}

// --- Engine ---

struct Engine::Worker {
  std::thread thread;
  std::vector<Channel*> channels;
  Tally busy_cycles, idle_cycles, longest_gap;
};

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(const EngineConfig& config) {
  if (config.threads == 0 || config.threads > kThreadsMax) {
    return absl::InvalidArgumentError(
        absl::StrFormat("engine: threads is %d, allowed is 1 to %d", config.threads, kThreadsMax));
  }
  return std::unique_ptr<Engine>(new Engine(config));
}

Engine::Engine(const EngineConfig& config)
    : config_(config), cycles_per_second_(CyclesPerSecond()) {
  for (uint32_t i = 0; i < config.threads; ++i) workers_.push_back(std::make_unique<Worker>());
}

Engine::~Engine() { Stop(); }

Channel& Engine::Add(NicPort& port, std::unique_ptr<Endpoint> endpoint, uint32_t thread) {
  channels_.push_back(std::make_unique<Channel>(port, std::move(endpoint), config_.ring, running_));
  workers_[thread]->channels.push_back(channels_.back().get());
  return *channels_.back();
}

absl::Status Engine::Start() {
  if (running_.exchange(true)) return absl::OkStatus();
  absl::Status status;
  for (size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = *workers_[i];
    worker.thread = std::thread([this, &worker] { Run(worker); });
    if (config_.cores.empty()) continue;
    status.Update(BindTo(worker.thread, config_.cores[i % config_.cores.size()]));
  }
  if (!status.ok()) Stop();
  return status;
}

void Engine::Stop() {
  running_.store(false, std::memory_order_release);
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

void Engine::Run(Worker& worker) {
  // Sleeps end in time; without it the kernel may add 50 us.
  if (config_.idle_sleep) prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  if (config_.thread_begins != nullptr) config_.thread_begins();
  uint64_t begin = Cycles();
  while (running_.load(std::memory_order_relaxed)) {
    bool busy = false;
    for (Channel* channel : worker.channels) busy |= channel->Turn();
    const uint64_t end = Cycles();
    (busy ? worker.busy_cycles : worker.idle_cycles).Add(end - begin);
    worker.longest_gap.Raise(end - begin);
    begin = end;
    if (busy || !config_.idle_sleep) continue;
    Sleep(worker);
    begin = Cycles();
    worker.idle_cycles.Add(begin - end);
  }
  if (config_.thread_ends != nullptr) config_.thread_ends();
}

// Until something is due, and not for long: what arrives meanwhile waits.
void Engine::Sleep(const Worker& worker) {
  Duration most = config_.idle_sleep_max;
  for (Channel* channel : worker.channels) {
    const Time now = channel->port_.Now();
    most = std::min(most, channel->endpoint_->NextWakeup(now) - now);
  }
  if (most > Duration(0)) std::this_thread::sleep_for(std::chrono::nanoseconds(most.count()));
}

PollStats Engine::stats(uint32_t thread) const {
  const Worker& w = *workers_[thread];
  return {.busy_cycles = w.busy_cycles.value(),
          .idle_cycles = w.idle_cycles.value(),
          .longest_gap_cycles = w.longest_gap.value(),
          .cycles_per_second = cycles_per_second_};
}

}  // namespace weir
