// `--verify-diagnostics`: the diagnostics of a run compared with what comments in the sources
// expect.
//   // expected-error@+1 {{part of the message}} [kind]
//   // expected-warning {{…}} [kind] expected-note@7 {{…}}
// The place is this line, @+N or @-N lines from it, @N line N, or @* any line (also no place at
// all). A number before the braces repeats the expectation. Exact for errors and warnings: each one
// is expected and each expectation is met, once. A note must be met where it is expected, but need
// not be expected. What one mistake of the expectations costs is a line of the report that says
// where.
#pragma once

#include <span>
#include <string>

#include "diag/diag.h"
#include "support/source.h"

namespace choreo::diag {

struct VerifyResult {
  std::string report;  // empty: everything is as expected
  bool ok() const { return report.empty(); }
};

// Reads the expectations of every file in `sources`.
VerifyResult VerifyDiagnostics(const SourceManager& sources,
                               std::span<const Diagnostic> diagnostics);

}  // namespace choreo::diag
