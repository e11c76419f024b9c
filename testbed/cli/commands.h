// The sub-commands of `weir`, a file each.
#pragma once

#include <CLI/CLI.hpp>

namespace weir {

// Exit codes of every sub-command.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;   // a run did not finish, a check or a comparison failed
inline constexpr int kExitUsage = 2;    // what was asked for makes no sense
inline constexpr int kExitMissing = 3;  // something of the environment is missing

// Each adds its sub-command; when it is the one called, `exit_code` is set.
void AddListCommand(CLI::App& app, int& exit_code);
void AddShowCommand(CLI::App& app, int& exit_code);
void AddRunCommand(CLI::App& app, int& exit_code);
void AddAbCommand(CLI::App& app, int& exit_code);
void AddLeagueCommand(CLI::App& app, int& exit_code);
void AddSweepCommand(CLI::App& app, int& exit_code);
void AddMergeCommand(CLI::App& app, int& exit_code);
void AddCompareCommand(CLI::App& app, int& exit_code);
void AddSchemaCommand(CLI::App& app, int& exit_code);
void AddValidateCommand(CLI::App& app, int& exit_code);
void AddServeCommand(CLI::App& app, int& exit_code);
void AddPerfCommand(CLI::App& app, int& exit_code);
void AddDoctorCommand(CLI::App& app, int& exit_code);
void AddNicCommand(CLI::App& app, int& exit_code);

}  // namespace weir
