// A file descriptor of one owner, who closes it.
#pragma once

#include <unistd.h>

#include <utility>

namespace weir {

class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : fd_(fd) {}  // below 0: none
  ~OwnedFd() {
    if (fd_ >= 0) (void)close(fd_);
  }
  OwnedFd(OwnedFd&& other) noexcept { std::swap(fd_, other.fd_); }
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace weir
