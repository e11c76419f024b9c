// Results for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbed/experiment/ab.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/league.h"
#include "testbed/experiment/result.h"

namespace weir {

// One column a run (or an arm, with the mean over its seeds), one row a figure.
std::string ResultTable(const std::vector<RunResult>& results);
// Collectives by kind and size, then steps of jobs and slow ranks; empty if there are none.
std::string OperationTable(const RunResult& result);
// What was really run: fabric, traffic, transport and arms with every parameter in force.
std::string EffectiveConfig(const Experiment& experiment);

// {"schema": "weir.result/1", ...}: base units, names end in their unit. docs/results.md lists all.
nlohmann::json ToJson(const RunResult& result);
nlohmann::json ToJson(const Experiment& experiment);
nlohmann::json ToJson(const AbResult& ab);
nlohmann::json ToJson(const League& league);
// The whole document of `weir run`, `weir ab` or `weir league`.
nlohmann::json Document(const Experiment& experiment, const std::vector<RunResult>& results,
                        const AbResult* ab, const League* league = nullptr);

// The differences, and below them the verdicts.
std::string AbTable(const AbResult& ab);
// A line an arm.
std::string VerdictText(const AbResult& ab);

// What was seen of the machine in real time; empty in virtual time.
std::string MachineText(const std::vector<RunResult>& results);

// "1.234 ms", for people: three or four digits and a fitting unit.
std::string Pretty(Duration duration);

}  // namespace weir
