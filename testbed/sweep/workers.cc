#include "testbed/sweep/workers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

// One worker process and what it is at.
class Worker {
 public:
  static std::optional<Worker> Start(const std::vector<std::string>& command);
  Worker(Worker&& other) noexcept { *this = std::move(other); }
  Worker& operator=(Worker&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(to_, other.to_);
    std::swap(from_, other.from_);
    std::swap(text_, other.text_);
    std::swap(run, other.run);
    return *this;
  }
  ~Worker() {
    if (to_ >= 0) close(to_);
    if (from_ >= 0) close(from_);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }

  int from() const { return from_; }
  bool Give(uint32_t number) {
    run = number;
    const std::string line = absl::StrFormat("%d\n", number);
    return write(to_, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }
  // The next whole line, if there is one; `ended` once the process has closed its side.
  std::optional<std::string> TakeLine(bool& ended);
  // How it ended, in words.
  std::string End();

  std::optional<uint32_t> run;

 private:
  Worker() = default;
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string text_;
};

std::optional<Worker> Worker::Start(const std::vector<std::string>& command) {
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0) return std::nullopt;
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    return std::nullopt;
  }
  std::vector<char*> argv;
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execv("/proc/self/exe", argv.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  Worker worker;
  worker.pid_ = pid;
  worker.to_ = in[1];
  worker.from_ = out[0];
  if (pid < 0) return std::nullopt;
  return worker;
}

std::optional<std::string> Worker::TakeLine(bool& ended) {
  size_t end = text_.find('\n');
  if (end == std::string::npos) {
    char some[4096];
    const ssize_t n = read(from_, some, sizeof(some));
    if (n < 0 && errno == EINTR) return std::nullopt;
    if (n <= 0) {
      ended = true;
      return std::nullopt;
    }
    text_.append(some, static_cast<size_t>(n));
    end = text_.find('\n');
    if (end == std::string::npos) return std::nullopt;
  }
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

std::string Worker::End() {
  int status = 0;
  const pid_t pid = std::exchange(pid_, -1);
  if (waitpid(pid, &status, 0) != pid) return "its process is gone";
  if (WIFSIGNALED(status)) {
    return absl::StrFormat("its process was ended by signal %d (%s)", WTERMSIG(status),
                           strsignal(WTERMSIG(status)));
  }
  return absl::StrFormat("its process ended with exit code %d", WEXITSTATUS(status));
}

// "done 12" or "failed 12 REASON": the reason.
std::string ErrorOf(const std::string& line) {
  if (line.compare(0, 5, "done ") == 0) return "";
  const size_t space = line.find(' ', 7);
  return space == std::string::npos ? line : line.substr(space + 1);
}

class Pool {
 public:
  Pool(const std::vector<std::string>& command, const std::vector<uint32_t>& runs,
       const OnRunDone& on_done)
      : command_(command), runs_(runs), on_done_(on_done) {}

  void Run(uint32_t jobs) {
    jobs = static_cast<uint32_t>(std::min<size_t>(jobs, runs_.size()));
    for (uint32_t i = 0; i < jobs; ++i) AddWorker();
    while (!workers_.empty()) {
      std::vector<pollfd> ready;
      for (const Worker& w : workers_) ready.push_back({w.from(), POLLIN, 0});
      if (poll(ready.data(), ready.size(), -1) < 0) continue;
      for (size_t i = ready.size(); i-- > 0;) {
        if (ready[i].revents != 0) Hear(i);
      }
    }
    // Only if no process could be started.
    while (next_ < runs_.size()) on_done_(runs_[next_++], "no process could be started for it");
  }

 private:
  void AddWorker() {
    if (next_ == runs_.size()) return;
    std::optional<Worker> worker = Worker::Start(command_);
    if (!worker.has_value()) return;
    worker->Give(runs_[next_++]);
    workers_.push_back(*std::move(worker));
  }

  void Hear(size_t index) {
    Worker& worker = workers_[index];
    bool ended = false;
    const std::optional<std::string> line = worker.TakeLine(ended);
    if (line.has_value()) {
      on_done_(*worker.run, ErrorOf(*line));
      worker.run.reset();
      if (next_ < runs_.size()) {
        worker.Give(runs_[next_++]);
      } else {
        workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
      }
      return;
    }
    if (!ended) return;
    const std::string how = worker.End();
    if (worker.run.has_value()) on_done_(*worker.run, how);
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
    AddWorker();
  }

  const std::vector<std::string>& command_;
  const std::vector<uint32_t>& runs_;
  const OnRunDone& on_done_;
  std::vector<Worker> workers_;
  size_t next_ = 0;
};

}  // namespace

void RunInWorkers(const std::vector<std::string>& command, uint32_t jobs,
                  const std::vector<uint32_t>& runs, const OnRunDone& on_done) {
  // A worker that died must not end this process when it is given a run.
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  Pool(command, runs, on_done).Run(jobs);
  sigaction(SIGPIPE, &before, nullptr);
}

void ServeAsWorker(const std::function<std::string(uint32_t run)>& run) {
  uint32_t number = 0;
  while (std::cin >> number) {
    std::string error = run(number);
    std::ranges::replace(error, '\n', ' ');
    if (error.empty()) {
      std::printf("done %u\n", number);
    } else {
      std::printf("failed %u %s\n", number, error.c_str());
    }
    std::fflush(stdout);
  }
}

}  // namespace weir
