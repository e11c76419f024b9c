// The links of a device in RDMA mode: sets of RC queue pairs, from their opening to their end.
//
// Opened and closed by the thread that polls, answered on the socket's thread. What a peer asks for
// is bounded by links_max, and what it does not confirm in time is taken back.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/offload/chunk_port.h"
#include "nic_drivers/verbs/exchange_socket.h"
#include "nic_drivers/verbs/link_message.h"
#include "nic_drivers/verbs/reliable_pair.h"

namespace weir {

class ReliableLinks {
 public:
  struct Config {
    ReliablePairConfig pairs{};
    NetAddress address{};
    std::array<uint8_t, 16> gid{};
    uint8_t mtu = 1;  // ibv_mtu, of the port
    uint32_t links_max = 16;
    uint32_t paths_max = 8;  // of a link
    ibv_context* device = nullptr;
    std::function<void(int event)> on_event{};  // ibv_event_type; on the socket's thread
  };
  // Something that the thread that polls is to know.
  struct News {
    enum class Kind : uint8_t {
      kMade,       // a peer asked for it: chunks may arrive, it may not be used yet
      kConfirmed,  // a peer has all it needs
      kOpened,     // ours was answered
      kRefused,    // by the peer, now or later
      kExpired,    // the peer that asked never confirmed it
    };
    Kind kind = Kind::kMade;
    LinkId link = 0;
    uint32_t use = 0;                            // of the link's number
    std::vector<ibv_qp*> pairs{};                // path by path: of kMade and kOpened
    std::vector<LinkMessage::Region> regions{};  // the peer's
  };
  static absl::StatusOr<std::unique_ptr<ReliableLinks>> Start(Config config);
  ~ReliableLinks();

  // --- On the thread that polls ---
  absl::StatusOr<LinkId> Open(const LinkRequest& request);
  // `stop`: nothing more of it is sent or received, and the peer is told so, once. Otherwise the
  // queue pairs stay for a while, so that what the peer's device has not heard is answered.
  void Close(LinkId link, bool stop);
  uint32_t UseOf(LinkId link);
  // A chunk has arrived: the peer has all it needs.
  void Confirm(LinkId link);
  bool has_news() const { return has_news_.load(std::memory_order_acquire); }
  std::vector<News> TakeNews();

  // Told to peers whose links are opened from now on.
  absl::StatusOr<uint32_t> AddRegion(const LinkMessage::Region& region);
  // That all queue pairs so far take.
  uint32_t inline_bytes() const { return inline_bytes_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t { kFree, kOpening, kMade, kOpen, kClosed };
  struct Link {
    State state = State::kFree;
    bool ours = false;  // opened here
    uint32_t use = 0;
    NetAddress remote{};
    LinkMessage own{};  // as it is sent
    std::vector<VerbsQp> pairs{};
    Clock::time_point since{};  // of the state
    Clock::time_point sent_at{};
  };

  explicit ReliableLinks(Config config) : config_(std::move(config)) {}
  LinkId FindFree() const;  // links_max: there is none
  absl::Status MakePairs(Link& link, uint32_t count);
  absl::Status ConnectPairs(Link& link, const LinkMessage& peer);
  LinkMessage Message(LinkMessage::Kind kind, uint64_t nonce) const;
  void HandleDatagram(const NetAddress& from, std::span<const std::byte> bytes);
  void HandleOpen(const LinkMessage& message);
  void HandleAccept(Link& link, const LinkMessage& message);
  void Tick();
  void Send(const NetAddress& to, const LinkMessage& message);
  void Tell(News news);
  LinkId NumberOf(const Link& link) const { return static_cast<LinkId>(&link - links_.data()); }

  Config config_;
  std::atomic<uint32_t> inline_bytes_{0};
  std::mutex mutex_;
  std::vector<Link> links_;
  std::vector<LinkMessage::Region> regions_;
  std::vector<News> news_;
  std::atomic<bool> has_news_{false};
  std::unique_ptr<ExchangeSocket> socket_;  // the last, so that its thread ends first
};

}  // namespace weir
