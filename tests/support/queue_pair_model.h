// Two devices that deliver reliably over queue pairs, in virtual time: each path of a link has a
// rate, a delay and a queue of its own, each way.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <queue>
#include <vector>

#include "datapath/check.h"
#include "datapath/offload/chunk_port.h"
#include "datapath/serializer.h"

namespace weir {

class QueuePairModel {
 public:
  struct Config {
    uint32_t paths = 4;
    uint32_t paths_max = 64;
    Rate line_rate = Gbps(100);
    Rate path_rate = Gbps(100);
    Duration delay = Micros(2);  // one way
    uint32_t depth = 1024;       // chunks of a queue pair
    uint64_t region = 1 << 20;   // bytes of the one region of each side
    Signals signals = Signal::kRtt;
    bool content = false;  // bytes are placed and counted
  };
  // A chunk as it was posted, with the queue it found on its path.
  struct Posted {
    Time at{};
    LinkId link = 0;
    PathId path = 0;
    Bytes size{};  // on the wire
    Duration queue{};
    bool answered = false;
  };

  explicit QueuePairModel(const Config& config) : config_(config) {
    for (int side = 0; side < 2; ++side) {
      ports_.push_back(std::make_unique<Port>(*this, side));
      memory_[side].resize(config.region);
      written_[side].resize(config.region);
    }
  }

  ChunkPort& port(int side) { return *ports_[static_cast<size_t>(side)]; }
  std::byte* memory(int side) { return memory_[side].data(); }
  // How often each byte of the region was written.
  const std::vector<uint8_t>& written(int side) const { return written_[side]; }
  const std::vector<Posted>& posted(int side) const { return posted_[side]; }

  Time now() const { return now_; }
  // When the next event of the devices comes.
  Time next() const { return agenda_.empty() ? Time::Never() : agenda_.top().at; }
  void Advance(Time now) {
    WEIR_CHECK(now >= now_);
    now_ = now;
    while (!agenda_.empty() && agenda_.top().at <= now) {
      const Event event = agenda_.top();
      agenda_.pop();
      Deliver(event);
    }
  }

  // --- Faults ---
  void SetRate(PathId path, Rate rate) {
    for (auto& line : lines_) line[path].set_rate(rate);
  }
  // What is posted on it from now on is never answered.
  void Silence(PathId path) { silent_[path] = true; }
  // The next chunk posted on it fails, and its link with it.
  void Fail(PathId path, Cause cause) {
    fails_[path] = true;
    cause_ = cause;
  }
  void RefuseOpens() { refuses_opens_ = true; }
  void AnswerNoOpens() { answers_opens_ = false; }
  // As a device that lies would.
  void Inject(int side, const ChunkEvent& event) {
    Push({.at = now_, .side = side, .event = event});
  }
  void set_gap(Duration gap) { gap_ = gap; }

 private:
  struct Event {
    Time at{};
    uint64_t order = 0;
    int side = 0;
    ChunkEvent event{};
    Chunk chunk{};
    bool arrival = false;  // of bytes, told or not
    size_t posted = 0;     // kDone: which
    friend bool operator<(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };

  class Port final : public ChunkPort {
   public:
    Port(QueuePairModel& model, int side) : model_(model), side_(side) {
      caps_.line_rate = model.config_.line_rate;
      caps_.signals = model.config_.signals;
      caps_.paths_max = model.config_.paths_max;
    }
    Time Now() override { return model_.now_; }
    const ChunkCaps& caps() const override { return caps_; }
    absl::StatusOr<LinkId> Open(const LinkRequest& request) override {
      return model_.Open(side_, request);
    }
    void Close(LinkId link) override { model_.open_[side_][link] = false; }
    bool Reads(const std::byte* data, uint64_t /*size*/) const override { return data != nullptr; }
    uint64_t RegionSize(LinkId /*link*/, uint32_t region) const override {
      return region == 0 ? model_.config_.region : 0;
    }
    bool Post(LinkId link, PathId path, const Chunk& chunk) override {
      return model_.Post(side_, link, path, chunk, caps_);
    }
    size_t Poll(std::span<ChunkEvent> out) override {
      size_t n = 0;
      while (n < out.size() && !events.empty()) {
        out[n++] = events.front();
        events.pop();
      }
      return n;
    }
    std::queue<ChunkEvent> events;

   private:
    QueuePairModel& model_;
    const int side_;
    ChunkCaps caps_;
  };

