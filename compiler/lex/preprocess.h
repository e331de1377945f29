// Preprocessing: the main file's text in, a Unit out. Token-based and hygienic: object-like and
// function-like `#define`, `#undef`, `#if/#ifdef/#ifndef/#elif/#else/#endif`, `#include "x.co.h"`
// (also expanded on the Croqtile side); `#include "x.co"` is replaced by the tile functions of that
// program; other includes and directives belong to the host text. Host text is never changed. Tile
// functions inside inactive conditionals are left in the host text.
#pragma once

#include <string>
#include <vector>

#include "diag/diag.h"
#include "lex/token.h"
#include "support/source.h"

namespace choreo::lex {

struct PreprocessOptions {
  std::vector<CommandLineDefine> defines;  // -D name[=body]; a missing body is `1`
  std::vector<std::string> include_dirs;   // -I; the including file's folder is searched first
};

// Errors go to `diags`; the returned unit is still well-formed then (parsing may go on).
// Included files are added to `sources`; their names are listed in `included` for -MD.
Unit Preprocess(SourceManager& sources, FileId file, const PreprocessOptions& options,
                diag::Emitter& diags, std::vector<std::string>* included = nullptr);

}  // namespace choreo::lex
