// Diagnostics as text for people and as JSON for tools.
// Text: `file:line:column: error: message [kind]`, the source line, the place underlined, the
// fix-its, then the notes in the same form. Columns count bytes from 1. Tabs, wide characters and
// bytes that are not UTF-8 keep the underline in its place; of a long line only the part around the
// place is shown.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "diag/diag.h"
#include "support/source.h"

namespace choreo::diag {

struct RenderOptions {
  bool color = false;    // ANSI escapes
  size_t columns = 120;  // widest part of a source line that is shown
};

std::string RenderText(const SourceManager& sources, const Diagnostic& diagnostic,
                       const RenderOptions& options = {});
// All of them, then a line that counts errors and warnings (nothing for an empty list).
std::string RenderText(const SourceManager& sources, std::span<const Diagnostic> diagnostics,
                       const RenderOptions& options = {});

// One array with one object a diagnostic: kind, severity, file, line, column, end {line, column},
// message, notes, fixits. Things without a place have no file, line, column and end.
std::string RenderJson(const SourceManager& sources, std::span<const Diagnostic> diagnostics);

std::string_view SeverityName(Severity severity);

}  // namespace choreo::diag
