// Texts as `choreo tune` needs them: what is comment and what is not. In: C++ or Croqtile text.
// Out: the same bytes with comments blanked, so that offsets stay, and where the line comments are.
// Strings, character constants and raw strings are known; nothing else of the language is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace choreo::driver {

struct TextSpan {
  uint32_t begin = 0, end = 0;  // bytes [begin, end)
};

struct ScannedText {
  std::string code;                     // as long as the text
  std::vector<TextSpan> line_comments;  // from `//` to before the end of the line
};
ScannedText ScanText(std::string_view text);

bool IsWordStart(char c);
bool IsWordCharacter(char c);
std::string_view TrimBlanks(std::string_view text);
// The identifier at the start of `text`; empty: none is there.
std::string_view LeadingWord(std::string_view text);

}  // namespace choreo::driver
