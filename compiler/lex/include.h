// Finding and reading the `.co.h` and `.co` files that a file includes. Each file is read once.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diag/diag.h"
#include "support/source.h"

namespace choreo::lex {

// Whether an include is expanded on the Croqtile side; all others belong to the host compiler.
inline bool IsTileHeader(std::string_view name) { return name.ends_with(".co.h"); }
// Whether an include takes the tile functions of another program.
inline bool IsProgram(std::string_view name) { return name.ends_with(".co"); }

class IncludeFiles {
 public:
  IncludeFiles(SourceManager& sources, const std::vector<std::string>& folders,
               diag::Emitter& diags)
      : sources_(sources), folders_(folders), diags_(diags) {}

  // The file that `name` means in an include at `place`: in the folder of the including file
  // (unless `angled`), then in each of the folders. What goes wrong is diagnosed; the id is invalid
  // then.
  FileId Open(std::string_view name, bool angled, SourceRange place);
  // The names of the files that were read, in order.
  const std::vector<std::string>& names() const { return names_; }

 private:
  FileId Load(const std::string& path, SourceRange place);

  SourceManager& sources_;
  const std::vector<std::string>& folders_;
  diag::Emitter& diags_;
  std::unordered_map<std::string, FileId> by_real_path_;  // invalid: not readable as source
  std::vector<std::string> names_;
};

}  // namespace choreo::lex
