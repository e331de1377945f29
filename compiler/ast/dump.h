// The syntax tree as text, for `--emit=ast` and for tests. A statement is one line, indented below
// its parent, with its names and the line:column where it was written; expressions stand in it as
// in source, but fully bracketed. Deterministic.
#pragma once

#include <string>

#include "ast/ast.h"
#include "support/source.h"

namespace choreo::ast {

std::string Dump(const File& file, const SourceManager& sources);
// An expression on one line: `(a + (b * 2))`. "<none>" for an invalid id.
std::string DumpExpr(const File& file, ExprId id);

}  // namespace choreo::ast