  void Push(Event event) {
    event.order = orders_++;
    agenda_.push(event);
  }
  absl::StatusOr<LinkId> Open(int side, const LinkRequest& request) {
    if (refuses_opens_) return absl::UnavailableError("no way to the peer");
    const LinkId link = links_++;
    WEIR_CHECK(link < ChunkCaps{}.links_max);
    paths_ = std::min(request.paths, config_.paths_max);
    open_[0][link] = open_[1][link] = true;
    silent_.resize(paths_);
    fails_.resize(paths_);
    for (auto& line : lines_) line.resize(paths_, Serializer(config_.path_rate));
    for (auto& used : used_) used.resize(paths_);
    if (!answers_opens_) return link;
    const ChunkEvent opened{.kind = ChunkEvent::Kind::kOpened, .link = link, .paths = paths_};
    ChunkEvent accepted = opened;
    accepted.kind = ChunkEvent::Kind::kAccepted;
    Push({.at = now_ + config_.delay, .side = 1 - side, .event = accepted});
    Push({.at = now_ + 2 * config_.delay, .side = side, .event = opened});
    return link;
  }
  bool Post(int side, LinkId link, PathId path, const Chunk& chunk, const ChunkCaps& caps) {
    WEIR_CHECK(path < paths_ && open_[side][link]);
    uint32_t& used = used_[side][path];
    if (used == config_.depth) return false;
    ++used;
    const uint32_t packets =
        std::max(1u, (chunk.size + caps.packet_payload - 1) / caps.packet_payload);
    const Bytes size(int64_t{chunk.size} + int64_t{packets} * caps.packet_overhead);
    Serializer& line = lines_[side][path];
    const Duration queue = std::max(Duration(0), line.free_at() - now_);
    posted_[side].push_back({.at = now_, .link = link, .path = path, .size = size, .queue = queue});
    if (silent_[path]) return true;
    ChunkEvent done{
        .kind = ChunkEvent::Kind::kDone, .path = path, .link = link, .cookie = chunk.cookie};
    if (fails_[path]) {
      done.kind = ChunkEvent::Kind::kFailed;
      done.cause = cause_;
      Push({.at = now_ + config_.delay, .side = side, .event = done});
      return true;
    }
    const Time there = line.Book(now_, size) + config_.delay;
    const ChunkEvent arrived{.kind = ChunkEvent::Kind::kArrived,
                             .path = path,
                             .link = link,
                             .word = chunk.word,
                             .size = chunk.size};
    Push({.at = there, .side = 1 - side, .event = arrived, .chunk = chunk, .arrival = true});
    Push({.at = there + config_.delay,
          .side = side,
          .event = done,
          .posted = posted_[side].size() - 1});
    return true;
  }
  void Deliver(const Event& e) {
    ChunkEvent event = e.event;
    event.at = e.at;
    event.gap = gap_;
    if (event.kind == ChunkEvent::Kind::kDone && e.posted < posted_[e.side].size()) {
      posted_[e.side][e.posted].answered = true;
      if (used_[e.side][event.path] > 0) --used_[e.side][event.path];
    }
    if (!open_[e.side][event.link]) return;
    if (e.arrival) {
      const Chunk& chunk = e.chunk;
      WEIR_CHECK(chunk.address + chunk.size <= config_.region);
      for (uint32_t i = 0; config_.content && i < chunk.size; ++i)
        ++written_[e.side][chunk.address + i];
      if (config_.content && chunk.size > 0 && chunk.data != nullptr) {
        std::memcpy(memory_[e.side].data() + chunk.address, chunk.data, chunk.size);
      }
      if (!chunk.tell) return;
    }
    ports_[static_cast<size_t>(e.side)]->events.push(event);
  }

  Config config_;
  Time now_{};
  uint64_t orders_ = 0;
  LinkId links_ = 0;
  uint32_t paths_ = 1;
  bool refuses_opens_ = false;
  bool answers_opens_ = true;
  Cause cause_ = Cause::kNone;
  Duration gap_{};
  std::array<std::array<bool, 64>, 2> open_{};
  std::vector<bool> silent_, fails_;
  std::array<std::vector<Serializer>, 2> lines_;
  std::array<std::vector<uint32_t>, 2> used_;
  std::array<std::vector<std::byte>, 2> memory_;
  std::array<std::vector<uint8_t>, 2> written_;
  std::array<std::vector<Posted>, 2> posted_;
  std::priority_queue<Event> agenda_;
  std::vector<std::unique_ptr<Port>> ports_;
};

}  // namespace weir
