// weir schema: what documents that `weir` writes look like, as JSON Schema.
#include <cstdio>

#include "testbed/cli/commands.h"
#include "testbed/report/embedded.h"

namespace weir {

void AddSchemaCommand(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("schema", "Print the JSON Schema of results");
  command
      ->add_option_function<std::string>(
          "document",
          [&exit_code](const std::string&) {
            std::printf("%s", EmbeddedFile("result.schema.json").c_str());
            exit_code = kExitOk;
          },
          "result: what --json and `weir merge` write")
      ->required()
      ->check(CLI::IsMember({"result"}));
}

}  // namespace weir
