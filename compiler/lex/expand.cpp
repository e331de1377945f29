#include "lex/expand.h"

#include <utility>

#include "lex/substitute.h"

namespace choreo::lex {
namespace {

namespace kinds = diag::kinds;

PpToken EndToken() { return {}; }

}  // namespace

void ExpansionState::Stop(SourceRange range, std::string_view limit) {
  if (!stopped) diags.Emit(kinds::PreprocessingLimit, range, limit);
  stopped = true;
}

bool ExpansionState::Spend(size_t tokens, SourceRange range) {
  if (tokens > tokens_left) Stop(range, fmt::format("{} tokens made by macros", kMaxTokens));
  tokens_left -= std::min(tokens, tokens_left);
  return !stopped;
}

Expander::Expander(const MacroTable& macros, TokenSource& source, ExpansionState& state,
                   bool in_condition)
    : macros_(macros), source_(source), state_(state), in_condition_(in_condition) {}

void Expander::Push(Context context) {
  if (context.macro != nullptr) disabled_.insert(context.macro.get());
  contexts_.push_back(std::move(context));
}

void Expander::Pop() {
  if (contexts_.back().macro != nullptr) disabled_.erase(contexts_.back().macro.get());
  contexts_.pop_back();
}

bool Expander::InExpansion() {
  while (!contexts_.empty() && contexts_.back().next == contexts_.back().tokens.size()) Pop();
  return !contexts_.empty();
}

// The next token before expansion.
PpToken Expander::Read() {
  while (!contexts_.empty()) {
    Context& context = contexts_.back();
    if (context.next < context.tokens.size()) return context.tokens[context.next++];
    if (context.is_argument) return EndToken();
    Pop();
  }
  PpToken token = put_back_ ? *std::exchange(put_back_, std::nullopt) : source_.Next();
  if (state_.stopped) return EndToken();
  if (token.kind != TokenKind::EndOfFile) {
    source_end_ = {token.range.begin.file, token.range.end};
  }
  return token;
}

bool Expander::NextIsLeftParen() {
  const SourceLoc end = source_end_;
  PpToken token = Read();
  if (token.kind == TokenKind::LParen) return true;
  if (token.kind == TokenKind::EndOfFile) return false;
  if (contexts_.empty()) {
    put_back_ = std::move(token);
    source_end_ = end;
  } else {
    --contexts_.back().next;
  }
  return false;
}

// Keeps the operand of `defined` from being expanded.
void Expander::NoteOperandOfDefined(const PpToken& token) {
  if (token.kind == TokenKind::Identifier && token.text == "defined") {
    after_defined_ = 1;
  } else if (after_defined_ == 1 && token.kind == TokenKind::LParen) {
    after_defined_ = 2;
  } else {
    after_defined_ = 0;
  }
}

PpToken Expander::Next() {
  while (true) {
    PpToken token = Read();
    if (state_.stopped) return EndToken();
    const bool is_operand = after_defined_ != 0;
    if (in_condition_) NoteOperandOfDefined(token);
    if (token.kind != TokenKind::Identifier || token.no_expand || is_operand) return token;
    const MacroPtr macro = macros_.Find(token.text);
    if (macro == nullptr) return token;
    if (disabled_.count(macro.get()) != 0) {
      token.no_expand = true;
      return token;
    }
    if (!Expand(token, macro)) return token;
  }
}

bool Expander::ExpandUse(const PpToken& name) {
  const MacroPtr macro = macros_.Find(name.text);
  return macro != nullptr && Expand(name, macro);
}

// False: the name of a macro with parameters that has no argument list is an ordinary name.
bool Expander::Expand(const PpToken& name, const MacroPtr& macro) {
  std::vector<MacroArgument> arguments;
  if (macro->is_function) {
    if (!NextIsLeftParen()) return false;
    std::optional<Arguments> collected = CollectArguments(name, *macro);
    if (!collected || !CheckCount(name, *macro, *collected)) return true;
    for (std::vector<PpToken>& raw : *collected) arguments.push_back({std::move(raw), {}});
  }
  std::vector<PpToken> tokens =
      macro->dynamic != DynamicMacro::None
          ? ExpandDynamic(name, macro->dynamic)
          : Substitute(*macro, name, arguments, state_,
                       [this](const std::vector<PpToken>& raw) { return ExpandArgument(raw); });
  if (!state_.Spend(tokens.size() + 1, name.use)) return true;
  if (!tokens.empty()) {
    tokens[0].after_space = name.after_space;
    tokens[0].starts_line = name.starts_line;
  }
  Push({macro, std::move(tokens), 0, false});
  return true;
}

std::vector<PpToken> Expander::ExpandDynamic(const PpToken& name, DynamicMacro dynamic) {
  PpToken token = name;
  const SourceLoc place = name.use.begin;
  if (dynamic == DynamicMacro::Line) {
    token.kind = TokenKind::Integer;
    token.text =
        state_.spellings.emplace_back(fmt::format("{}", state_.sources.Position(place).line));
  } else {
    token.kind = TokenKind::String;
    std::string text = "\"";
    for (const char c : state_.sources.Name(place.file)) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    token.text = state_.spellings.emplace_back(text + '"');
  }
  return {token};
}

// The tokens between the parentheses, cut at the commas outside inner parentheses.
std::optional<Expander::Arguments> Expander::CollectArguments(const PpToken& name,
                                                              const Macro& macro) {
  Arguments arguments(1);
  size_t depth = 0;
  while (true) {
    PpToken token = Read();
    if (token.kind == TokenKind::EndOfFile) {
      if (!state_.stopped) state_.diags.Emit(kinds::UnterminatedMacroUse, name.use, macro.name);
      return std::nullopt;
    }
    if (!state_.Spend(1, name.use)) return std::nullopt;
    if (token.kind == TokenKind::LParen) ++depth;
    if (token.kind == TokenKind::RParen && depth-- == 0) return arguments;
    const bool rest = macro.is_variadic && arguments.size() == macro.parameters.size();
    if (token.kind == TokenKind::Comma && depth == 0 && !rest) {
      arguments.emplace_back();
      continue;
    }
    if (token.kind == TokenKind::Identifier && !token.no_expand) {
      const MacroPtr named = macros_.Find(token.text);
      token.no_expand = named != nullptr && disabled_.count(named.get()) != 0;
    }
    arguments.back().push_back(std::move(token));
  }
}

bool Expander::CheckCount(const PpToken& name, const Macro& macro, Arguments& arguments) {
  const size_t wanted = macro.parameters.size();
  if (wanted == 0 && arguments.size() == 1 && arguments[0].empty()) arguments.clear();
  // `f(x)` of `f(a, ...)`: the rest may be left out with its comma.
  if (macro.is_variadic && arguments.size() + 1 == wanted) arguments.emplace_back();
  if (arguments.size() == wanted) return true;
  state_.diags
      .Emit(kinds::MacroArgumentCount, name.use, macro.name, wanted,
            macro.is_variadic ? " or more" : "", arguments.size())
      .Note(macro.range, fmt::format("`{}` is defined here", macro.name));
  return false;
}

std::vector<PpToken> Expander::ExpandArgument(const std::vector<PpToken>& raw) {
  std::vector<PpToken> expanded;
  if (argument_depth_ == ExpansionState::kMaxNesting) {
    state_.Stop(raw.empty() ? SourceRange() : raw[0].use,
                fmt::format("{} macro uses inside each other", ExpansionState::kMaxNesting));
    return expanded;
  }
  ++argument_depth_;
  Push({nullptr, raw, 0, true});
  const size_t base = contexts_.size();
  while (true) {
    PpToken token = Next();
    if (token.kind == TokenKind::EndOfFile) break;
    if (!state_.Spend(1, token.use)) break;
    expanded.push_back(std::move(token));
  }
  while (contexts_.size() >= base) Pop();
  --argument_depth_;
  return expanded;
}

}  // namespace choreo::lex
