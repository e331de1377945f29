// Source files held in memory, and places in them. A SourceLoc is (file, byte offset); line and
// column are computed on demand. Files are immutable once added.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "support/ids.h"

namespace choreo {

using FileId = Id<struct FileTag>;

// A byte position in a file. Invalid for things that have no place in a source.
struct SourceLoc {
  FileId file;
  uint32_t offset = 0;

  bool valid() const { return file.valid(); }
  friend bool operator==(const SourceLoc&, const SourceLoc&) = default;
};

// Half-open byte range [begin, end) in one file.
struct SourceRange {
  SourceLoc begin;
  uint32_t end = 0;

  SourceRange() = default;
  SourceRange(SourceLoc b, uint32_t e) : begin(b), end(e) {}
  explicit SourceRange(SourceLoc b) : begin(b), end(b.offset + 1) {}
  bool valid() const { return begin.valid(); }
  friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

// From the start of `a` to the end of `b`, or `a` alone where they lie in different files.
SourceRange Join(SourceRange a, SourceRange b);

// 1-based line and column (in bytes).
struct LineColumn {
  uint32_t line = 0;
  uint32_t column = 0;
};

class SourceManager {
 public:
  // `name` is what diagnostics print; it is kept as given.
  FileId Add(std::string name, std::string text);

  std::string_view Name(FileId file) const { return At(file).name; }
  std::string_view Text(FileId file) const { return At(file).text; }
  std::string_view Text(SourceRange range) const;
  LineColumn Position(SourceLoc loc) const;
  // The place of a 1-based line and column; past the line's end it is the line's end.
  SourceLoc LocAt(FileId file, uint32_t line, uint32_t column) const;
  // The text of a 1-based line without its line end.
  std::string_view Line(FileId file, uint32_t line) const;
  uint32_t LineCount(FileId file) const;
  // "file:line:column", or "<no place>" for an invalid location.
  std::string Describe(SourceLoc loc) const;
  size_t file_count() const { return files_.size(); }

 private:
  struct File {
    std::string name;
    std::string text;
    std::vector<uint32_t> line_starts;
  };
  const File& At(FileId file) const;

  std::deque<File> files_;  // a deque: views of texts stay valid
};

}  // namespace choreo
