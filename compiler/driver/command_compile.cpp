// `choreo compile`: program text, IR, tokens or a syntax tree of one file.
#include <fmt/format.h>

#include "driver/commands.h"
#include "driver/session.h"

namespace choreo::driver {
namespace {

void PrintPipeline(Session& session) {
  std::string text;
  for (const PhaseInfo& phase : Phases()) {
    text += fmt::format("{}{:<{}} {}\n", phase.is_pass ? "  " : "", phase.name,
                        phase.is_pass ? 24 : 26, phase.summary);
  }
  session.Write("", text);
}

}  // namespace

int RunCompile(const Options& options) {
  Session session(options);
  if (options.print_pipeline) {
    PrintPipeline(session);
    return session.Finish();
  }
  if (session.Compile() && !options.verify_diagnostics) {
    session.Write(options.output, session.compilation().output);
    if (options.write_dependencies && session.ok()) {
      session.WriteDependencies(options.output, session.Inputs());
    }
  }
  return session.Finish();
}

}  // namespace choreo::driver
