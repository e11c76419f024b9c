#include "testbed/nic/line_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/socket_address.h"

namespace weir {
namespace {

using std::chrono::milliseconds;
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

constexpr milliseconds kRoomMax{10'000};  // for what was sent to leave
constexpr int kWaiting = 8;               // connections that were not accepted yet

// False: time is over.
bool Await(int fd, short events, milliseconds max) {
  pollfd wait = {.fd = fd, .events = events, .revents = 0};
  return poll(&wait, 1, static_cast<int>(max.count())) > 0;
}

absl::StatusOr<Addresses> Resolve(const HostPort& at, bool passive) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int error = getaddrinfo(at.host.c_str(), std::to_string(at.port).c_str(), &hints, &found);
  if (error == 0) return Addresses(found, freeaddrinfo);
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is no host that is known here: %s", at.host, gai_strerror(error)));
}

std::string IpOf(const sockaddr_storage& from) {
  NetAddress ip;
  uint16_t port = 0;
  return FromSocketAddress(reinterpret_cast<const sockaddr&>(from), ip, port) ? IpText(ip) : "?";
}

OwnedFd OpenSocket(const addrinfo& at) {
  return OwnedFd(socket(at.ai_family, at.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// Lines are short, and each is waited for.
void SendAtOnce(int fd) {
  const int on = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

absl::Status Lost(const std::string& why) {
  return absl::UnavailableError("the connection is lost: " + why);
}

}  // namespace

std::string HostPort::Text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return absl::StrFormat(v6 ? "[%s]:%d" : "%s:%d", host, port);
}

absl::StatusOr<HostPort> ParseHostPort(const std::string& text, uint16_t usual_port) {
  HostPort out{.host = text, .port = usual_port};
  std::string port;
  const size_t bracket = text.find(']'), colon = text.rfind(':');
  bool ok = true;
  if (text.rfind('[', 0) == 0) {
    ok = bracket != std::string::npos && (bracket + 1 == text.size() || text[bracket + 1] == ':');
    if (ok) out.host = text.substr(1, bracket - 1);
    if (ok && bracket + 1 < text.size()) port = text.substr(bracket + 1);
  } else if (colon != std::string::npos && text.find(':') == colon) {
    out.host = text.substr(0, colon);
    port = text.substr(colon);
  }
  uint32_t number = usual_port;
  if (!port.empty()) ok = ok && absl::SimpleAtoi(port.substr(1), &number) && number <= UINT16_MAX;
  out.port = static_cast<uint16_t>(number);
  if (ok && !out.host.empty()) return out;
  return absl::InvalidArgumentError(absl::StrFormat(
      "\"%s\" is no host and port; the forms are 10.0.0.2, host2:%d and [fd00::2]:%d", text,
      usual_port, usual_port));
}

// --- LineSocket ---

absl::StatusOr<LineSocket> LineSocket::Connect(const HostPort& to, milliseconds max) {
  absl::StatusOr<Addresses> addresses = Resolve(to, false);
  if (!addresses.ok()) return addresses.status();
  int error = 0;
  for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
    OwnedFd fd = OpenSocket(*at);
    error = connect(fd.get(), at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      socklen_t size = sizeof error;
      error = ETIMEDOUT;
      if (Await(fd.get(), POLLOUT, max)) {
        (void)getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      }
    }
    if (error != 0) continue;
    SendAtOnce(fd.get());
    return LineSocket(std::move(fd), to.host);
  }
  if (error == ETIMEDOUT) return absl::DeadlineExceededError("no answer");
  return absl::UnavailableError(std::strerror(error));
}

absl::Status LineSocket::Send(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t at = 0; at < text.size();) {
    const ssize_t sent = send(fd_.get(), text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (sent >= 0) {
      at += static_cast<size_t>(sent);
    } else if (errno == EAGAIN) {
      if (!Await(fd_.get(), POLLOUT, kRoomMax)) return Lost("nothing that is sent gets through");
    } else if (errno != EINTR) {
      return Lost(std::strerror(errno));
    }
  }
  return absl::OkStatus();
}

void LineSocket::EndSending() const { (void)shutdown(fd_.get(), SHUT_WR); }

absl::StatusOr<std::optional<std::string>> LineSocket::Receive() {
  while (true) {
    const size_t end = received_.find('\n', searched_);
    if (end != std::string::npos && end <= kLineMax) {
      std::optional<std::string> line = received_.substr(0, end);
      received_.erase(0, end + 1);
      searched_ = 0;
      return line;
    }
    searched_ = received_.size();
    if (searched_ > kLineMax) {
      return absl::InvalidArgumentError(
          absl::StrFormat("a line is longer than %d bytes", kLineMax));
    }
    char some[4096];
    const ssize_t got = recv(fd_.get(), some, sizeof some, MSG_DONTWAIT);
    if (got > 0) {
      received_.append(some, static_cast<size_t>(got));
    } else if (got == 0) {
      return Lost("it was closed by the other end");
    } else if (errno == EAGAIN) {
      return std::nullopt;
    } else if (errno != EINTR) {
      return Lost(std::strerror(errno));
    }
  }
}

void LineSocket::Wait(milliseconds max) const { (void)Await(fd_.get(), POLLIN, max); }

// --- LineListener ---

absl::StatusOr<LineListener> LineListener::Open(const HostPort& at) {
  absl::StatusOr<Addresses> addresses = Resolve(at, true);
  if (!addresses.ok()) return addresses.status();
  const addrinfo& address = **addresses;
  OwnedFd fd = OpenSocket(address);
  const int on = 1;
  (void)setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 || listen(fd.get(), kWaiting) != 0) {
    return absl::UnavailableError(
        absl::StrFormat("TCP port %s cannot be had: %s", at.Text(), std::strerror(errno)));
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  (void)getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  NetAddress ip;
  uint16_t port = at.port;
  (void)FromSocketAddress(reinterpret_cast<const sockaddr&>(bound), ip, port);
  return LineListener(std::move(fd), port);
}

std::optional<LineSocket> LineListener::Accept() {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  OwnedFd fd(
      accept4(fd_.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (fd.get() < 0) return std::nullopt;
  SendAtOnce(fd.get());
  return LineSocket(std::move(fd), IpOf(from));
}

void LineListener::Wait(milliseconds max) const { (void)Await(fd_.get(), POLLIN, max); }

}  // namespace weir
