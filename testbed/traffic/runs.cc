#include "testbed/traffic/runs.h"

namespace weir {
namespace {

// Runs beyond one for each transfer and delay before a repetition counts as endless.
constexpr size_t kRepeatsMax = 1'000'000;

}  // namespace

template <class Item>
TriggerBook::Waiting::Waiting(size_t triggers, const std::vector<Item>& items)
    : first_(triggers + 2, 0), items_(items.size()) {
  const auto list = [&](const Item& item) {
    return item.after == kNoTrigger ? triggers : item.after;
  };
  for (const Item& item : items) ++first_[list(item) + 1];
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (uint32_t i = 0; i < items.size(); ++i) items_[next[list(items[i])]++] = i;
}

TriggerBook::TriggerBook(const Traffic& traffic)
    : traffic_(traffic),
      fired_(traffic.triggers.size(), 0),
      transfers_(traffic.triggers.size(), traffic.transfers),
      delays_(traffic.triggers.size(), traffic.delays) {}

// The times of the firings don't change their number, so they are taken in any order.
std::optional<std::vector<uint32_t>> CountRuns(const Traffic& traffic) {
  TriggerBook book(traffic);
  std::vector<uint32_t> runs(traffic.transfers.size(), 0);
  std::vector<uint32_t> firings;
  size_t total = 0;
  const auto fires = [&](uint32_t trigger) {
    if (trigger != kNoTrigger) firings.push_back(trigger);
  };
  const auto start = [&](uint32_t trigger) {
    for (const uint32_t i : book.Transfers(trigger)) {
      ++runs[i];
      fires(traffic.transfers[i].on_sent);
      fires(traffic.transfers[i].on_received);
    }
    for (const uint32_t i : book.Delays(trigger)) fires(traffic.delays[i].on_done);
    total += book.Transfers(trigger).size() + book.Delays(trigger).size();
  };
  const size_t total_max = traffic.transfers.size() + traffic.delays.size() + kRepeatsMax;
  start(kNoTrigger);
  while (!firings.empty()) {
    if (total > total_max) return std::nullopt;
    const uint32_t trigger = firings.back();
    firings.pop_back();
    if (book.Fire(trigger)) start(trigger);
  }
  return runs;
}

}  // namespace weir
