// One way of a connection in the swarm: messages in real memory, where each must arrive, and what
// has been reported of it.
#pragma once

#include <algorithm>
#include <vector>

#include "datapath/api/rng.h"
#include "datapath/endpoint.h"

namespace weir {

struct Parcel {
  bool write = false;
  bool notify = false;
  uint32_t length = 0;
  uint32_t slack = 0;  // of the receive buffer
  size_t at = 0;       // in the receiver's memory
  std::vector<std::byte> source{};
  int sent = 0;      // completions seen
  int received = 0;  // completions seen

  bool completes_there() const { return !write || notify; }
  bool done() const { return sent == 1 && received == (completes_there() ? 1 : 0); }
};

class Lane {
 public:
  static constexpr std::byte kUntouched{0xEE};
  static constexpr uint32_t kGap = 16;
  static constexpr uint64_t kReceiveCookie = uint64_t{1} << 32;  // above every message number

  // About `budget` bytes in up to `most` messages, of sizes around the edges of `payload`.
  Lane(Rng& rng, uint32_t payload, uint32_t budget, uint32_t most) {
    size_t end = kGap;
    const uint32_t count = rng.Below(most + 1);
    for (uint32_t i = 0; i < count; ++i) {
      Parcel p{.write = rng.Chance(0.5), .notify = rng.Chance(0.5), .slack = rng.Below(kGap)};
      p.notify = p.notify && p.write;
      p.length = std::min(DrawLength(rng, payload), budget);
      budget -= p.length;
      p.at = end;
      end += p.length + kGap;
      p.source.resize(p.length);
      for (std::byte& b : p.source) b = static_cast<std::byte>(rng.Next() >> 32);
      parcels_.push_back(std::move(p));
    }
    memory_.assign(end, kUntouched);
  }

  // False if there was no room: try later.
  bool PostNext(Time now, Endpoint& sender, WireId id, uint32_t region) {
    const Parcel& p = parcels_[posted_];
    const absl::Status status =
        p.write ? sender.PostWrite(now, id,
                                   {.data = p.source.data(),
                                    .length = p.length,
                                    .region = region,
                                    .address = p.at,
                                    .notify = p.notify,
                                    .cookie = posted_})
                : sender.PostSend(now, id,
                                  {.data = p.source.data(), .length = p.length, .cookie = posted_});
    posted_ += status.ok() ? 1 : 0;
    return status.ok();
  }
  bool PostNextReceive(Time now, Endpoint& receiver, WireId id) {
    const Parcel& p = parcels_[receives_];
    const bool ok = p.write || receiver
                                   .PostReceive(now, id,
                                                {.data = memory_.data() + p.at,
                                                 .capacity = p.length + p.slack,
                                                 .cookie = kReceiveCookie + receives_})
                                   .ok();
    receives_ += ok ? 1 : 0;
    return ok;
  }
  size_t size() const { return parcels_.size(); }

  // False: nobody waits for such a completion.
  bool NoteSent(const Completion& c) {
    if (c.cookie >= parcels_.size()) return false;
    Parcel& p = parcels_[c.cookie];
    return ++p.sent == 1 && c.bytes == p.length;
  }
  bool NoteReceived(const Completion& c) {
    const bool by_send = c.cookie >= kReceiveCookie;
    const uint64_t index = by_send ? c.cookie - kReceiveCookie : c.cookie;
    if (index >= parcels_.size()) return false;
    Parcel& p = parcels_[index];
    return ++p.received == 1 && c.bytes == p.length && by_send == !p.write && p.completes_there();
  }

  bool done() const {
    return std::all_of(parcels_.begin(), parcels_.end(), [](const Parcel& p) { return p.done(); });
  }
  std::vector<std::byte>& memory() { return memory_; }
  // The first byte that is not what it must be; SIZE_MAX if all are. What was not reported may have
  // arrived or not, in parts.
  size_t FirstWrongByte() const {
    std::vector<std::byte> expected(memory_.size(), kUntouched);
    for (const Parcel& p : parcels_) {
      const bool reported = p.sent == 1 || p.received == 1;
      const std::byte* bytes = reported ? p.source.data() : memory_.data() + p.at;
      std::copy(bytes, bytes + p.length, expected.begin() + static_cast<std::ptrdiff_t>(p.at));
    }
    const auto [wrong, _] = std::mismatch(memory_.begin(), memory_.end(), expected.begin());
    return wrong == memory_.end() ? SIZE_MAX : static_cast<size_t>(wrong - memory_.begin());
  }

 private:
  static uint32_t DrawLength(Rng& rng, uint32_t payload) {
    switch (rng.Below(8)) {
      case 0:
        return 0;
      case 1:
        return 1 + rng.Below(64);
      case 2:
        return payload * (1 + rng.Below(4)) - 1 + rng.Below(3);
      case 3:
        return 100'000 + rng.Below(200'000);
      default:
        return 1 + rng.Below(20'000);
    }
  }

  std::vector<Parcel> parcels_;  // in the order posted: an index is a message number, too
  std::vector<std::byte> memory_;
  uint32_t posted_ = 0;
  uint32_t receives_ = 0;
};

}  // namespace weir
