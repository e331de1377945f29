// From a command line to an exit status.
#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <new>

#include "driver/commands.h"
#include "support/check.h"

namespace choreo::driver {
namespace {

int Dispatch(const Options& options) {
  switch (options.command) {
    case Command::Compile:
      return RunCompile(options);
    case Command::Build:
      return RunBuild(options);
    case Command::Check:
    case Command::Run:
    case Command::View:
      return RunCheck(options);
    case Command::Explain:
      return RunExplain(options);
    case Command::Tune:
      return RunTune(options);
  }
  CHOREO_UNREACHABLE();
}

}  // namespace

int Main(int argc, const char* const* argv) {
  // A reader that leaves early is a write error like any other, not a silent end.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const auto parsed = ParseCommandLine(argc, argv);
    if (const Exit* exit = std::get_if<Exit>(&parsed)) {
      fmt::print(exit->status == kExitOk ? stdout : stderr, "{}", exit->text);
      return exit->status;
    }
    return Dispatch(std::get<Options>(parsed));
  } catch (const std::exception& error) {
    fmt::print(stderr, "choreo: internal error: {}\n", error.what());
    return kInternalErrorExitCode;
  }
}

}  // namespace choreo::driver
