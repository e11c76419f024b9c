// Parts of the experiment loader that stand in files of their own.
#pragma once

#include <string>
#include <vector>

#include "datapath/text/table_reader.h"
#include "testbed/experiment/experiment.h"

namespace weir {

absl::StatusOr<std::string> ReadFile(const std::string& path);
// `path` as seen from the folder of `file`.
std::string PathFrom(const std::string& file, const std::string& path);

// TOML text; errors name `file` and the line.
absl::StatusOr<toml::table> ParseToml(const std::string& text, const std::string& file);
// `text` is "section.key=value": true, 12, 0.5 and [..] are themselves, the rest is a string.
absl::Status ApplyOverride(toml::table& root, const std::string& text);
absl::StatusOr<Experiment> ExperimentFrom(const toml::table& table, const std::string& file);

void ReadFabric(TableReader& reader, FabricSpec& out);
// One [[faults]] entry. Links are named by their ends, hosts and switches by tier and number:
// "leaf0-spine3", "host5".
void ReadFault(TableReader& reader, const Topology& topology, std::vector<Fault>& out);

// The types of jobs; the rest of a job's table by its number among them, all but `type`. `classes`
// are the fabric's.
std::vector<std::string> JobTypeNames();
void ReadJob(TableReader& reader, size_t type, const std::vector<std::string>& classes,
             JobSpec& out);
// The number of the class that `class` names, one of `classes`.
void ReadClass(TableReader& reader, const std::vector<std::string>& classes, int& out);

// "host3", "leaf0", "spine2" (two tiers), "agg1" and "core4" (three), "switch0" (one).
std::string NodeName(const Topology& topology, NodeId node);
std::string LinkName(const Topology& topology, LinkId link);

}  // namespace weir
