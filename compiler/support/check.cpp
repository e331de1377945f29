#include "support/check.h"

#include <cstdio>
#include <cstdlib>

namespace choreo {

void CheckFailed(const char* file, int line, const char* condition, std::string_view message) {
  std::fflush(stdout);
  std::fprintf(stderr, "choreo: internal error: %s:%d: check `%s` failed%s%.*s\n", file, line,
               condition, message.empty() ? "" : ": ", static_cast<int>(message.size()),
               message.data());
  std::fprintf(stderr, "choreo: this is a bug in choreo, not in the program; please report it\n");
  std::_Exit(kInternalErrorExitCode);
}

}  // namespace choreo
