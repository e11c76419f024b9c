// weir list: what there is to choose from.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cc_algos/registry.h"
#include "datapath/signal_names.h"
#include "lb_policies/registry.h"
#include "testbed/cli/commands.h"
#include "testbed/experiment/report_text.h"
#include "testbed/traffic/import/import.h"

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
    {"collective", "all_reduce, alltoall and the others, by NCCL's algorithms"},
    {"ddp", "data parallel: buckets of gradients behind the backward pass"},
    {"fsdp", "fully sharded data parallel, ZeRO-1 to 3, with replicas"},
    {"transformer", "pipeline, tensor, expert and data parallel ranks"},
    {"dlrm", "a recommendation model: uneven all-to-alls and a dense part"},
    {"checkpoint", "many ranks write to, or read from, a few servers"},
    {"kv_transfer", "key-value caches from prefill to decode ranks, by a request trace"},
    {"decode", "small all-reduces, two a layer and token"},
    {"import", "`file`, a workload of another tool; formats below"},
    {"FILE.cm", "a connection matrix of htsim's kind, with triggers"},
};
constexpr Named kTopologies[] = {
    {"single_bottleneck", "`senders` hosts and one receiver on one switch"},
    {"dumbbell", "`pairs` of hosts across one link"},
    {"leaf_spine", "two tiers, oversubscribed by choice"},
    {"fat_tree", "three tiers of pods"},
    {"rail_optimised", "nodes with a NIC a rail, NICs of equal number on one leaf"},
    {"multi_plane", "the same with a fabric of its own for each NIC"},
    {"FILE.topo", "a topology file of htsim's kind"},
};

std::string Needs(Signals signals) { return signals.empty() ? "-" : SignalNames(signals); }

void PrintRows(const char* title, const std::vector<TextRow>& rows) {
  std::printf("%s\n%s", title, AlignRows(rows, Alignment::kLeft).c_str());
}

void PrintNamed(const char* title, std::span<const Named> entries) {
  std::vector<TextRow> rows;
  for (const Named& entry : entries) rows.push_back({"", entry.name, entry.summary});
  PrintRows(title, rows);
}

void PrintCc() {
  std::vector<TextRow> rows = {{"", "name", "what it does", "signals it needs"}};
  for (const CcEntry& e : AllCc()) rows.push_back({"", e.name, e.summary, Needs(e.needs)});
  PrintRows("cc: congestion-control algorithms", rows);
}

void PrintLb() {
  std::vector<TextRow> rows = {{"", "name", "what it does", "reorders", "signals it needs"}};
  for (const LbEntry& e : AllLb()) {
    const Reordering reordering = ReorderingOf(e, e.defaults());
    const char* reorders = reordering == Reordering::kNever    ? "never"
                           : reordering == Reordering::kRarely ? "rarely"
                                                               : "always";
    rows.push_back({"", e.name, e.summary, reorders, Needs(e.needs)});
  }
  PrintRows("lb: load-balancing policies", rows);
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
    if (all || *what == "traffic") {
      PrintNamed("traffic: what can be sent", kTraffic);
      std::vector<TextRow> formats;
      for (const WorkloadFormat& f : WorkloadFormats()) formats.push_back({"", f.name, f.about});
      PrintRows("formats of traffic that can be imported", formats);
    }
    if (all || *what == "topology") PrintNamed("topology: what it can be sent over", kTopologies);
    exit_code = kExitOk;
  });
}

}  // namespace weir
