// What the core reports to the application, and why things end.
#pragma once

#include <cstdint>
#include <memory>

#include "datapath/check.h"
#include "datapath/wire.h"

namespace weir {

enum class Cause : uint8_t {
  kNone,
  kNeverAnswered,     // the peer did not answer one open
  kStoppedAnswering,  // the peer went silent; all retries are used up
  kNotListening,
  kNoRoom,
  kVersionMismatch,
  kFeatureMismatch,
  kClosedByPeer,
  kAbortedByPeer,
  kUnknownToPeer,  // the peer has no such connection: it restarted or gave up
  kAborted,        // by this side
  kBadAddress,     // a peer named memory that it may not touch
  kTooLong,        // a message did not fit the buffer posted for it
  kNotOpen,        // the connection was not open (any more) when the posting came
  kFull,           // no room here for what was posted
  kQueuePair,      // RDMA mode: a queue pair failed; the device says why
  kNonsense,       // RDMA mode: what the peer said of its messages fits nothing
};
constexpr const char* Name(Cause cause) {
  switch (cause) {
    case Cause::kNone:
      return "none";
    case Cause::kNeverAnswered:
      return "the peer never answered";
    case Cause::kStoppedAnswering:
      return "the peer stopped answering";
    case Cause::kNotListening:
      return "refused: the peer is not listening";
    case Cause::kNoRoom:
      return "refused: the peer has no free connection";
    case Cause::kVersionMismatch:
      return "refused: the peer speaks another wire version";
    case Cause::kFeatureMismatch:
      return "refused: the peer lacks a feature";
    case Cause::kClosedByPeer:
      return "closed by the peer";
    case Cause::kAbortedByPeer:
      return "aborted by the peer";
    case Cause::kUnknownToPeer:
      return "the peer does not know this connection";
    case Cause::kAborted:
      return "aborted here";
    case Cause::kBadAddress:
      return "access outside a registered region";
    case Cause::kTooLong:
      return "message longer than its receive buffer";
    case Cause::kNotOpen:
      return "the connection is not open (any more)";
    case Cause::kFull:
      return "no room here for another message; post fewer at once, or configure more";
    case Cause::kQueuePair:
      return "a queue pair failed";
    case Cause::kNonsense:
      return "the peer says what makes no sense of its messages";
  }
  return "?";
}

enum class Event : uint8_t {
  kOpened,    // our Connect succeeded
  kAccepted,  // a peer connected to us
  kSent,      // every byte of a message is acknowledged
  kReceived,  // a send has arrived in its buffer, or a notifying write in its region
  kClosed,    // after Close, or by the peer; `cause`
  kFailed,    // the connection is gone; `cause`
  kRejected,  // a posting from another thread came too late or found no room; its cookie
};

struct Completion {
  Event event = Event::kSent;
  Cause cause = Cause::kNone;
  WireId connection{};
  uint64_t cookie = 0;  // of the message or buffer; of a notifying write: its message number
  uint32_t bytes = 0;
  uint32_t detail = 0;  // of a refusal: the Signals or the version
  Time at{};            // when the endpoint knew
};

// A ring of completions that never overflows: whoever may complete later reserves first.
class CompletionQueue {
 public:
  // `capacity` > 0 is rounded up to a power of two.
  explicit CompletionQueue(uint32_t capacity) {
    while (size_ < capacity) size_ *= 2;
    ring_ = std::make_unique<Completion[]>(size_);
  }
  bool Reserve() {
    if (tail_ - head_ + reserved_ >= size_) return false;
    ++reserved_;
    return true;
  }
  void Cancel() { --reserved_; }
  // Of what was reserved.
  void Push(const Completion& completion) {
    WEIR_DCHECK(reserved_ > 0);
    --reserved_;
    ring_[tail_++ & (size_ - 1)] = completion;
  }
  bool Pop(Completion& out) {
    if (head_ == tail_) return false;
    out = ring_[head_++ & (size_ - 1)];
    return true;
  }
  bool empty() const { return head_ == tail_; }

 private:
  std::unique_ptr<Completion[]> ring_;
  uint32_t size_ = 1;
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
  uint32_t reserved_ = 0;
};

}  // namespace weir
