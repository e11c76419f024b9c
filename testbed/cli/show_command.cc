// weir show: one algorithm or policy with its parameters.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cc_algos/registry.h"
#include "datapath/text/quantity_text.h"
#include "datapath/text/table_reader.h"
#include "lb_policies/registry.h"
#include "testbed/cli/commands.h"

namespace weir {
namespace {

void PrintParams(std::span<const ParamSpec> params, const ConfigBlob& defaults) {
  if (params.empty()) std::printf("no parameters\n");
  for (const ParamSpec& p : params) {
    std::printf("\n  %s = %s    [%s .. %s]\n      %s\n      default from: %s\n", p.name,
                FormatParam(p, p.get(defaults.data())).c_str(), FormatParam(p, p.min).c_str(),
                FormatParam(p, p.max).c_str(), p.meaning, p.source);
  }
}

template <class Entry>
void PrintHead(const Entry& e) {
  std::printf("%s: %s\nsource: %s\nneeds:", e.name, e.summary, e.source);
  if (e.needs.empty()) std::printf(" nothing");
  for (const Signal s : kAllSignals) {
    if (e.needs.Has(s)) std::printf(" [%s]", Name(s));
  }
  std::printf("\nstate: %zu bytes a connection\n", e.state_bytes);
}

template <class Entry>
int NotFound(const std::string& kind, const std::string& name, std::span<const Entry> all) {
  std::vector<std::string> names;
  for (const Entry& e : all) names.emplace_back(e.name);
  const std::string near = Nearest(name, names);
  std::fprintf(stderr, "weir show: there is no %s \"%s\"; %s`weir list %s` names them all\n",
               kind.c_str(), name.c_str(),
               near.empty() ? "" : ("did you mean \"" + near + "\"? ").c_str(), kind.c_str());
  return kExitUsage;
}

int Show(const std::string& kind, const std::string& name) {
  if (kind == "cc") {
    const CcEntry* e = FindCc(name.c_str());
    if (e == nullptr) return NotFound(kind, name, AllCc());
    PrintHead(*e);
    if (e->receiver_half != nullptr) std::printf("receiver half: %s\n", e->receiver_half->name);
    if (e->one_path_because != nullptr) {
      std::printf("not with policies that spread packet by packet: %s\n", e->one_path_because);
    }
    PrintParams(e->params, e->defaults());
  } else {
    const LbEntry* e = FindLb(name.c_str());
    if (e == nullptr) return NotFound(kind, name, AllLb());
    PrintHead(*e);
    PrintParams(e->params, e->defaults());
  }
  std::printf("\nA default of 0 with \"0:\" in its meaning is worked out for each connection.\n");
  return kExitOk;
}

}  // namespace

void AddShowCommand(CLI::App& app, int& exit_code) {
  struct Arguments {
    std::string kind;
    std::string name;
  };
  auto arguments = std::make_shared<Arguments>();
  auto* command =
      app.add_subcommand("show", "One algorithm or policy: parameters, defaults, sources");
  command->add_option("kind", arguments->kind, "cc or lb")
      ->required()
      ->check(CLI::IsMember({"cc", "lb"}));
  command->add_option("name", arguments->name, "as `weir list` prints it")->required();
  command->callback(
      [arguments, &exit_code] { exit_code = Show(arguments->kind, arguments->name); });
}

}  // namespace weir
