#include "nic_drivers/host/binding_text.h"

#include <algorithm>
#include <sstream>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cc_algos/registry.h"
#include "datapath/text/quantity_text.h"
#include "lb_policies/registry.h"

namespace weir {
namespace {

// Sets parameters by their names in the plug-in's own table.
void ReadParams(TableReader& arm, const std::string& key, std::span<const ParamSpec> specs,
                const std::string& plugin, ConfigBlob& config) {
  const toml::table* table = arm.Table(key);
  if (table == nullptr) return;
  std::vector<std::string> names;
  for (const ParamSpec& spec : specs) names.emplace_back(spec.name);
  for (const auto& [name_key, node] : *table) {
    const std::string name(name_key.str());
    const auto spec = std::find_if(specs.begin(), specs.end(),
                                   [&](const ParamSpec& s) { return name == s.name; });
    if (spec == specs.end()) {
      const std::string near = Nearest(name, names);
      arm.Fail(&node, absl::StrFormat("%s: %s has no parameter \"%s\"; %s", key, plugin, name,
                                      near.empty() ? "it has " + absl::StrJoin(names, ", ")
                                                   : "did you mean \"" + near + "\"?"));
      return;
    }
    std::ostringstream text;
    if (node.is_string()) {
      text << node.as_string()->get();
    } else {
      node.visit([&text](const auto& value) {
        if constexpr (toml::is_value<decltype(value)>) text << value;
      });
    }
    const absl::StatusOr<double> value = ParseParam(*spec, text.str());
    if (!value.ok()) {
      arm.Fail(&node, key + "." + name + ": " + std::string(value.status().message()));
      return;
    }
    spec->set(config.data(), *value);
  }
}

template <class Entry, class Find, class All>
const Entry* Lookup(TableReader& r, const std::string& key, const std::string& kind,
                    std::string name, Find find, All all) {
  r.String(key, name);
  if (const Entry* entry = find(name.c_str())) return entry;
  std::vector<std::string> names;
  for (const Entry& entry : all) names.emplace_back(entry.name);
  r.FailKey(key, absl::StrFormat("there is no %s \"%s\"; choose one of %s", kind, name,
                                 absl::StrJoin(names, ", ")));
  return &all[0];
}

}  // namespace

Binding DefaultBinding() {
  Binding b{.cc = FindCc("nscc"), .lb = FindLb("reps")};
  b.cc_config = b.cc->defaults();
  b.lb_config = b.lb->defaults();
  return b;
}

void ReadBinding(TableReader& r, Binding& out) {
  out = DefaultBinding();
  out.cc = Lookup<CcEntry>(r, "cc", "algorithm", out.cc->name, FindCc, AllCc());
  out.lb = Lookup<LbEntry>(r, "lb", "policy", out.lb->name, FindLb, AllLb());
  out.cc_config = out.cc->defaults();
  out.lb_config = out.lb->defaults();
  ReadParams(r, "cc_params", out.cc->params, out.cc->name, out.cc_config);
  ReadParams(r, "lb_params", out.lb->params, out.lb->name, out.lb_config);
  r.Integer("paths", 1, 65536, out.paths);
}

}  // namespace weir
