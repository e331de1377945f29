#include "lex/preprocess.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lex/encoding.h"
#include "lex/expand.h"
#include "lex/host_scope.h"
#include "lex/tile_function.h"
#include "lex/token_stream.h"

namespace choreo::lex {
namespace {

namespace kinds = diag::kinds;

// What is defined before the main file.
constexpr std::string_view kPredefined =
    "#define __CHOREO__ 1\n"
    "#define __cplusplus 202002L\n";

std::string DefinitionText(const std::vector<CommandLineDefine>& defines) {
  std::string text;
  for (const CommandLineDefine& define : defines) {
    std::string line = fmt::format("#define {} {}", define.name, define.body);
    for (char& c : line) {
      if (c == '\n' || c == '\0') c = ' ';
    }
    text += line + '\n';
  }
  return text;
}

// Cuts the main file into segments.
class Cutter {
 public:
  Cutter(SourceManager& sources, FileId file, const PreprocessOptions& options,
         diag::Emitter& diags)
      : sources_(sources),
        diags_(diags),
        errors_before_(diags.error_count()),
        state_{sources, diags, unit_.pasted},
        stream_(sources, file, options.include_dirs, state_),
        expander_(stream_.macros(), stream_, state_) {
    unit_.file = file;
    unit_.command_line_defines = options.defines;
    if (!options.defines.empty()) {
      stream_.ReadFirst(sources.Add("<command line>", DefinitionText(options.defines)));
    }
    stream_.ReadFirst(sources.Add("<built-in>", std::string(kPredefined)));
  }

  Unit Run(std::vector<std::string>* included) {
    while (true) {
      const PpToken token = expander_.NextUnexpanded();
      if (token.kind == TokenKind::EndOfFile) break;
      if (stream_.in_main_file() || stream_.included_program().valid()) {
        HostToken(token);
      } else {
        HeaderToken(token);
      }
    }
    AddHost(static_cast<uint32_t>(sources_.Text(unit_.file).size()));
    if (diags_.error_count() == errors_before_) CheckFunctions();
    if (included != nullptr) *included = stream_.includes().names();
    return std::move(unit_);
  }

 private:
  // The host text that the last token stands in. That of an included program is followed, but does
  // not become part of this one.
  HostScope& Scope() {
    const SourceRange line = stream_.included_program();
    if (!line.valid()) return scope_;
    if (!(line == program_line_)) program_scope_ = {};
    program_line_ = line;
    return program_scope_;
  }

  std::string_view Objection() {
    const HostScope& scope = Scope();
    const std::string_view objection = scope.Objection();
    if (!objection.empty() || &scope == &scope_) return objection;
    if (scope.in_namespace()) return "in a namespace of a program that another one includes";
    return scope_.Objection();
  }

  // A token of host text, or the start of a tile function.
  void HostToken(const PpToken& token) {
    if (token.kind == TokenKind::Identifier) {
      if (token.text == "__co__") return Region(token, token);
      if (stream_.macros().MayMakeTileFunction(token.text) && expander_.ExpandUse(token)) {
        return Region(token, std::nullopt);
      }
    }
    if (!Scope().Feed(token) && stream_.in_main_file() && MayComplainOfBrace()) {
      diags_.Emit(kinds::UnmatchedBrace, token.range)
          .Note(last_end_, "the tile function before it ends here");
    }
  }

  // A brace that closes nothing, after a tile function, most likely closed that one too early.
  // Where the host compiler may see other braces than this side, or the function was wrong anyway,
  // nothing is said.
  bool MayComplainOfBrace() const {
    return last_end_.valid() && regular_ && !stream_.saw_uncertain_condition();
  }

  // A `.co.h` file holds no tile functions: host text that includes it cannot be replaced there.
  void HeaderToken(const PpToken& token) {
    if (token.kind != TokenKind::Identifier) return;
    const bool makes_one =
        token.text == "__co__" || (stream_.macros().MayMakeTileFunction(token.text) &&
                                   stream_.macros().Find(token.text) != nullptr);
    if (makes_one) diags_.Emit(kinds::TileFunctionInHeader, token.range);
  }

