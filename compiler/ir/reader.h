// Reads the text form of the IR (printer.h) back. Print(Read(Print(m))) is Print(m).
// In: a file of IR text, from anywhere. Out: a module that the verifier has passed, or none and the
// first mistake as a diagnostic with its place in the IR text. No text makes the reader fail
// otherwise.
#pragma once

#include <optional>

#include "diag/diag.h"
#include "ir/ir.h"
#include "support/source.h"

namespace choreo::ir {

std::optional<Module> ReadModule(const SourceManager& sources, FileId file, diag::Emitter& diags);
// Without the verifier: its own tests start from here.
std::optional<Module> ReadUnverified(const SourceManager& sources, FileId file,
                                     diag::Emitter& diags);

}  // namespace choreo::ir
