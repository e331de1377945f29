#include "support/source.h"

#include <algorithm>

namespace choreo {

SourceRange Join(SourceRange a, SourceRange b) {
  if (!a.valid()) return b;
  if (!b.valid() || a.begin.file != b.begin.file || b.end < a.begin.offset) return a;
  return {a.begin, std::max(a.end, b.end)};
}

FileId SourceManager::Add(std::string name, std::string text) {
  File file{std::move(name), std::move(text), {0}};
  CHOREO_CHECK(file.text.size() < 0xffffffffu, "{}: offsets are 32 bits", file.name);
  for (size_t i = file.text.find('\n'); i != std::string::npos; i = file.text.find('\n', i + 1)) {
    file.line_starts.push_back(static_cast<uint32_t>(i + 1));
  }
  files_.push_back(std::move(file));
  return FileId(static_cast<uint32_t>(files_.size() - 1));
}

const SourceManager::File& SourceManager::At(FileId file) const {
  CHOREO_CHECK(file.value < files_.size(), "file {} of {}", file.value, files_.size());
  return files_[file.value];
}

std::string_view SourceManager::Text(SourceRange range) const {
  std::string_view text = Text(range.begin.file);
  const size_t begin = std::min<size_t>(range.begin.offset, text.size());
  const size_t end = std::min<size_t>(std::max(range.end, range.begin.offset), text.size());
  return text.substr(begin, end - begin);
}

LineColumn SourceManager::Position(SourceLoc loc) const {
  const std::vector<uint32_t>& starts = At(loc.file).line_starts;
  const auto after = std::upper_bound(starts.begin(), starts.end(), loc.offset);
  const auto line = static_cast<uint32_t>(after - starts.begin());
  return {line, loc.offset - starts[line - 1] + 1};
}

std::string_view SourceManager::Line(FileId file, uint32_t line) const {
  const File& f = At(file);
  if (line == 0 || line > f.line_starts.size()) return {};
  const uint32_t begin = f.line_starts[line - 1];
  const size_t end = line < f.line_starts.size() ? f.line_starts[line] - 1 : f.text.size();
  std::string_view text = std::string_view(f.text).substr(begin, end - begin);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

SourceLoc SourceManager::LocAt(FileId file, uint32_t line, uint32_t column) const {
  const std::vector<uint32_t>& starts = files_[file.value].line_starts;
  CHOREO_CHECK(line >= 1 && line <= starts.size(), "line {} of {}", line, starts.size());
  const auto length = static_cast<uint32_t>(Line(file, line).size());
  return {file, starts[line - 1] + std::min(column == 0 ? 0 : column - 1, length)};
}

uint32_t SourceManager::LineCount(FileId file) const {
  return static_cast<uint32_t>(At(file).line_starts.size());
}

std::string SourceManager::Describe(SourceLoc loc) const {
  if (!loc.valid()) return "<no place>";
  const LineColumn at = Position(loc);
  return fmt::format("{}:{}:{}", Name(loc.file), at.line, at.column);
}

}  // namespace choreo