  // The tile functions that replace one stretch of the main file: one that is written there, or all
  // that one macro use expands to. `start` is its first token, `first` the `__co__`, if it was read
  // already.
  void Region(const PpToken& start, std::optional<PpToken> first) {
    const std::string_view objection = Objection();
    const SourceRange included = stream_.included_program();
    if (!objection.empty()) diags_.Emit(kinds::MisplacedTileFunction, start.range, objection);
    std::vector<TileFunctionText> functions;
    std::optional<PpToken> next;  // a `__co__` that starts the next stretch
    std::optional<PpToken> host;  // the first token that belongs to no tile function
    bool found = false;
    while (first || expander_.InExpansion()) {
      const PpToken token = first ? *std::exchange(first, std::nullopt) : expander_.Next();
      if (token.kind == TokenKind::EndOfFile) break;
      if (token.text != "__co__") {
        if (token.kind != TokenKind::Semi && !host) host = token;
        continue;
      }
      found = true;
      TileFunctionRead read = ReadTileFunction(token, stream_, expander_, state_);
      regular_ = read.is_regular;
      next = std::move(read.next);
      if (!read.tokens.empty() && objection.empty()) {
        functions.push_back({{}, std::move(read.tokens), std::move(read.definitions)});
      }
      if (next) {
        if (!(next->use == next->range) || expander_.InExpansion()) {
          first = std::exchange(next, std::nullopt);  // made by the same macro use
        } else {
          break;
        }
      }
    }
    if (found && host) {
      diags_.Emit(kinds::HostTextInTileMacro, host->range, host->text)
          .Note(host->use, "the macro is used here");
    }
    (included.valid() ? program_scope_ : scope_).EndDeclaration();
    const SourceLoc end = expander_.source_end();
    const SourceLoc region_end = next ? next->range.begin : end;
    const bool ends_here = region_end.file == start.range.begin.file;
    if (!functions.empty() && ends_here) {
      if (included.valid()) {
        Replace(std::max(included.begin.offset, host_begin_), included.end, std::move(functions));
      } else {
        Replace(start.range.begin.offset, region_end.offset, std::move(functions));
      }
    }
    if (!next) return;
    if (!stream_.in_main_file() && !stream_.included_program().valid()) return HeaderToken(*next);
    Region(*next, next);
  }

  // The first function takes the place of the whole stretch, the others follow it.
  void Replace(uint32_t begin, uint32_t end, std::vector<TileFunctionText> functions) {
    AddHost(begin);
    SourceRange text({unit_.file, begin}, end);
    for (TileFunctionText& function : functions) {
      function.text = text;
      unit_.segments.push_back(
          {Segment::Kind::TileFunction, text, static_cast<uint32_t>(unit_.functions.size())});
      unit_.functions.push_back(std::move(function));
      text = SourceRange({unit_.file, end}, end);
    }
    host_begin_ = end;
    last_end_ = SourceRange({unit_.file, end - 1}, end);
  }

  void AddHost(uint32_t end) {
    if (end > host_begin_) {
      unit_.segments.push_back(
          {Segment::Kind::Host, SourceRange({unit_.file, host_begin_}, end), 0});
    }
    host_begin_ = end;
  }

  // A program has a tile function, and so has each program that it includes.
  void CheckFunctions() {
    if (unit_.functions.empty()) return NoTileFunction();
    for (const SourceRange& line : stream_.program_lines()) {
      const bool any =
          std::any_of(unit_.functions.begin(), unit_.functions.end(),
                      [&](const TileFunctionText& function) { return function.text == line; });
      if (!any) diags_.Emit(kinds::NoTileFunction, line, "the included program");
    }
  }

  void NoTileFunction() {
    diag::Builder builder = diags_.Emit(kinds::NoTileFunction, SourceRange({unit_.file, 0}, 0),
                                        sources_.Name(unit_.file));
    if (stream_.hidden_tile_function().valid()) {
      builder.Note(stream_.hidden_tile_function(), "this one stands in an inactive branch");
    }
  }

  SourceManager& sources_;
  diag::Emitter& diags_;
  size_t errors_before_;
  Unit unit_;
  ExpansionState state_;
  TokenStream stream_;
  Expander expander_;
  HostScope scope_;
  HostScope program_scope_;   // of the program that is included by
  SourceRange program_line_;  // this line
  uint32_t host_begin_ = 0;
  SourceRange last_end_;  // the last byte of the last tile function
  bool regular_ = true;   // that function was closed as it should be
};

}  // namespace

Unit Preprocess(SourceManager& sources, FileId file, const PreprocessOptions& options,
                diag::Emitter& diags, std::vector<std::string>* included) {
  if (!CheckEncoding(sources, file, diags)) {
    Unit unit;
    unit.file = file;
    unit.command_line_defines = options.defines;
    const auto size = static_cast<uint32_t>(sources.Text(file).size());
    unit.segments.push_back({Segment::Kind::Host, SourceRange({file, 0}, size), 0});
    return unit;
  }
  return Cutter(sources, file, options, diags).Run(included);
}

}  // namespace choreo::lex
