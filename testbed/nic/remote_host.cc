#include "testbed/nic/remote_host.h"

#include "absl/strings/str_format.h"
#include "testbed/nic/json_fields.h"

namespace weir {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kAskEvery{2};
constexpr const char* kAgain = "see what `weir nic answer` says there, and start the check again";

absl::Status Named(const std::string& name, const absl::Status& status, const std::string& remedy) {
  return {status.code(), absl::StrFormat("%s: %s; %s", name, status.message(), remedy)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<RemoteHost>> RemoteHost::Dial(const HostPort& to,
                                                             const Patience& patience) {
  absl::StatusOr<LineSocket> socket = LineSocket::Connect(to, patience.connect);
  const std::string name = to.Text();
  if (absl::IsInvalidArgument(socket.status())) return socket.status();
  if (!socket.ok()) {
    return Named(name, socket.status(),
                 "start `weir nic answer <device>` there, name that host and its port, and let "
                 "TCP through the firewall");
  }
  std::unique_ptr<RemoteHost> host(new RemoteHost(*std::move(socket), name, patience));
  if (absl::Status status = host->Greet(); !status.ok()) return status;
  return host;
}

RemoteHost::~RemoteHost() {
  if (reach_.ok()) (void)Ask({{"do", "bye"}});
}

absl::Status RemoteHost::Greet() {
  const HostFacts own = ThisHost();
  const json reply = Ask({{"do", "hello"}, {"version", own.version}});
  host_ = Get<HostFacts>(reply, "host");
  if (reach_.ok() && host_.version != own.version) {
    reach_ = absl::FailedPreconditionError(
        absl::StrFormat("%s runs Weir %s, and this is Weir %s; install the same version on both",
                        name_, host_.version, own.version));
  }
  options_ = Get<DeviceOptions>(reply, "options");
  return reach_;
}

// --- Questions and answers ---

void RemoteHost::Lose(const absl::Status& why, const std::string& remedy) {
  if (reach_.ok()) reach_ = Named(name_, why, remedy);
}

void RemoteHost::Send(const json& request) {
  if (!reach_.ok()) return;
  ++outstanding_;
  asked_ = Clock::now();
  const absl::Status status =
      socket_.Send(request.dump(-1, ' ', false, json::error_handler_t::replace));
  if (!status.ok()) Lose(status, kAgain);
}

bool RemoteHost::Take(json& reply) {
  absl::StatusOr<std::optional<std::string>> line = socket_.Receive();
  if (!line.ok()) {
    Lose(line.status(), kAgain);
    return false;
  }
  if (!line->has_value()) {
    if (Clock::now() - asked_ > patience_.answer) {
      Lose(absl::DeadlineExceededError(
               absl::StrFormat("it has not answered for %d ms", patience_.answer.count())),
           kAgain);
    }
    return false;
  }
  reply = json::parse(**line, nullptr, false);
  JsonFields fields("its answer", reply);
  if (fields.status().ok() && reply.contains("error")) {
    std::string error;
    fields.Read("error", error);
    if (fields.status().ok()) Lose(absl::FailedPreconditionError(error), kAgain);
  }
  // A host of another version says no more than which it is.
  if (reply.contains("report")) fields.Update(FromJson(reply["report"], report_));
  if (!fields.status().ok()) {
    Lose(fields.status(), "is that `weir nic answer`, and the port that it listens on?");
  }
  --outstanding_;
  return reach_.ok();
}

json RemoteHost::Ask(const json& request) {
  Send(request);
  json reply = json::object();
  while (reach_.ok() && outstanding_ > 0) {
    if (!Take(reply)) socket_.Wait(milliseconds(20));
  }
  return reach_.ok() ? reply : json::object();
}

template <class T>
T RemoteHost::Get(const json& reply, const char* name) {
  if (!reach_.ok()) return T{};
  JsonFields fields("its answer", reply);
  T out{};
  const json value = fields.ReadAny(name);
  if (fields.status().ok()) fields.Update(FromJson(value, out));
  if (fields.status().ok()) return out;
  Lose(fields.status(), kAgain);
  return T{};
}

absl::Status RemoteHost::StatusOf(const json& reply) {
  const absl::Status status = Get<absl::Status>(reply, "status");
  return reach_.ok() ? status : reach_;
}

void RemoteHost::Poll() {
  json reply;
  if (outstanding_ > 0 && reach_.ok()) (void)Take(reply);
  if (outstanding_ == 0 && Clock::now() - asked_ >= kAskEvery) Send({{"do", "report"}});
}

HostProgress RemoteHost::progress() const {
  if (reach_.ok()) return report_.progress;
  HostProgress lost;
  lost.stuck = lost.settled = lost.drained = true;
  lost.problem = std::string(reach_.message());
  return lost;
}

// --- What it is told ---

absl::Status RemoteHost::Open(const DeviceOptions& options) {
  return StatusOf(Ask({{"do", "open"}, {"options", ToJson(options)}}));
}

void RemoteHost::Close() { (void)Ask({{"do", "close"}}); }

DeviceView RemoteHost::Look() { return Get<DeviceView>(Ask({{"do", "look"}}), "device"); }

absl::Status RemoteHost::SetLink(bool up) {
  return StatusOf(Ask({{"do", "set link"}, {"up", up}}));
}

absl::Status RemoteHost::Resolve(NetAddress& remote) {
  const json reply = Ask({{"do", "resolve"}, {"peer", ToJson(remote)}});
  const absl::Status status = StatusOf(reply);
  if (status.ok()) remote = Get<NetAddress>(reply, "peer");
  return reach_.ok() ? status : reach_;
}

absl::StatusOr<std::unique_ptr<ChunkDevice>> RemoteHost::OpenInRdmaMode(const DeviceOptions&) {
  return absl::UnimplementedError(
      "over two hosts this mode is not checked; weir nic check A B checks two devices of one host");
}

void RemoteHost::StartFrames(const FrameTrialOptions& options, const NetAddress& peer, bool sends) {
  (void)Ask({{"do", "start frames"},
             {"options", ToJson(options)},
             {"peer", ToJson(peer)},
             {"sends", sends}});
}

void RemoteHost::GoOnTo(uint32_t frames) { (void)Ask({{"do", "go on"}, {"frames", frames}}); }

FrameTrialResult RemoteHost::EndFrames() {
  return Get<FrameTrialResult>(Ask({{"do", "end frames"}}), "result");
}

void RemoteHost::StartExchange(const ExchangeOptions& options, bool asks) {
  (void)Ask({{"do", "start exchange"}, {"options", ToJson(options)}, {"asks", asks}});
}

void RemoteHost::Connect(const NetAddress& peer) {
  (void)Ask({{"do", "connect"}, {"peer", ToJson(peer)}});
}

void RemoteHost::Drain() { (void)Ask({{"do", "drain"}}); }

ExchangeReport RemoteHost::Report() {
  return Get<ExchangeReport>(Ask({{"do", "report exchange"}}), "result");
}

void RemoteHost::EndExchange() { (void)Ask({{"do", "end exchange"}}); }

}  // namespace weir
