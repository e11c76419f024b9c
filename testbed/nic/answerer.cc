#include "testbed/nic/answerer.h"

#include "absl/strings/str_format.h"
#include "testbed/nic/host_json.h"
#include "testbed/nic/json_fields.h"

namespace weir {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kIdle{20};
constexpr milliseconds kLookEvery{10};   // for others, while there is a checker
constexpr milliseconds kReadMax{1'000};  // for a last answer to be read
constexpr size_t kLeavingMax = 16;

std::string Text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

void Answerer::Step() {
  const Clock::time_point now = Clock::now();
  if (now - looked_ >= kLookEvery) {
    looked_ = now;
    AcceptOthers();
    SeeOff();
  }
  if (!checker_) return listener_.Wait(leaving_.empty() ? kIdle : kLookEvery);
  if (checker_->commands != nullptr) checker_->commands->Poll();
  absl::StatusOr<std::optional<std::string>> line = checker_->socket.Receive();
  if (absl::IsInvalidArgument(line.status())) {
    return End(std::string(line.status().message()),
               {{"error", std::string(line.status().message())}});
  }
  if (!line.ok()) return End(std::string(line.status().message()), nullptr);
  if (line->has_value()) return Handle(**line);
  const milliseconds most = checker_->commands == nullptr ? config_.hello_max : config_.silence_max;
  if (now - checker_->heard > most) {
    const std::string why = absl::StrFormat("nothing was heard for %d ms", most.count());
    return End(why, {{"error", why}});
  }
  // An open device is polled all the time.
  const bool open = checker_->commands != nullptr && checker_->commands->open();
  if (!open) checker_->socket.Wait(kIdle);
}

void Answerer::AcceptOthers() {
  std::optional<LineSocket> socket = listener_.Accept();
  if (!socket) return;
  if (!checker_) {
    checker_.emplace(Checker{.socket = *std::move(socket)});
    return;
  }
  news_.push_back(absl::StrFormat("%s: refused, a check is under way", socket->peer()));
  Leave(*std::move(socket),
        {{"error", absl::StrFormat("it is busy with a check from %s; wait until that has ended",
                                   checker_->socket.peer())}});
}

// A connection that is closed while something was not read takes back what was sent.
void Answerer::SeeOff() {
  std::erase_if(leaving_,
                [](Leaving& l) { return Clock::now() > l.until || !l.socket.Receive().ok(); });
}

void Answerer::Leave(LineSocket socket, const json& told) {
  if (!socket.Send(Text(told)).ok()) return;
  socket.EndSending();
  if (leaving_.size() == kLeavingMax) leaving_.erase(leaving_.begin());
  leaving_.push_back({.socket = std::move(socket), .until = Clock::now() + kReadMax});
}

void Answerer::End(const std::string& why, const json& told) {
  Checker checker = *std::move(checker_);
  checker_.reset();
  if (checker.commands != nullptr) ++ended_;
  checker.commands.reset();
  news_.push_back(absl::StrFormat("%s: %s", checker.socket.peer(), why));
  if (!told.is_null()) Leave(std::move(checker.socket), told);
}

absl::Status Answerer::Reply(const json& reply) { return checker_->socket.Send(Text(reply)); }

void Answerer::Handle(const std::string& line) {
  const json request = json::parse(line, nullptr, false);
  if (checker_->commands == nullptr) {
    Greet(request);
  } else if (request.is_object() && request.value("do", json()) == "bye") {
    ++done_;
    return End("the check is done", json::object());
  } else {
    const absl::StatusOr<json> reply = checker_->commands->Do(request);
    if (!reply.ok()) {
      const std::string why(reply.status().message());
      return End(why, {{"error", why}});
    }
    if (absl::Status status = Reply(*reply); !status.ok()) {
      return End(std::string(status.message()), nullptr);
    }
  }
  if (checker_) checker_->heard = Clock::now();
}

void Answerer::Greet(const json& hello) {
  JsonFields fields("the first request", hello);
  std::string name, version;
  fields.Read("do", name);
  if (name != "hello") fields.Fail("do", "is not \"hello\"");
  fields.Read("version", version);
  if (!fields.status().ok()) {
    const std::string why(fields.status().message());
    return End(why, {{"error", why}});
  }
  const HostFacts own = ThisHost();
  if (version != own.version) {
    return End(absl::StrFormat("it runs Weir %s, and this is Weir %s; install the same version on "
                               "both",
                               version, own.version),
               {{"host", ToJson(own)}});
  }
  checker_->commands = std::make_unique<HostCommands>(config_.device, config_.open);
  news_.push_back(absl::StrFormat("%s: a check begins", checker_->socket.peer()));
  const absl::Status status = Reply({{"host", ToJson(own)},
                                     {"options", ToJson(config_.device)},
                                     {"report", ToJson(HostReport{})}});
  if (!status.ok()) End(std::string(status.message()), nullptr);
}

}  // namespace weir
