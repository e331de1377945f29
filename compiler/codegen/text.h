// Indented text with knowledge of the line it is on.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace choreo::codegen {

// A C++ string literal.
std::string CppString(std::string_view text);

class TextWriter {
 public:
  // One line at the current indentation; long ones are broken after a comma or before an operator.
  void Line(std::string_view text);
  // The same with a suffix comment, which stays on the line.
  void Raw(std::string_view text);  // as it is; may hold several lines, without the last end
  void Blank();
  void Open(std::string_view text);         // "text {" and one level deeper
  void Close(std::string_view text = "}");  // one level up, then "text"
  void Indent() { ++indent_; }
  void Unindent() { --indent_; }

  // The number of the line that is written next, from 1.
  uint32_t line() const { return line_; }
  const std::string& text() const { return out_; }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
  int indent_ = 0;
  uint32_t line_ = 1;
};

}  // namespace choreo::codegen
