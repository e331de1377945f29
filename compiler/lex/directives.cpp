// The directives of a TokenStream.
#include <utility>

#include "lex/condition.h"
#include "lex/token_stream.h"

namespace choreo::lex {

namespace kinds = diag::kinds;

void TokenStream::Directive(const PpToken& hash) {
  const Line line = TakeLine(hash);
  if (state_.stopped || line.tokens.empty()) return;
  const std::string_view name = line.tokens[0].text;
  if (!ConditionalDirective(name, line) && Active()) ActiveDirective(name, line);
}

bool TokenStream::ConditionalDirective(std::string_view name, const Line& line) {
  if (name == "if") return If(line), true;
  if (name == "ifdef") return IfDefined(line, true), true;
  if (name == "ifndef") return IfDefined(line, false), true;
  if (name == "elif" || name == "elifdef" || name == "elifndef") return ElseIf(name, line), true;
  if (name == "else") return Else(line), true;
  if (name == "endif") return EndIf(line), true;
  return false;
}

void TokenStream::ActiveDirective(std::string_view name, const Line& line) {
  if (name == "define") return Define(line);
  if (name == "undef") return Undefine(line);
  if (name == "include") return Include(line);
  if (name == "error") return Error(line);
  if (name == "pragma") {
    const bool once = line.tokens.size() == 2 && line.tokens[1].text == "once";
    if (once) once_.insert(frames_.back().file.value);
    return;
  }
  const bool ignored = name == "line" || name == "warning" || name == "ident";
  if (in_tile_function_ && !ignored) {
    state_.diags.Emit(kinds::UnknownDirective, line.name(), name);
  }
}

void TokenStream::Open(const Line& line, Conditional conditional, bool value) {
  conditional.start = line.name();
  conditional.enclosing = Active();
  frames_.back().conditionals.push_back(conditional);
  Switch(frames_.back().conditionals.back(), value);
}

// Goes on to a branch whose condition is `value`.
void TokenStream::Switch(Conditional& conditional, bool value) {
  conditional.serial = ++serial_;
  conditional.active = conditional.enclosing && !conditional.taken && value;
  conditional.taken |= value;
  saw_uncertain_condition_ |= conditional.enclosing && !conditional.certain && in_main_file();
}

void TokenStream::If(const Line& line) {
  Conditional conditional;
  const bool value = Active() && Condition(line, conditional);
  Open(line, conditional, value);
}

void TokenStream::IfDefined(const Line& line, bool wanted) {
  Conditional conditional;
  const bool value = Active() && IsDefined(line, conditional) == wanted;
  if (!wanted && line.tokens.size() > 1) conditional.guard = line.tokens[1].text;
  Open(line, conditional, value);
}

bool TokenStream::Condition(const Line& line, Conditional& conditional) {
  const ConditionValue result = EvaluateCondition(line.Rest(), line.name(), macros_, state_);
  conditional.certain &= result.is_certain;
  if (result.error.empty()) return result.value;
  if (result.is_certain || in_tile_function_) {
    state_.diags.Emit(kinds::InvalidCondition, result.error_range, result.error);
  }
  return false;
}

bool TokenStream::IsDefined(const Line& line, Conditional& conditional) {
  if (line.tokens.size() < 2 || line.tokens[1].kind != TokenKind::Identifier) {
    state_.diags.Emit(kinds::InvalidCondition, line.name(), "a macro's name is missing");
    return false;
  }
  const bool defined = macros_.Find(line.tokens[1].text) != nullptr;
  conditional.certain &= defined;
  return defined;
}

void TokenStream::ElseIf(std::string_view name, const Line& line) {
  if (frames_.back().conditionals.empty()) {
    state_.diags.Emit(kinds::UnmatchedConditional, line.name(), name);
    return;
  }
  Conditional& conditional = frames_.back().conditionals.back();
  if (conditional.seen_else) {
    state_.diags.Emit(kinds::BranchAfterElse, line.name(), name)
        .Note(conditional.start, "the conditional starts here");
    return Switch(conditional, false);
  }
  bool value = false;
  if (conditional.enclosing && !conditional.taken) {
    value = name == "elif" ? Condition(line, conditional)
                           : IsDefined(line, conditional) == (name == "elifdef");
  }
  Switch(conditional, value);
}

void TokenStream::Else(const Line& line) {
  if (frames_.back().conditionals.empty()) {
    state_.diags.Emit(kinds::UnmatchedConditional, line.name(), "else");
    return;
  }
  Conditional& conditional = frames_.back().conditionals.back();
  if (conditional.seen_else) {
    state_.diags.Emit(kinds::BranchAfterElse, line.name(), "else")
        .Note(conditional.start, "the conditional starts here");
  }
  Switch(conditional, !conditional.seen_else);
  conditional.seen_else = true;
}

void TokenStream::EndIf(const Line& line) {
  if (frames_.back().conditionals.empty()) {
    state_.diags.Emit(kinds::UnmatchedConditional, line.name(), "endif");
    return;
  }
  frames_.back().conditionals.pop_back();
}

void TokenStream::Define(const Line& line) {
  std::optional<Macro> macro = ParseDefinition(line.Rest(), line.name(), state_.diags);
  if (!macro) return;
  // `#ifndef NAME` around `#define NAME` is an include guard or a default: nothing is unknown in
  // it.
  std::vector<Conditional>& conditionals = frames_.back().conditionals;
  if (!conditionals.empty() && conditionals.back().guard == macro->name) {
    conditionals.back().certain = true;
  }
  if (in_tile_function_ && in_main_file()) definitions_.push_back(line.range());
  macros_.Define(std::move(*macro));
}

void TokenStream::Undefine(const Line& line) {
  if (line.tokens.size() < 2 || line.tokens[1].kind != TokenKind::Identifier) {
    state_.diags.Emit(kinds::InvalidMacroDefinition, line.name(),
                      "a macro's name is an identifier");
    return;
  }
  if (in_tile_function_ && in_main_file()) definitions_.push_back(line.range());
  macros_.Undefine(line.tokens[1].text);
}

// The text of an `#error` counts where the Croqtile side alone decides that it is reached.
void TokenStream::Error(const Line& line) {
  if (!in_tile_function_ && !IsCertain()) return;
  const std::vector<PpToken> rest = line.Rest();
  const std::string_view message = rest.empty()
                                       ? "without a message"
                                       : sources_.Text(Join(rest.front().range, rest.back().range));
  state_.diags.Emit(kinds::ErrorDirective, line.name(), message);
}

std::vector<PpToken> TokenStream::ExpandLine(const std::vector<PpToken>& tokens) {
  LineSource source(tokens);
  Expander expander(macros_, source, state_);
  std::vector<PpToken> expanded;
  while (true) {
    PpToken token = expander.Next();
    if (token.kind == TokenKind::EndOfFile) return expanded;
    expanded.push_back(std::move(token));
  }
}

void TokenStream::Include(const Line& line) {
  std::vector<PpToken> rest = line.Rest();
  std::string name;
  bool angled = false;
  if (!rest.empty() && rest[0].kind == TokenKind::Identifier) rest = ExpandLine(rest);
  if (!rest.empty() && rest[0].kind == TokenKind::String && rest[0].text.front() == '"') {
    name = rest[0].text.substr(1, rest[0].text.size() - 2);
  } else if (!rest.empty() && rest[0].kind == TokenKind::Less) {
    angled = true;
    for (size_t i = 1; i < rest.size() && rest[i].kind != TokenKind::Greater; ++i) {
      if (i > 1 && rest[i].after_space) name += ' ';
      name += rest[i].text;
    }
  }
  const bool is_program = IsProgram(name);
  if (!IsTileHeader(name) && (!is_program || in_tile_function_)) {
    if (in_tile_function_) state_.diags.Emit(kinds::IncludeInTileFunction, line.range());
    return;
  }
  if (is_program && !frames_.back().is_program) {  // the host compiler reads this line too
    state_.diags.Emit(kinds::TileFunctionInHeader, line.range());
    return;
  }
  if (frames_.size() > kMaxIncludeDepth) {
    return state_.Stop(line.range(),
                       fmt::format("{} includes inside each other", kMaxIncludeDepth));
  }
  if (++include_count_ > kMaxIncludes) {
    return state_.Stop(line.range(), fmt::format("{} includes", kMaxIncludes));
  }
  const FileId file = includes_.Open(name, angled, line.range());
  if (!file.valid()) return;
  SourceRange program_line = frames_.back().program_line;
  if (is_program && in_main_file()) {
    program_line = line.range();
    program_lines_.push_back(program_line);
  }
  if (once_.count(file.value) != 0) return;
  Enter(file);
  frames_.back().is_program = is_program;
  frames_.back().program_line = program_line;
}

}  // namespace choreo::lex
