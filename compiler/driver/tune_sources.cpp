#include "driver/tune_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "support/file.h"

namespace choreo::driver {
namespace {

namespace fs = std::filesystem;

// One logical line of code: with what backslashes continue.
struct CodeLine {
  std::string_view text;
  uint32_t offset;
};

std::vector<CodeLine> CodeLines(std::string_view code) {
  std::vector<CodeLine> lines;
  for (size_t begin = 0; begin < code.size();) {
    size_t end = begin;
    do {
      end = std::min(code.find('\n', end == begin ? begin : end + 1), code.size());
    } while (end < code.size() && end > begin && code[end - 1] == '\\');
    lines.push_back({code.substr(begin, end - begin), static_cast<uint32_t>(begin)});
    begin = end + 1;
  }
  return lines;
}

struct Directive {
  std::string_view name;  // empty: the line is none
  std::string_view rest;
};

Directive DirectiveOf(std::string_view line) {
  line = TrimBlanks(line);
  if (!line.starts_with('#')) return {};
  line = TrimBlanks(line.substr(1));
  const std::string_view name = LeadingWord(line);
  return {name, TrimBlanks(line.substr(name.size()))};
}

bool Mentions(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool starts = at == 0 || !IsWordCharacter(text[at - 1]);
    if (starts && (end == text.size() || !IsWordCharacter(text[end]))) return true;
  }
  return false;
}

// What a branch of a conditional knows of one macro.
enum class Known { Nothing, Defined, Undefined };

// The name in `!defined(NAME)` or `!defined NAME`, if that is the whole condition.
std::string_view NotDefined(std::string_view condition) {
  if (!condition.starts_with('!')) return {};
  condition = TrimBlanks(condition.substr(1));
  if (LeadingWord(condition) != "defined") return {};
  condition = TrimBlanks(condition.substr(7));
  if (condition.starts_with('(') && condition.ends_with(')')) {
    condition = TrimBlanks(condition.substr(1, condition.size() - 2));
  }
  return LeadingWord(condition) == condition ? condition : std::string_view();
}

class MacroFinder {
 public:
  explicit MacroFinder(std::string_view name) : name_(name) {}

  void File(size_t index, const TuneSource& source) {
    branches_.clear();
    for (const CodeLine& line : CodeLines(source.scanned.code)) {
      const Directive directive = DirectiveOf(line.text);
      if (directive.name.empty()) {
        use_.read = use_.read || Mentions(line.text, name_);
      } else {
        OneDirective(directive, {index, line.offset});
      }
    }
  }

  MacroUse Take() {
    if (definitions_ != 1) use_.default_text.reset();
    return std::move(use_);
  }

 private:
  struct Branch {
    Known known = Known::Nothing;
    bool guard = false;  // `#ifndef`: of an include guard or of a default
  };

  void OneDirective(const Directive& d, MacroUse::Place place) {
    if (d.name == "ifndef") {
      branches_.push_back({d.rest == name_ ? Known::Undefined : Known::Nothing, true});
    } else if (d.name == "ifdef") {
      branches_.push_back({d.rest == name_ ? Known::Defined : Known::Nothing, false});
      use_.read = use_.read || d.rest == name_;
    } else if (d.name == "if") {
      const std::string_view without = NotDefined(d.rest);
      branches_.push_back({without == name_ ? Known::Undefined : Known::Nothing, !without.empty()});
      use_.read = use_.read || (without != name_ && Mentions(d.rest, name_));
    } else if (d.name == "else" || d.name == "elif") {
      Otherwise();
      use_.read = use_.read || Mentions(d.rest, name_);
    } else if (d.name == "endif") {
      if (!branches_.empty()) branches_.pop_back();
    } else if (d.name == "define") {
      const std::string_view defined = LeadingWord(d.rest);
      const std::string_view body = d.rest.substr(defined.size());
      if (defined == name_) Definition(TrimBlanks(body), place);
      use_.read = use_.read || Mentions(body, name_);
    } else if (d.name != "undef") {
      use_.read = use_.read || Mentions(d.rest, name_);
    }
  }

