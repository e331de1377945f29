// One command's work on one file: reads it, compiles it (again after --fix), collects the
// diagnostics of every step, and at the end prints or verifies them and decides the exit status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/compilation.h"
#include "driver/options.h"

namespace choreo::driver {

// What the command line asks of the compiler.
CompileOptions ToCompileOptions(const Options& options);

class Session {
 public:
  explicit Session(const Options& options) : options_(options) {}

  // False if there were errors. Wrong names of phases and passes end the session as wrong usage.
  bool Compile();

  Compilation& compilation() { return compilation_; }
  diag::Emitter& diags() { return compilation_.diags; }
  const Options& options() const { return options_; }
  bool ok() const { return compilation_.ok() && usage_problem_.empty(); }

  // Writes `text` to `path` (empty or "-": the standard output stream); what fails is diagnosed.
  void Write(const std::string& path, std::string_view text);
  // Whether `path` may be written: not a file that was read. Diagnosed.
  bool MayWrite(const std::string& path);
  // The files that the compilation read, without made-up ones.
  std::vector<std::string> Inputs() const;
  // Writes `output`.d: `output` depends on `inputs`, as make reads it.
  void WriteDependencies(const std::string& output, const std::vector<std::string>& inputs);

  // Prints what was collected; the exit status.
  int Finish();

 private:
  void CompileOnce();
  void PrintFixes(size_t applied, size_t skipped) const;
  void PrintTimes() const;

  const Options& options_;
  Compilation compilation_;
  std::string usage_problem_;
};

}  // namespace choreo::driver
