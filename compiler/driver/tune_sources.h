// The files that a program is made of, as far as `choreo tune` looks at them: the .co file and what
// it includes from folders that are searched, however deep, whatever the conditions say. In: a
// path. Out: texts, what they do with a macro, and a hash of them all; also that of a folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/tune_text.h"

namespace choreo::driver {

struct TuneSource {
  std::string name;
  std::string text;
  ScannedText scanned;
};
// `text` is that of `file`, which comes first; includes are searched beside the including file,
// then in `include_dirs`. What is not found belongs to the system.
std::vector<TuneSource> ReadTuneSources(const std::string& file, std::string text,
                                        const std::vector<std::string>& include_dirs);

// FNV-1a of parts, each preceded by its length: 16 hexadecimal digits.
std::string HashOfParts(const std::vector<std::string_view>& parts);
std::string HashOfSources(const std::vector<TuneSource>& sources);
// Of the names and texts of all regular files in a folder and below, in the order of the names.
std::string HashOfFolder(const std::string& path);

struct MacroUse {
  bool read = false;  // some text or condition depends on it
  // A definition that stands whether or not -D gave one: the source's index and the offset.
  struct Place {
    size_t source = 0;
    uint32_t offset = 0;
  };
  std::optional<Place> fixed;
  std::optional<std::string> default_text;  // without -D, where one definition says so
};
MacroUse FindMacro(const std::vector<TuneSource>& sources, std::string_view name);

}  // namespace choreo::driver