  void Otherwise() {
    if (branches_.empty()) return;
    const bool was_defined = branches_.back().known == Known::Defined;
    branches_.back() = {was_defined ? Known::Undefined : Known::Nothing, false};
  }

  void Definition(std::string_view body, MacroUse::Place place) {
    ++definitions_;
    const auto yields = [](const Branch& branch) { return branch.known == Known::Undefined; };
    if (std::none_of(branches_.begin(), branches_.end(), yields)) {
      if (!use_.fixed) use_.fixed = place;
      return;
    }
    const auto plain = [&](const Branch& branch) { return branch.guard || yields(branch); };
    if (std::all_of(branches_.begin(), branches_.end(), plain)) {
      use_.default_text = std::string(body);
    }
  }

  std::string_view name_;
  MacroUse use_;
  std::vector<Branch> branches_;
  int definitions_ = 0;
};

// The file that `#include` names here, if it is in one of the folders.
std::optional<fs::path> FindIncluded(std::string_view rest, const fs::path& including,
                                     const std::vector<std::string>& include_dirs) {
  if (rest.size() < 2 || (rest[0] != '"' && rest[0] != '<')) return std::nullopt;
  const size_t end = rest.find(rest[0] == '"' ? '"' : '>', 1);
  if (end == rest.npos) return std::nullopt;
  const fs::path name(rest.substr(1, end - 1));
  std::vector<fs::path> places;
  if (rest[0] == '"') places.push_back(including.parent_path() / name);
  for (const std::string& dir : include_dirs) places.push_back(fs::path(dir) / name);
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::is_regular_file(place, error)) return place.lexically_normal();
  }
  return std::nullopt;
}

}  // namespace

std::vector<TuneSource> ReadTuneSources(const std::string& file, std::string text,
                                        const std::vector<std::string>& include_dirs) {
  std::vector<TuneSource> sources;
  std::set<fs::path> seen;
  const auto add = [&](const fs::path& path, std::string content) {
    std::error_code error;
    if (!seen.insert(fs::weakly_canonical(path, error)).second) return;
    ScannedText scanned = ScanText(content);
    sources.push_back({path.string(), std::move(content), std::move(scanned)});
  };
  add(file, std::move(text));
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::string code = sources[i].scanned.code;  // `sources` grows
    for (const CodeLine& line : CodeLines(code)) {
      const Directive directive = DirectiveOf(line.text);
      if (directive.name != "include") continue;
      const auto path = FindIncluded(directive.rest, sources[i].name, include_dirs);
      if (!path) continue;
      FileText content = ReadFile(path->string());
      if (content.ok()) add(*path, std::move(content.text));
    }
  }
  return sources;
}

std::string HashOfParts(const std::vector<std::string_view>& parts) {
  uint64_t state = 0xcbf29ce484222325u;
  const auto add = [&](uint8_t byte) { state = (state ^ byte) * 0x100000001b3u; };
  for (const std::string_view part : parts) {
    const uint64_t size = part.size();
    for (int shift = 0; shift < 64; shift += 8) add(static_cast<uint8_t>(size >> shift));
    for (const char c : part) add(static_cast<uint8_t>(c));
  }
  return fmt::format("{:016x}", state);
}

std::string HashOfSources(const std::vector<TuneSource>& sources) {
  std::vector<std::string_view> parts;
  for (const TuneSource& source : sources) parts.push_back(source.text);
  return HashOfParts(parts);
}

std::string HashOfFolder(const std::string& path) {
  std::map<std::string, std::string> texts;
  std::error_code error;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code status_error;
    if (!at->is_regular_file(status_error)) continue;
    // A file that cannot be read counts by its name; who needs it says what is wrong with it.
    texts[at->path().lexically_relative(path).generic_string()] =
        ReadFile(at->path().string()).text;
  }
  std::vector<std::string_view> parts;
  for (const auto& [name, text] : texts) parts.insert(parts.end(), {name, text});
  return HashOfParts(parts);
}

MacroUse FindMacro(const std::vector<TuneSource>& sources, std::string_view name) {
  MacroFinder finder(name);
  for (size_t i = 0; i < sources.size(); ++i) finder.File(i, sources[i]);
  return finder.Take();
}

}  // namespace choreo::driver
