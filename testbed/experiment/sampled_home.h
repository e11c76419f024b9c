// A home in virtual time that is looked at in regular intervals. Looking takes no part in the run:
// its events and its digest stay as they are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "testbed/experiment/home.h"

namespace weir {

class SampledHome final : public Home {
 public:
  SampledHome(std::unique_ptr<Home> home, const SampleSpec& spec);

  absl::Status AddHost(uint32_t host, const EndpointConfig& config, HostMemory memory) override;
  absl::Status Start() override;
  absl::StatusOr<WireId> Connect(uint32_t from, uint32_t to, const Binding& binding) override;
  absl::Status PostWrite(uint32_t host, WireId id, const WriteRequest& request) override {
    return home_->PostWrite(host, id, request);
  }
  void Look(uint32_t host, absl::FunctionRef<void(const Endpoint&)> look) override {
    home_->Look(host, look);
  }
  NetAddress AddressOf(uint32_t host) const override { return home_->AddressOf(host); }
  Time now() const override { return home_->now(); }
  void SetTimer(Time at) override { home_->SetTimer(at); }
  void SetTap(PacketTap* tap) override { home_->SetTap(tap); }
  bool Step(Time until) override;
  void RunUntil(Time until) override { home_->RunUntil(until); }
  void StartFaults(const std::vector<Fault>& faults, Duration horizon) override {
    home_->StartFaults(faults, horizon);
  }
  const Fabric* fabric() const override { return home_->fabric(); }
  uint64_t events() const override { return home_->events(); }
  std::optional<uint64_t> digest() const override { return home_->digest(); }
  uint64_t missed() const override { return home_->missed(); }
  std::string CheckConservation() override { return home_->CheckConservation(); }
  void StartWatching() override;
  std::optional<RealTimeStats> real_time() const override { return home_->real_time(); }
  std::optional<Samples> samples() const override { return samples_; }

 private:
  void Sample();
  void SampleQueues(Time at);
  void SampleLoads(Time at);
  void SampleFlow();

  std::unique_ptr<Home> home_;
  const SampleSpec spec_;
  Samples samples_;
  std::vector<LinkId> outputs_;       // of switches
  std::vector<LinkId> switch_links_;  // see Samples
  std::vector<LinkId> host_links_;    // towards hosts
  std::vector<uint64_t> bytes_out_;   // at the sample before, by link
  Time begin_ = Time::Never();
  Time next_ = Time::Never();
  bool flow_found_ = false;
  uint32_t flow_host_ = 0;
  WireId flow_{};
};

}  // namespace weir
