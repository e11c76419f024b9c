// One side of an exchange: an endpoint on each queue of a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datapath/endpoint.h"
#include "datapath/nic_device.h"
#include "testbed/nic/exchange.h"
#include "testbed/nic/huge_memory.h"

namespace weir {

class ExchangeHost {
 public:
  // `asks`: it opens the connections and closes them.
  ExchangeHost(NicDevice& device, const ExchangeOptions& options, bool asks);

  // One connection more, the next of the options, as soon as there is a way to the peer.
  void Connect(const NetAddress& peer);
  void Poll();
  // From here on frames go over another device with the same address. nullptr: over none.
  void ReplaceDevice(NicDevice* device);
  // Sends no more; polls go on until `drained`: no frame refers to the memory any more.
  void Drain() { draining_ = true; }

  size_t opened() const { return lanes_.size(); }
  size_t received() const { return received_; }
  size_t messages() const { return sizes_.size() * bindings_.size(); }  // that will be received
  size_t closed() const { return closed_; }
  bool drained() const { return drained_; }
  const std::string& problem() const { return problem_; }
  ExchangeReport Report() const;

 private:
  // A connection with what arrives on it.
  struct Lane {
    WireId id{};
    size_t sent = 0, received = 0;
    std::vector<std::byte> in{};
    bool closing = false;
  };

  EndpointConfig ConfigOf(uint32_t queue) const;
  void TryConnect();
  void PollDrain();
  void Handle(Endpoint& endpoint, const Completion& c);
  void Begin(Endpoint& endpoint, Time now, Lane& lane);
  void Check(const Lane& lane, const Completion& c);
  Lane* Find(WireId id);
  void Fail(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }
  std::string Progress() const;
  Counters counters() const;
  Duration rtt_min() const;

  NicDevice* device_;
  ExchangeOptions options_;
  bool asks_;
  std::vector<Binding> bindings_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;  // by queue
  std::vector<uint32_t> sizes_;
  uint64_t bytes_ = 0;  // of all messages of a connection
  HugeMemory out_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  size_t received_ = 0, closed_ = 0;
  NetAddress peer_{};
  size_t wanted_ = 0, connected_ = 0;  // connections, of this side's asking
  bool draining_ = false, drained_ = false;
  std::string problem_;
};

}  // namespace weir
