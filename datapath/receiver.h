// The receive half of a connection: what has arrived, where it belongs, what to acknowledge.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "datapath/api/congestion_control.h"
#include "datapath/shared_state.h"
#include "datapath/wire.h"

namespace weir {

struct ReceiverSetup {
  WireId id{};  // ours, for completions
  Psn first_psn{};
  ReceiverDuty duty{};
  Duration ack_delay{};  // the most that an acknowledgement waits for more data
};

class Receiver {
 public:
  static constexpr uint32_t kWindow = 4096;  // packets tracked
  static constexpr uint32_t kWords = kWindow / 64;

  explicit Receiver(SharedState& shared) : shared_(shared) {}
  void Open(const ReceiverSetup& setup);
  void Release();

  // False if no room is free.
  bool Post(const ReceiveRequest& request);

  // A data packet whose payload is whole. Not kNone: the peer broke a rule and the connection must
  // end. Without `arrived` it is acknowledged, and not echoed.
  Cause HandleData(Time now, std::optional<Time> arrived, const DataHeader& h,
                   const FrameInfo& info, std::span<const std::byte> payload);
  // Echoed always: it asks what has arrived, not when.
  void HandleProbe(Time arrived, uint32_t number);

  // An acknowledgement is due.
  bool ack_due() const { return ack_due_; }
  Time NextDeadline() const { return ack_due_ ? Time::Never() : ack_at_; }
  // Makes what has waited too long due.
  void HandleTimer(Time now) {
    if (ack_at_ <= now) ack_due_ = true;
  }
  // The acknowledgement that leaves at `departure`, `credit` filled in by the caller.
  void PollAck(Time departure, AckHeader& ack);
  // A CNP is due; asking takes it.
  bool TakeCnp() {
    const bool due = cnp_due_;
    cnp_due_ = false;
    return due;
  }
  bool cnp_due() const { return cnp_due_; }

  // Twice in a row nothing new came, but what was here before, or a probe: our answers seem to get
  // lost. Asking takes it.
  bool TakeRepeats() {
    const bool repeats = repeats_ >= 2;
    if (repeats) repeats_ = 0;
    return repeats;
  }

  uint32_t receives() const { return receives_; }
  Psn cumulative() const { return cumulative_; }

 private:
  enum class Novelty : uint8_t { kNew, kDuplicate, kOutside };

  void NoteRepeat() { repeats_ = static_cast<uint8_t>(std::min(repeats_ + 1, 2)); }
  Novelty Classify(Psn psn) const;
  void Record(Psn psn);
  void NoteForAck(Time now, std::optional<Time> arrived, const DataHeader& h,
                  const FrameInfo& info);
  Cause Place(const DataHeader& h, std::span<const std::byte> payload, bool& placed);
  Cause PlaceSend(const DataHeader& h, std::span<const std::byte> payload, bool& placed);
  Cause PlaceWrite(const DataHeader& h, std::span<const std::byte> payload, bool& placed);
  bool AddToWrite(const DataHeader& h);
  void AddToWords(Psn psn, bool marked);
  void AddExtra(Psn base, uint64_t marked);
  void StartWords(Psn base, uint64_t marked);
  uint64_t& WordAt(Psn psn) { return arrived_[psn.value() / 64 % kWords]; }
  uint64_t WordAt(Psn psn) const { return arrived_[psn.value() / 64 % kWords]; }

  SharedState& shared_;
  WireId id_{};
  ReceiverDuty duty_{};
  Duration ack_delay_{};

  Psn cumulative_{};  // all before it have arrived
  Psn highest_{};     // one past the latest that has arrived
  // Bit p % 64 of word p / 64 % kWords: packet p has arrived; clear outside
  // [cumulative, cumulative + kWindow - 64).
  std::array<uint64_t, kWords> arrived_{};

  // Not yet acknowledged: packets in up to kSackWords words from pending_base_.
  bool pending_ = false;
  Psn pending_base_{};
  uint8_t pending_words_ = 0;
  std::array<uint64_t, kSackWords> marked_{};
  Bytes pending_bytes_{};
  bool ack_due_ = false;
  Time ack_at_ = Time::Never();
  bool asked_ = false;  // an acknowledgement of all up to asked_for_ is wanted
  Psn asked_for_{};
  bool echo_valid_ = false;
  bool probe_echo_ = false;
  Psn echo_{};
  uint8_t echo_attempt_ = 0;
  Time echo_arrived_{};
  uint8_t records_ = 0;  // switch records of the echoed packet
  std::array<SwitchRecord, kMaxHops> telemetry_{};
  double path_load_ = 0;
  // Packets too far from the others for the same acknowledgement have their own, a word each. What
  // does not fit is reported when the cumulative number passes it.
  static constexpr uint8_t kExtras = 4;
  struct Word {
    Psn base{};
    uint64_t marked = 0;
  };
  std::array<Word, kExtras> extra_{};
  uint8_t extras_ = 0;

  uint8_t repeats_ = 0;
  bool cnp_due_ = false;
  bool cnp_ever_ = false;
  Time cnp_last_{};

  Chain<RxMessage> buffers_;  // posted, in order
  Chain<RxMessage> writes_;   // notifying writes that have begun
  uint32_t receives_ = 0;     // buffers posted so far: ordinals below it have one
};

}  // namespace weir
