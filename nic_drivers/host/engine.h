// Threads that turn the crank of endpoints, and the rings by which an application reaches them.
//
// As deployed, a thread has one endpoint, on a core of its own. A testbed on a small machine may
// give a thread several.
#pragma once

#include <atomic>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "datapath/endpoint.h"
#include "datapath/poll_loop.h"
#include "nic_drivers/host/poll_stats.h"

namespace weir {

// A message or buffer on its way from the application to its endpoint.
struct Posting {
  WireId connection{};
  std::variant<SendRequest, WriteRequest, ReceiveRequest> request{};
};

// The application's side of an endpoint that another thread polls. One thread uses it at a time.
class Channel {
 public:
  Channel(NicPort& port, std::unique_ptr<Endpoint> endpoint, uint32_t ring,
          const std::atomic<bool>& running);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Runs `work` on the endpoint's thread, between two polls, and waits for it; on this thread while
  // the engine does not run.
  void Call(absl::FunctionRef<void(Time now, Endpoint&)> work);

  // False: the ring is full; poll completions and try again. A posting that its endpoint cannot
  // take comes back as a kRejected completion with its cookie.
  bool Post(const Posting& posting) { return postings_.push(posting); }
  size_t PollCompletions(std::span<Completion> out) {
    return completions_.pop(out.data(), out.size());
  }

 private:
  friend class Engine;
  using Work = absl::FunctionRef<void(Time now, Endpoint&)>;

  // On the endpoint's thread; returns whether anything was done.
  bool Turn();
  void Take(Time now, const Posting& posting);

  NicPort& port_;
  std::unique_ptr<Endpoint> endpoint_;
  boost::lockfree::spsc_queue<Posting> postings_;
  boost::lockfree::spsc_queue<Completion> completions_;
  std::atomic<Work*> call_{nullptr};
  const std::atomic<bool>& running_;  // the engine's
};

struct EngineConfig {
  uint32_t threads = 1;      // [1, Engine::kThreadsMax]
  std::vector<int> cores{};  // where they run, in turn; empty: as the process is bound
  bool idle_sleep = false;   // sleep while nothing is due, up to idle_sleep_max
  Duration idle_sleep_max = Micros(20);
  uint32_t ring = 4096;  // postings and completions of a channel
  // Run on each thread before its first poll and after its last; a driver may need to know it.
  std::function<void()> thread_begins{};
  std::function<void()> thread_ends{};
};

class Engine {
 public:
  static constexpr uint32_t kThreadsMax = 64;

  static absl::StatusOr<std::unique_ptr<Engine>> Create(const EngineConfig& config);
  ~Engine();  // stops
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // While stopped. `port` outlives the engine; `thread` < config.threads.
  Channel& Add(NicPort& port, std::unique_ptr<Endpoint> endpoint, uint32_t thread);
  absl::Status Start();
  void Stop();

  PollStats stats(uint32_t thread) const;

 private:
  struct Worker;
  explicit Engine(const EngineConfig& config);
  void Run(Worker& worker);
  void Sleep(const Worker& worker);

  EngineConfig config_;
  double cycles_per_second_;
  std::atomic<bool> running_{false};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Channel>> channels_;
};

}  // namespace weir
