// The back end of a compilation: a lowered module and the host text around its kernels in, the
// program text of a target out, with a banner that names the compiler's version and a hash of all
// inputs.
#pragma once

#include <string>
#include <string_view>

#include "codegen/codegen.h"
#include "diag/diag.h"
#include "driver/options.h"
#include "ir/ir.h"
#include "lex/token.h"
#include "support/source.h"

namespace choreo::driver {

struct GenerateInput {
  Target target;
  const lex::Unit& unit;  // without segments when the module was read as IR
  const ir::Module& module;
  const SourceManager& sources;
  codegen::LineDirectives line_directives;
  int debug_waits_ms = 0;
  bool mbarriers_only = false;
};
std::string GenerateProgram(const GenerateInput& input, diag::Emitter& diags);

// 16 hexadecimal digits of everything that decides what is generated: the files that were read (in
// order, by content), the macros of the command line, the target, the bound on waits and the
// compiler's version.
std::string InputHash(const GenerateInput& input);

}  // namespace choreo::driver
