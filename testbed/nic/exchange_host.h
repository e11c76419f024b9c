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

  // False: there is no way to the peer yet.
  bool Connect(NetAddress peer, const Binding& binding);
  void Poll();
  void ReplaceDevice(NicDevice* device);

  size_t opened() const { return lanes_.size(); }
  size_t received() const { return received_; }
  size_t messages() const { return sizes_.size(); }  // a connection
  size_t closed() const { return closed_; }
  uint64_t bytes() const { return bytes_; }  // of all messages of a connection
  const std::string& problem() const { return problem_; }
  std::string Progress() const;
  Counters counters() const;
  Duration rtt_min() const;
  std::byte* memory() { return out_.data(); }

 private:
  // A connection with what arrives on it.
  struct Lane {
    WireId id{};
    size_t sent = 0, received = 0;
    std::vector<std::byte> in{};
    bool closing = false;
  };

  EndpointConfig ConfigOf(uint32_t queue) const;
  void Handle(Endpoint& endpoint, const Completion& c);
  void Begin(Endpoint& endpoint, Time now, Lane& lane);
  void Check(const Lane& lane, const Completion& c);
  Lane* Find(WireId id);
  void Fail(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }

  NicDevice* device_;
  ExchangeOptions options_;
  bool asks_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;  // by queue
  std::vector<uint32_t> sizes_;
  uint64_t bytes_ = 0;
  HugeMemory out_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  size_t received_ = 0, closed_ = 0;
  uint32_t next_queue_ = 0;  // for the next connection
  std::string problem_;
};

}  // namespace weir
