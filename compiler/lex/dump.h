// `--emit=tokens`: the segments of a unit and the tokens of its tile functions, one a line.
#pragma once

#include <string>

#include "lex/token.h"
#include "support/source.h"

namespace choreo::lex {

// `host FROM TO` and `function FROM TO`, then `LINE:COLUMN Kind text` for each token. A token made
// by a macro has the place of its use, then `from FILE:LINE:COLUMN`, where it is spelled.
std::string DumpTokens(const SourceManager& sources, const Unit& unit);

}  // namespace choreo::lex
