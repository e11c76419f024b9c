// A program that runs beside a test: its output, its signals, its end. Gone with this object.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

namespace weir {

class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments) {
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      dup2(out[1], STDERR_FILENO);
      std::vector<char*> argv;
      for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
      argv.push_back(nullptr);
      execvp(argv[0], argv.data());
      _exit(127);
    }
    close(out[1]);
    out_ = out[0];
    fcntl(out_, F_SETFL, O_NONBLOCK);
  }
  ~Program() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    if (out_ >= 0) close(out_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int number) const { kill(pid_, number); }
  // What it has printed so far.
  const std::string& output() {
    char some[4096];
    for (ssize_t n = read(out_, some, sizeof some); n > 0; n = read(out_, some, sizeof some)) {
      output_.append(some, static_cast<size_t>(n));
    }
    return output_;
  }
  // Waits until it has printed `text`; false when it ended, or did not in time.
  bool Prints(const std::string& text, int seconds = 30) {
    return Until(seconds, [&] { return output().find(text) != std::string::npos; });
  }
  // Its exit code; 128 and the signal; -1 when it does not end in time.
  int Wait(int seconds = 60) {
    int code = -1;
    Until(seconds, [&] {
      int status = 0;
      output();
      if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
      pid_ = 0;
      code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      return true;
    });
    output();
    return code;
  }

 private:
  template <class Fn>
  bool Until(int seconds, Fn true_now) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (!true_now()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      pollfd readable = {.fd = out_, .events = POLLIN, .revents = 0};
      poll(&readable, 1, 10);
    }
    return true;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  std::string output_;
};

}  // namespace weir
