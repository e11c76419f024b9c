// weir list: what there is to choose from.
#include <cstdio>
#include <memory>
#include <string>

#include "cc_algos/registry.h"
#include "lb_policies/registry.h"
#include "testbed/cli/commands.h"

namespace weir {
namespace {

struct Named {
  const char* name;
  const char* summary;
};

constexpr Named kTraffic[] = {
    {"permutation", "every host sends `size` to one other and receives from one"},
    {"incast", "`senders` hosts send `size` to one receiver"},
    {"all_to_all", "every host sends `size` to every other at once"},
    {"ring_all_reduce", "2 (n - 1) dependent steps of size / n around a ring"},
    {"FILE.cm", "a connection matrix of htsim's kind, with triggers"},
};
constexpr Named kTopologies[] = {
    {"single_bottleneck", "`senders` hosts and one receiver on one switch"},
    {"dumbbell", "`pairs` of hosts across one link"},
    {"leaf_spine", "two tiers, oversubscribed by choice"},
    {"fat_tree", "three tiers of pods"},
    {"FILE.topo", "a topology file of htsim's kind"},
};

std::string SignalNames(Signals signals) {
  std::string out;
  for (const Signal s : kAllSignals) {
    if (!signals.Has(s)) continue;
    if (!out.empty()) out += ", ";
    out += Name(s);
  }
  return out.empty() ? "-" : out;
}

void PrintNamed(const char* title, std::span<const Named> entries) {
  std::printf("%s\n", title);
  for (const Named& entry : entries) std::printf("  %-18s %s\n", entry.name, entry.summary);
}

void PrintCc() {
  std::printf("cc: congestion-control algorithms\n");
  std::printf("  %-13s %-43s %s\n", "name", "what it does", "signals it needs");
  for (const CcEntry& e : AllCc()) {
    std::printf("  %-13s %-43s %s\n", e.name, e.summary, SignalNames(e.needs).c_str());
  }
}

void PrintLb() {
  std::printf("lb: load-balancing policies\n");
  std::printf("  %-13s %-43s %-9s %s\n", "name", "what it does", "reorders", "signals it needs");
  for (const LbEntry& e : AllLb()) {
    const char* reorders = ReorderingOf(e, e.defaults()) == Reordering::kNever    ? "never"
                           : ReorderingOf(e, e.defaults()) == Reordering::kRarely ? "rarely"
                                                                                  : "always";
    std::printf("  %-13s %-43s %-9s %s\n", e.name, e.summary, reorders,
                SignalNames(e.needs).c_str());
  }
}

}  // namespace

void AddListCommand(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("list", "What there is: algorithms, policies, traffic, topologies");
  auto what = std::make_shared<std::string>();
  command->add_option("what", *what, "cc, lb, traffic or topology; all of them without")
      ->check(CLI::IsMember({"cc", "lb", "traffic", "topology"}));
  command->callback([what, &exit_code] {
    const bool all = what->empty();
    if (all || *what == "cc") PrintCc();
    if (all || *what == "lb") PrintLb();
    if (all || *what == "traffic") PrintNamed("traffic: what can be sent", kTraffic);
    if (all || *what == "topology") PrintNamed("topology: what it can be sent over", kTopologies);
    exit_code = kExitOk;
  });
}

}  // namespace weir
