// Cuts the text form of the IR into tokens. Comments and white space are skipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace choreo::ir {

struct TextToken {
  enum class Kind : uint8_t {
    Word,     // let, wgmma.mma, loc
    Var,      // %name, %name.1, %"odd name"
    Storage,  // $name
    View,     // #3
    Number,   // 12, -3, 0.5, 1e-05, inf, with an optional :type
    String,   // "…" on one line
    Punct,
    End,
    Bad,  // the rest of the text is not cut
  };
  Kind kind;
  uint32_t begin, end;  // byte offsets
};

// Ends with an End or a Bad token.
std::vector<TextToken> CutText(std::string_view text);

// The value of a String token, or the quoted part of a Var or Storage token.
std::string Unquote(std::string_view quoted);

}  // namespace choreo::ir
