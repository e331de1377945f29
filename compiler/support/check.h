// CHOREO_CHECK: an invariant of the compiler itself. A failure is a bug in choreo, never the user's
// mistake: it prints the place, the condition and the message, and exits with status 70.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace choreo {

inline constexpr int kInternalErrorExitCode = 70;

// Prints "choreo: internal error: …" with the place and exits with kInternalErrorExitCode.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view message);

}  // namespace choreo

#define CHOREO_CHECK(condition, ...)                                                        \
  do {                                                                                      \
    if (!(condition)) [[unlikely]] {                                                        \
      ::choreo::CheckFailed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
    }                                                                                       \
  } while (false)

#define CHOREO_UNREACHABLE(...) \
  ::choreo::CheckFailed(__FILE__, __LINE__, "unreachable", ::fmt::format("" __VA_ARGS__))
