// The command line of `choreo` as a value. In: argv. Out: the command and its options, checked as
// far as they can be without reading files, or the exit status with what to print. Options are
// declared in options.def; CLI11 stays behind options.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace choreo::driver {

inline constexpr int kExitOk = 0;
inline constexpr int kExitErrors = 1;         // the program has errors
inline constexpr int kExitUsage = 2;          // the command line has
inline constexpr int kExitNoDevice = 77;      // tune: the program found no sm_90 device
inline constexpr int kExitInterrupted = 130;  // tune: SIGINT came

enum class Command : uint8_t { Compile, Build, Check, Run, View, Explain, Tune };
enum class Target : uint8_t { Cuda, Sim };
enum class InputKind : uint8_t { Co, Ir, Lowered };
enum class Emit : uint8_t { Tokens, Ast, Ir, Lowered, Cuda };
enum class OutputKind : uint8_t { Binary, Cubin, Fatbin };
enum class DiagnosticsFormat : uint8_t { Text, Json };

struct Options {
  Command command = Command::Compile;
  std::string file;  // explain: the kind, or empty
  std::vector<std::string>
      native_args;  // after `--`: for nvcc, the host compiler or, tune, the program

#define CHOREO_FLAG(field, names, commands, help) bool field = false;
#define CHOREO_TEXT(field, names, value, commands, help) std::string field;
#define CHOREO_LIST(field, names, value, commands, help) std::vector<std::string> field;
#define CHOREO_NUMBER(field, initial, names, value, commands, help) uint64_t field = initial;
#define CHOREO_CHOICE(field, Enum, names, commands, help, ...) std::optional<Enum> field;
#include "driver/options.def"
#undef CHOREO_FLAG
#undef CHOREO_TEXT
#undef CHOREO_LIST
#undef CHOREO_NUMBER
#undef CHOREO_CHOICE

  Target target_or_default() const { return target.value_or(Target::Cuda); }
  InputKind from_or_default() const { return from.value_or(InputKind::Co); }
  bool json() const { return diagnostics_format == DiagnosticsFormat::Json; }
};

// What ends the program before it begins: help and version (status 0, `text` for the standard
// output stream) or wrong usage (status 2, `text` for the error stream).
struct Exit {
  int status = kExitOk;
  std::string text;
};

std::variant<Options, Exit> ParseCommandLine(int argc, const char* const* argv);

// "choreo: error: …" and where to find help.
Exit UsageError(std::string_view command, std::string_view message);

}  // namespace choreo::driver
