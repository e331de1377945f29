// `choreo explain` and `choreo view`: what needs no source file.
#include <fmt/format.h>

#include "diag/diag.h"
#include "diag/explain.h"
#include "diag/render.h"
#include "driver/commands.h"

namespace choreo::driver {

int RunExplain(const Options& options) {
  if (options.file.empty()) {
    fmt::print("{}", diag::ListKinds());
    return kExitOk;
  }
  if (const auto text = diag::Explain(options.file)) {
    fmt::print("{}", *text);
    return kExitOk;
  }
  std::string message = fmt::format("there is no diagnostic `{}`", options.file);
  for (const std::string_view name : diag::SimilarKinds(options.file)) {
    message += fmt::format(
        "{} `{}`",
        message.back() == '`' && message.find("mean") != message.npos ? " or" : "; did you mean",
        name);
  }
  const Exit exit = UsageError("explain", message);
  fmt::print(stderr, "{}", exit.text);
  return exit.status;
}

}  // namespace choreo::driver
