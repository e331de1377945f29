// `--fix`: the fix-its of a run applied to the files they belong to. Hints are never applied. Of
// fix-its that overlap the first wins; those of one diagnostic are applied all together or not at
// all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "diag/diag.h"
#include "support/source.h"

namespace choreo::diag {

struct FixedFile {
  FileId file;
  std::string text;    // the whole file with its fix-its applied
  size_t applied = 0;  // fix-its
};

struct Fixes {
  std::vector<FixedFile> files;  // only files that change
  size_t applied = 0;            // diagnostics
  size_t skipped = 0;            // diagnostics whose fix-its overlap those of an earlier one
};

Fixes ApplyFixIts(const SourceManager& sources, std::span<const Diagnostic> diagnostics);

// Writes each file over the one it was read from (atomically); what failed, as "name: reason".
std::vector<std::string> WriteFixes(const SourceManager& sources, const Fixes& fixes);

}  // namespace choreo::diag
