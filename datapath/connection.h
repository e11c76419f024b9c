// One connection of an endpoint: its state, its two halves, and what it has to say.
#pragma once

#include <cstdint>
#include <memory>

#include "datapath/credit_ledger.h"
#include "datapath/receiver.h"
#include "datapath/sender.h"

namespace weir {

enum class ConnectionState : uint8_t {
  kFree,
  kOpening,  // open sent, not answered
  kOpen,
  kDraining,  // Close was called: what was posted is still being sent
  kClosing,   // close sent, not answered
};

// Control packets a connection has to send; each is made from the state of the moment.
enum Control : uint32_t {
  kSendOpen = 1u << 0,
  kSendAccept = 1u << 1,
  kSendAck = 1u << 2,
  kSendCnp = 1u << 3,
  kSendCredit = 1u << 4,
  kSendCreditRequest = 1u << 5,
  kSendProbe = 1u << 6,
  kSendPathProbe = 1u << 7,
  kSendClose = 1u << 8,
};

struct Connection {
  Connection(SharedState& shared, uint32_t slot) : index(slot), sender(shared), receiver(shared) {}

  // Both halves as new: the last use of the slot leaves nothing behind.
  void Renew(SharedState& shared) {
    std::destroy_at(&sender);
    std::construct_at(&sender, shared);
    std::destroy_at(&receiver);
    std::construct_at(&receiver, shared);
  }

  const uint32_t index;  // in the endpoint
  ConnectionState state = ConnectionState::kFree;
  bool active = false;     // we opened it
  bool confirmed = false;  // the peer knows our id: the application may know the connection
  uint32_t uses = 0;       // of the slot
  WireId id{};             // ours
  WireId peer{};           // 0 while opening
  NetAddress remote{};
  uint64_t nonce = 0;
  const Binding* binding = nullptr;
  FrameWriter writer;
  Psn first_psn{};
  uint16_t payload_max = 0;
  InBand in_band = InBand::kNone;  // of data packets, both ways
  bool payload_crc = false;
  bool full_size = false;     // opens and accepts are as long as the largest data packet
  ReceiverDuty duty_asked{};  // what we ask of the peer

  Sender sender;
  Receiver receiver;

  uint32_t control = 0;  // Control bits
  PathId control_path = 0;
  bool in_control = false;  // in the endpoint's control list
  bool in_ready = false;    // in the endpoint's ready list
  uint32_t control_next = 0;
  uint32_t ready_next = 0;
  uint32_t hash_next = 0;

  // As a receiver of credit-scheduled data.
  uint16_t scheduler = 0;
  CreditLedger credit;

  Time retry_at = Time::Never();  // of open, accept or close
  Time give_up_at = Time::Never();
  int retries = 0;
  int shrinks = 0;  // of payload_max, while opening

  // Control packets seem not to arrive: the peer repeats itself, or does not answer.
  bool ControlUnheard() {
    return receiver.TakeRepeats() || (established() && sender.unanswered() > 1) || retries > 2;
  }
  bool live() const { return state != ConnectionState::kFree; }
  // Both halves are set up.
  bool established() const { return live() && state != ConnectionState::kOpening; }
};

}  // namespace weir
