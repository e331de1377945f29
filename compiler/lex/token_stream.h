// The active tokens of the main file and of the `.co.h` and `.co` files it includes, in order, with
// all directives carried out and taken away. Macros are defined here, but expanded later
// (expand.h). In host text a mistake that the host compiler will see too, and that may not even be
// one (a condition on names which only the host compiler knows), is left to it; inside a tile
// function nothing is.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "diag/diag.h"
#include "lex/expand.h"
#include "lex/include.h"
#include "lex/lexer.h"
#include "lex/macro.h"
#include "support/source.h"

namespace choreo::lex {

class TokenStream : public TokenSource {
 public:
  TokenStream(SourceManager& sources, FileId main, const std::vector<std::string>& include_dirs,
              ExpansionState& state);

  // Reads `file` before whatever is still to come: for definitions made outside the main file.
  void ReadFirst(FileId file);

  PpToken Next() override;

  const MacroTable& macros() const { return macros_; }
  const IncludeFiles& includes() const { return includes_; }
  bool in_main_file() const { return frames_.size() == 1; }
  // How many files are open inside each other.
  size_t depth() const { return frames_.size(); }
  // The line of the main file that includes the program which the last token stands in; invalid in
  // the main file itself and in headers.
  SourceRange included_program() const;
  // All such lines so far, in order.
  const std::vector<SourceRange>& program_lines() const { return program_lines_; }

  // The branch of the conditionals of the main file, or of the program it includes, that the last
  // token stands in: equal values, same branch.
  struct Branch {
    size_t depth = 0;
    uint64_t serial = 0;
    friend bool operator==(const Branch&, const Branch&) = default;
  };
  Branch branch() const;

  // Between these, directives are those of a tile function. The second gives the lines of the main
  // file that defined or undefined macros.
  void EnterTileFunction() { in_tile_function_ = true; }
  std::vector<SourceRange> LeaveTileFunction();

  // The first `__co__` of the main file that an inactive branch hides; invalid if there is none.
  SourceRange hidden_tile_function() const { return hidden_tile_function_; }
  // Whether some conditional of the main file depends on names that are not known here.
  bool saw_uncertain_condition() const { return saw_uncertain_condition_; }

 private:
  struct Conditional {
    SourceRange start;
    uint64_t serial = 0;    // of the current branch
    bool enclosing = true;  // the text around it is active
    bool active = false;    // the current branch is
    bool taken = false;     // some branch was
    bool seen_else = false;
    bool certain = true;     // no condition so far asked for an unknown name
    std::string_view guard;  // NAME of `#ifndef NAME`
  };
  struct Frame {
    FileId file;
    Lexer lexer;
    std::optional<PpToken> ahead;
    std::vector<Conditional> conditionals;
    bool is_program = true;    // tile functions may stand in it
    SourceRange program_line;  // where the main file includes the program, if it is another one
  };
  struct Line {
    SourceRange hash;
    std::vector<PpToken> tokens;  // from the directive's name on
    SourceRange range() const { return tokens.empty() ? hash : Join(hash, tokens.back().range); }
    SourceRange name() const { return Join(hash, tokens.front().range); }
    std::vector<PpToken> Rest() const { return {tokens.begin() + 1, tokens.end()}; }
  };

  void Enter(FileId file);
  PpToken Take(Frame& frame);
  Line TakeLine(const PpToken& hash);
  bool Active() const;
  bool IsCertain() const;
  void EndFile();

  // directives.cpp
  void Directive(const PpToken& hash);
  bool ConditionalDirective(std::string_view name, const Line& line);
  void ActiveDirective(std::string_view name, const Line& line);
  void If(const Line& line);
  void IfDefined(const Line& line, bool wanted);
  void ElseIf(std::string_view name, const Line& line);
  void Else(const Line& line);
  void EndIf(const Line& line);
  void Switch(Conditional& conditional, bool value);
  bool Condition(const Line& line, Conditional& conditional);
  bool IsDefined(const Line& line, Conditional& conditional);
  void Open(const Line& line, Conditional conditional, bool value);
  void Define(const Line& line);
  void Undefine(const Line& line);
  void Error(const Line& line);
  void Include(const Line& line);
  std::vector<PpToken> ExpandLine(const std::vector<PpToken>& tokens);

  SourceManager& sources_;
  ExpansionState& state_;
  IncludeFiles includes_;
  MacroTable macros_;
  std::deque<Frame> frames_;
  std::unordered_set<uint32_t> once_;  // files with `#pragma once`
  size_t include_count_ = 0;
  uint64_t serial_ = 0;
  size_t error_limit_;
  bool in_tile_function_ = false;
  bool saw_uncertain_condition_ = false;
  std::vector<SourceRange> program_lines_;
  std::vector<SourceRange> definitions_;
  SourceRange hidden_tile_function_;

  static constexpr size_t kMaxIncludeDepth = 200;
  static constexpr size_t kMaxIncludes = 10'000;
  static constexpr size_t kMaxErrors = 100;
};

}  // namespace choreo::lex
