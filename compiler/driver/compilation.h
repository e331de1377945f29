// The compiler as a function: the text of a file and options in, program text or IR and diagnostics
// out. Reads included `.co.h` files and nothing else, writes nothing, and is deterministic: the
// same text, options and version give the same bytes. The binary, the benchmarks and the tests all
// use it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/codegen.h"
#include "diag/diag.h"
#include "driver/options.h"
#include "ir/ir.h"
#include "lex/token.h"
#include "support/source.h"

namespace choreo::driver {

struct CompileOptions {
  Target target = Target::Cuda;
  InputKind from = InputKind::Co;
  std::optional<Emit>
      emit;                // nothing: the target's program text, or what there is after stop_after
  std::string stop_after;  // one of PhaseNames(); empty: run all that `emit` needs
  // What generated statements say where they come from.
  codegen::LineDirectives line_directives = codegen::LineDirectives::Generated;
  int debug_waits_ms = 0;       // > 0: waits of kernels are bounded
  bool mbarriers_only = false;  // no event becomes a named barrier
  std::vector<lex::CommandLineDefine> defines;
  std::vector<std::string> include_dirs;
  // Called with the IR after `lower` and after each pass, if set.
  std::function<void(std::string_view name, const ir::Module&)> after_pass;
};

struct PhaseTime {
  std::string_view name;
  std::chrono::nanoseconds time;
};

struct Compilation {
  SourceManager sources;
  diag::Emitter diags;
  FileId file;         // the file that was compiled
  std::string output;  // what was asked for; empty if there were errors
  // After all passes (or as read with `from`), unless there were errors or an earlier stop.
  std::optional<ir::Module> lowered;
  std::vector<std::string> included;  // paths of the `.co.h` files, in order
  std::vector<PhaseTime> times;
  // What the analysis of asynchronous operations had to show, and what it leaves to the simulator.
  int obligations_proved = 0, obligations_left = 0;

  bool ok() const { return !diags.has_errors(); }
};

// `name` is what diagnostics and generated text call the file; includes are searched beside it.
Compilation Compile(std::string name, std::string text, const CompileOptions& options);

// The phases and passes in order: lex, parse, sema, lower, the passes, codegen.
struct PhaseInfo {
  std::string_view name;
  std::string_view summary;
  bool is_pass;
};
std::vector<PhaseInfo> Phases();

// Why `emit` and `stop_after` cannot go together or do not exist; empty if all is well.
std::string StopProblem(std::string_view stop_after, std::optional<Emit> emit, InputKind from);

}  // namespace choreo::driver
