// UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace choreo {

struct CodePoint {
  uint32_t value = 0;
  size_t length = 0;  // in bytes; 0: the text does not start with a character
  bool valid() const { return length != 0; }
};

// The character that a non-empty `text` starts with.
CodePoint DecodeUtf8(std::string_view text);
void AppendUtf8(std::string& out, uint32_t code_point);
// The offset of the first byte that is not part of a character, or npos.
size_t FindInvalidUtf8(std::string_view text);

}  // namespace choreo
