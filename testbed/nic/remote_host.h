// A side of a check whose device is open in another process, which is told over TCP what to do:
// one JSON object a line, each answered in turn (answerer.h).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "testbed/nic/check_host.h"
#include "testbed/nic/host_json.h"
#include "testbed/nic/line_socket.h"

namespace weir {

inline constexpr uint16_t kAnswerPort = 14970;  // TCP; unless the user says otherwise

class RemoteHost final : public CheckHost {
 public:
  struct Patience {
    std::chrono::milliseconds connect{10'000};
    // For each answer; devices take their time to open.
    std::chrono::milliseconds answer{60'000};
  };
  // Errors name the peer and the remedy. kFailedPrecondition: another version of Weir runs there,
  // or it is busy.
  static absl::StatusOr<std::unique_ptr<RemoteHost>> Dial(const HostPort& to,
                                                          const Patience& patience);
  // Ends the check there, too.
  ~RemoteHost() override;
  RemoteHost(const RemoteHost&) = delete;
  RemoteHost& operator=(const RemoteHost&) = delete;

  // Its device, as the user there named it.
  const DeviceOptions& options() const { return options_; }
  // The device is closed, and no exchange goes on. What a check changes counts, the rest is as the
  // user there said.
  absl::Status Open(const DeviceOptions& options);

  const HostFacts& host() const override { return host_; }
  absl::Status reach() const override { return reach_; }
  DeviceView Look() override;
  void Close() override;
  absl::Status SetLink(bool up) override;
  absl::Status Resolve(NetAddress& remote) override;
  absl::StatusOr<std::unique_ptr<ChunkDevice>> OpenInRdmaMode(const DeviceOptions&) override;
  // Asks how far it is, now and then, and takes the answer when it has come.
  void Poll() override;
  HostProgress progress() const override;
  bool link_up() const override { return report_.link_up; }
  bool gone() const override { return report_.gone; }
  void StartFrames(const FrameTrialOptions& options, const NetAddress& peer, bool sends) override;
  void GoOnTo(uint32_t frames) override;
  FrameTrialResult EndFrames() override;
  void StartExchange(const ExchangeOptions& options, bool asks) override;
  void Connect(const NetAddress& peer) override;
  void Drain() override;
  ExchangeReport Report() override;
  void EndExchange() override;

 private:
  using Clock = std::chrono::steady_clock;

  RemoteHost(LineSocket socket, std::string name, const Patience& patience)
      : socket_(std::move(socket)), name_(std::move(name)), patience_(patience) {}
  absl::Status Greet();
  void Send(const nlohmann::json& request);
  // Its answer, once those before have come; an empty object if it is out of reach.
  nlohmann::json Ask(const nlohmann::json& request);
  // An answer if one has come.
  bool Take(nlohmann::json& reply);
  // A member of an answer.
  template <class T>
  T Get(const nlohmann::json& reply, const char* name);
  absl::Status StatusOf(const nlohmann::json& reply);
  void Lose(const absl::Status& why, const std::string& remedy);

  LineSocket socket_;
  std::string name_;  // of the peer, in messages
  Patience patience_;
  absl::Status reach_;
  HostFacts host_;
  DeviceOptions options_;
  HostReport report_;
  uint32_t outstanding_ = 0;   // answers that have not come yet
  Clock::time_point asked_{};  // the last time
};

}  // namespace weir
