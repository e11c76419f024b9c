// The `weir` program.
#include "testbed/cli/commands.h"

int main(int argc, char** argv) {
  CLI::App app{
      "weir: congestion control and load balancing for NIC datapaths.\n"
      "Start with `weir list`, then `weir run --topology leaf_spine --traffic permutation`."};
  app.set_version_flag("--version", "weir " WEIR_VERSION);
  app.require_subcommand(1);
  int exit_code = weir::kExitOk;
  weir::AddListCommand(app, exit_code);
  weir::AddShowCommand(app, exit_code);
  weir::AddRunCommand(app, exit_code);
  weir::AddAbCommand(app, exit_code);
  weir::AddLeagueCommand(app, exit_code);
  weir::AddSweepCommand(app, exit_code);
  weir::AddMergeCommand(app, exit_code);
  weir::AddCompareCommand(app, exit_code);
  weir::AddSchemaCommand(app, exit_code);
  weir::AddValidateCommand(app, exit_code);
  weir::AddServeCommand(app, exit_code);
  weir::AddPerfCommand(app, exit_code);
  weir::AddDoctorCommand(app, exit_code);
  weir::AddNicCommand(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? weir::kExitOk : weir::kExitUsage;
  }
  return exit_code;
}
