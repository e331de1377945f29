// Raw C++ text in the IR: which names of the kernel it mentions. The text is not understood; what
// it names it may read and write.
#pragma once

#include <string_view>

namespace choreo::ir {

// Whether `name` stands in `text` as a word of its own.
bool Mentions(std::string_view text, std::string_view name);

}  // namespace choreo::ir
