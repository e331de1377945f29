#include "diag/source_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "support/utf8.h"

namespace choreo::diag {
namespace {

constexpr size_t kTabStop = 8;
constexpr std::string_view kEllipsis = "...";

// A character of the line as it is printed.
struct Cell {
  size_t begin = 0, end = 0;  // its bytes in the line
  std::string text;
  size_t width = 0;
};

struct Interval {
  uint32_t first, last;
};
// Terminal columns by Unicode block: combining marks take none, East Asian and emoji blocks two.
constexpr std::array<Interval, 4> kZeroWidth = {
    {{0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}}};
constexpr std::array<Interval, 9> kDoubleWidth = {{{0x1100, 0x115f},
                                                   {0x2e80, 0xa4cf},
                                                   {0xac00, 0xd7a3},
                                                   {0xf900, 0xfaff},
                                                   {0xfe30, 0xfe6f},
                                                   {0xff00, 0xff60},
                                                   {0xffe0, 0xffe6},
                                                   {0x1f300, 0x1faff},
                                                   {0x20000, 0x3fffd}}};

template <size_t N>
bool IsIn(const std::array<Interval, N>& intervals, uint32_t value) {
  return std::any_of(intervals.begin(), intervals.end(),
                     [&](Interval i) { return value >= i.first && value <= i.last; });
}

// The character at `at`; a tab's width depends on the column and is set by the caller.
Cell CellAt(std::string_view line, size_t at) {
  const CodePoint point = DecodeUtf8(line.substr(at));
  const bool control = point.value < 0x20 || (point.value >= 0x7f && point.value < 0xa0);
  if (line[at] == '\t') return {at, at + 1, " ", 1};
  if (point.length == 0 || control) {
    const size_t length = std::max<size_t>(point.length, 1);
    std::string text = fmt::format(
        "<{:02X}>", point.length == 0 ? static_cast<unsigned char>(line[at]) : point.value);
    const size_t width = text.size();
    return {at, at + length, std::move(text), width};
  }
  const size_t width = IsIn(kZeroWidth, point.value) ? 0 : IsIn(kDoubleWidth, point.value) ? 2 : 1;
  return {at, at + point.length, std::string(line.substr(at, point.length)), width};
}

// The last start of a character at or before `at`, so that a window does not split one.
size_t CharacterStart(std::string_view line, size_t at) {
  size_t start = std::min(at, line.size());
  while (start > 0 && at - start < 3 && start < line.size() &&
         (static_cast<unsigned char>(line[start]) & 0xc0) == 0x80) {
    --start;
  }
  return start;
}

}  // namespace

SourceLine PrintableLine(std::string_view line, size_t begin, size_t end, size_t columns) {
  begin = std::min(begin, line.size());
  end = std::clamp(end, begin, line.size());
  // A window of bytes: a third of the columns before the place, when the line is too long.
  const size_t before = columns / 3;
  const bool fits = line.size() <= columns;
  const size_t first = fits || begin <= before ? 0 : CharacterStart(line, begin - before);

  SourceLine out;
  if (first > 0) out.text = kEllipsis;
  size_t column = out.text.size();
  size_t underline_begin = 0, underline_end = 0;
  bool seen = false, clipped = false;
  for (size_t at = first; at < line.size();) {
    Cell cell = CellAt(line, at);
    if (line[at] == '\t') {
      cell.width = kTabStop - column % kTabStop;
      cell.text.assign(cell.width, ' ');
    }
    if (column + cell.width > columns && (!fits || cell.begin > begin)) {
      clipped = true;
      break;
    }
    if (!seen && cell.end > begin) {
      underline_begin = column;
      seen = true;
    }
    column += cell.width;
    if (cell.begin < end) underline_end = column;
    out.text += cell.text;
    at = cell.end;
  }
  if (!seen) underline_begin = column;  // the place is the line's end
  if (clipped) out.text += kEllipsis;
  out.underline.assign(underline_begin, ' ');
  out.underline += '^';
  if (underline_end > underline_begin + 1) {
    out.underline.append(underline_end - underline_begin - 1, '~');
  }
  return out;
}

}  // namespace choreo::diag
