// One line of source text made printable, with the underline below it: used by the text renderer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace choreo::diag {

struct SourceLine {
  std::string text;       // tabs as spaces, control characters and broken UTF-8 as <XX>
  std::string underline;  // spaces, then `^~~~` below the bytes that were asked for
};

// The bytes [begin, end) of `line` are underlined (at least one column). At most `columns` columns
// around `begin` are shown; what is left out stands as "...". Costs no more than what is shown.
SourceLine PrintableLine(std::string_view line, size_t begin, size_t end, size_t columns);

}  // namespace choreo::diag
