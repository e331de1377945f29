#include "lex/substitute.h"

#include <utility>

#include "lex/lexer.h"

namespace choreo::lex {
namespace {

namespace kinds = diag::kinds;

class Substitution {
 public:
  using ExpandFunction = std::function<std::vector<PpToken>(const std::vector<PpToken>&)>;

  Substitution(const Macro& macro, const PpToken& name, std::vector<MacroArgument>& arguments,
               ExpansionState& state, const ExpandFunction& expand)
      : macro_(macro), name_(name), arguments_(arguments), state_(state), expand_(expand) {}

  // The tokens [begin, end) of the body.
  std::vector<PpToken> Run(size_t begin, size_t end) {
    std::vector<PpToken> out;
    size_t i = begin;
    bool left_is_empty = false;  // the operand before a `##` was an empty argument
    while (i < end && !state_.stopped) {
      const PpToken& token = macro_.body[i];
      if (token.kind == TokenKind::HashHash && i > begin && i + 1 < end) {
        Operand right = Take(i + 1, end, true);
        const bool comma_of_rest = !out.empty() && out.back().kind == TokenKind::Comma &&
                                   macro_.body[i - 1].kind == TokenKind::Comma &&
                                   IsRest(macro_.body[i + 1]);
        if (comma_of_rest) {
          if (right.tokens.empty()) out.pop_back();  // `, ## __VA_ARGS__` without any
        } else if (!left_is_empty && !right.tokens.empty() && !out.empty()) {
          Paste(out, right.tokens);
        }
        left_is_empty = left_is_empty && right.tokens.empty();
        Append(out, std::move(right.tokens));
        i = right.next;
        continue;
      }
      const size_t after = Take(i, end, true, /*only_measure=*/true).next;
      const bool beside_paste = after < end && macro_.body[after].kind == TokenKind::HashHash;
      Operand operand = Take(i, end, beside_paste);
      left_is_empty = operand.tokens.empty();
      Append(out, std::move(operand.tokens));
      i = operand.next;
    }
    return out;
  }

 private:
  struct Operand {
    std::vector<PpToken> tokens;
    size_t next = 0;  // the place in the body after it
  };

  bool IsRest(const PpToken& token) const {
    return macro_.is_variadic && token.text == macro_.parameters.back();
  }

  // What stands at `i`: a parameter (as it was written, if `raw`), a string made of one, a
  // `__VA_OPT__(…)` or a plain token.
  Operand Take(size_t i, size_t end, bool raw, bool only_measure = false) {
    const PpToken& token = macro_.body[i];
    if (macro_.is_function && token.kind == TokenKind::Hash && i + 1 < end) {
      if (only_measure) return {{}, Take(i + 1, end, true, true).next};
      Operand operand = Take(i + 1, end, true);
      return {{Stringify(token, operand.tokens)}, operand.next};
    }
    const int parameter = token.kind == TokenKind::Identifier ? macro_.Parameter(token.text) : -1;
    if (parameter >= 0) {
      if (only_measure) return {{}, i + 1};
      std::vector<PpToken> tokens = ArgumentTokens(static_cast<size_t>(parameter), raw);
      if (!tokens.empty()) {
        tokens[0].after_space = token.after_space;
        tokens[0].starts_line = false;
      }
      return {std::move(tokens), i + 1};
    }
    const bool is_optional = macro_.is_variadic && token.text == "__VA_OPT__" && i + 1 < end &&
                             macro_.body[i + 1].kind == TokenKind::LParen;
    if (is_optional) return TakeOptional(i, end, only_measure);
    if (only_measure) return {{}, i + 1};
    PpToken copy = token;
    copy.use = name_.use;
    copy.starts_line = false;
    return {{std::move(copy)}, i + 1};
  }

  Operand TakeOptional(size_t i, size_t end, bool only_measure) {
    size_t close = i + 2;
    for (size_t depth = 1; close < end; ++close) {
      if (macro_.body[close].kind == TokenKind::LParen) ++depth;
      if (macro_.body[close].kind == TokenKind::RParen && --depth == 0) break;
    }
    Operand operand{{}, std::min(close + 1, end)};
    const bool given = !arguments_.empty() && !arguments_.back().raw.empty();
    if (given && !only_measure) operand.tokens = Run(i + 2, close);
    return operand;
  }

  std::vector<PpToken> ArgumentTokens(size_t index, bool raw) {
    MacroArgument& argument = arguments_[index];
    if (raw) return argument.raw;
    if (!argument.expanded) argument.expanded = expand_(argument.raw);
    return *argument.expanded;
  }

  void Append(std::vector<PpToken>& out, std::vector<PpToken> tokens) {
    if (!state_.Spend(tokens.size(), name_.use)) return;
    out.insert(out.end(), std::make_move_iterator(tokens.begin()),
               std::make_move_iterator(tokens.end()));
  }

  // Joins the last token of `out` with the first of `right`, which is taken from it.
  void Paste(std::vector<PpToken>& out, std::vector<PpToken>& right) {
    PpToken& left = out.back();
    std::string text = std::string(left.text) + std::string(right[0].text);
    if (text.size() > ExpansionState::kMaxTokenBytes) {
      return state_.Stop(name_.use, fmt::format("{} bytes in a token made by a macro",
                                                ExpansionState::kMaxTokenBytes));
    }
    const std::string_view kept = state_.spellings.emplace_back(std::move(text));
    Lexer lexer(kept, left.range.begin.file, state_.spellings, nullptr);
    const Token token = lexer.Next();
    if (token.text.size() != kept.size()) {
      state_.diags.Emit(kinds::InvalidPaste, name_.use, left.text, right[0].text, macro_.name)
          .Note(macro_.range, fmt::format("`{}` is defined here", macro_.name));
      return;
    }
    left.kind = token.kind;
    left.text = token.text;
    left.no_expand = false;
    right.erase(right.begin());
  }

  PpToken Stringify(const PpToken& hash, const std::vector<PpToken>& tokens) {
    std::string text = "\"";
    for (size_t i = 0; i < tokens.size(); ++i) {
      const PpToken& token = tokens[i];
      if (i > 0 && (token.after_space || token.starts_line)) text += ' ';
      const bool quoted = token.kind == TokenKind::String || token.kind == TokenKind::Char;
      for (const char c : token.text) {
        if (quoted && (c == '"' || c == '\\')) text += '\\';
        text += c;
      }
      if (text.size() > ExpansionState::kMaxTokenBytes) {
        state_.Stop(name_.use, fmt::format("{} bytes in a token made by a macro",
                                           ExpansionState::kMaxTokenBytes));
        break;
      }
    }
    text += '"';
    PpToken string = hash;
    string.kind = TokenKind::String;
    string.text = state_.spellings.emplace_back(std::move(text));
    string.use = name_.use;
    string.starts_line = false;
    return string;
  }

  const Macro& macro_;
  const PpToken& name_;
  std::vector<MacroArgument>& arguments_;
  ExpansionState& state_;
  const ExpandFunction& expand_;
};

}  // namespace

std::vector<PpToken> Substitute(
    const Macro& macro, const PpToken& name, std::vector<MacroArgument>& arguments,
    ExpansionState& state,
    const std::function<std::vector<PpToken>(const std::vector<PpToken>&)>& expand) {
  return Substitution(macro, name, arguments, state, expand).Run(0, macro.body.size());
}

}  // namespace choreo::lex
