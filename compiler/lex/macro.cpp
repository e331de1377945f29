#include "lex/macro.h"

#include <algorithm>
#include <unordered_set>

namespace choreo::lex {
namespace {

namespace kinds = diag::kinds;

constexpr std::string_view kVaArgs = "__VA_ARGS__";
constexpr std::string_view kVaOpt = "__VA_OPT__";

class DefinitionParser {
 public:
  DefinitionParser(const std::vector<PpToken>& tokens, SourceRange line, diag::Emitter& diags)
      : tokens_(tokens), line_(line), diags_(diags) {}

  std::optional<Macro> Run() {
    if (tokens_.empty() || tokens_[0].kind != TokenKind::Identifier) {
      return Fail("a macro's name is an identifier");
    }
    macro_.name = tokens_[0].text;
    macro_.range = tokens_[0].range;
    if (macro_.name == "defined" || macro_.name == kVaArgs || macro_.name == kVaOpt) {
      return Fail("this name may not be defined");
    }
    at_ = 1;
    const bool has_parameters =
        at_ < tokens_.size() && tokens_[at_].kind == TokenKind::LParen && !tokens_[at_].after_space;
    if (has_parameters && !Parameters()) return std::nullopt;
    macro_.body.assign(tokens_.begin() + static_cast<std::ptrdiff_t>(at_), tokens_.end());
    if (!CheckBody()) return std::nullopt;
    return std::move(macro_);
  }

 private:
  std::nullopt_t Fail(std::string_view why) {
    const SourceRange range = at_ < tokens_.size() ? tokens_[at_].range : line_;
    diags_.Emit(kinds::InvalidMacroDefinition, range, why);
    return std::nullopt;
  }

  TokenKind Kind() const { return at_ < tokens_.size() ? tokens_[at_].kind : TokenKind::EndOfFile; }

  bool Parameters() {
    macro_.is_function = true;
    ++at_;
    if (Kind() == TokenKind::RParen) return ++at_, true;
    while (true) {
      if (Kind() == TokenKind::Ellipsis) {
        macro_.parameters.push_back(kVaArgs);
        macro_.is_variadic = true;
        ++at_;
      } else if (Kind() == TokenKind::Identifier) {
        const std::string_view name = tokens_[at_].text;
        if (macro_.Parameter(name) >= 0) return Fail("this parameter stands twice"), false;
        if (name == kVaArgs) return Fail("the rest of the arguments is written `...`"), false;
        macro_.parameters.push_back(name);
        ++at_;
        if (Kind() == TokenKind::Ellipsis) macro_.is_variadic = true, ++at_;
      } else {
        return Fail("a parameter is an identifier or `...`"), false;
      }
      if (Kind() == TokenKind::RParen) return ++at_, true;
      if (macro_.is_variadic) return Fail("`...` is the last parameter; expected `)`"), false;
      if (Kind() != TokenKind::Comma) return Fail("expected `,` or `)` after a parameter"), false;
      ++at_;
    }
  }

  bool CheckBody() {
    const std::vector<PpToken>& body = macro_.body;
    const size_t first = at_;
    for (size_t i = 0; i < body.size(); ++i) {
      at_ = first + i;
      if (macro_.is_variadic && body[i].text == kVaOpt && !CheckOptional(i)) return false;
      const bool at_end = i == 0 || i + 1 == body.size();
      if (body[i].kind == TokenKind::HashHash && at_end) {
        return Fail("`##` stands between two tokens, not at an end of the body"), false;
      }
      if (body[i].kind != TokenKind::Hash || !macro_.is_function) continue;
      const bool of_parameter = i + 1 < body.size() && (macro_.Parameter(body[i + 1].text) >= 0 ||
                                                        body[i + 1].text == kVaOpt);
      if (!of_parameter) {
        return Fail("in a macro with parameters `#` makes a string of the parameter after it"),
               false;
      }
    }
    return true;
  }

  // `__VA_OPT__` at `i` of the body: its parentheses are there, and no other one in them.
  bool CheckOptional(size_t i) {
    const std::vector<PpToken>& body = macro_.body;
    size_t depth = 0;
    for (size_t k = i + 1; k < body.size(); ++k) {
      if (body[k].text == kVaOpt) break;
      if (body[k].kind == TokenKind::LParen) ++depth;
      if (depth == 0) break;
      if (body[k].kind == TokenKind::RParen && --depth == 0) return true;
    }
    Fail("`__VA_OPT__` is followed by tokens in parentheses, without another `__VA_OPT__`");
    return false;
  }

  const std::vector<PpToken>& tokens_;
  SourceRange line_;
  diag::Emitter& diags_;
  size_t at_ = 0;
  Macro macro_;
};

}  // namespace

int Macro::Parameter(std::string_view parameter) const {
  const auto it = std::find(parameters.begin(), parameters.end(), parameter);
  return it == parameters.end() ? -1 : static_cast<int>(it - parameters.begin());
}

MacroTable::MacroTable() {
  Macro macro;
  macro.name = "__LINE__";
  macro.dynamic = DynamicMacro::Line;
  Define(macro);
  macro.name = "__FILE__";
  macro.dynamic = DynamicMacro::File;
  Define(macro);
}

void MacroTable::Define(Macro macro) {
  makes_tile_function_.clear();
  any_tile_macro_ |= std::any_of(macro.body.begin(), macro.body.end(),
                                 [](const PpToken& token) { return token.text == "__co__"; });
  const std::string_view name = macro.name;
  macros_.erase(name);  // the key is a view into the old definition's text
  macros_.emplace(name, std::make_shared<const Macro>(std::move(macro)));
}

void MacroTable::Undefine(std::string_view name) {
  makes_tile_function_.clear();
  macros_.erase(name);
}

MacroPtr MacroTable::Find(std::string_view name) const {
  const auto it = macros_.find(name);
  return it == macros_.end() ? nullptr : it->second;
}

bool MacroTable::MayMakeTileFunction(std::string_view name) const {
  if (!any_tile_macro_) return false;
  if (const auto it = makes_tile_function_.find(name); it != makes_tile_function_.end()) {
    return it->second;
  }
  // Every macro that can be reached from `name`, each looked at once.
  std::vector<MacroPtr> pending;
  std::unordered_set<const Macro*> seen;
  const auto visit = [&](std::string_view next) {
    MacroPtr macro = Find(next);
    if (macro != nullptr && seen.insert(macro.get()).second) pending.push_back(std::move(macro));
  };
  bool found = false;
  visit(name);
  while (!pending.empty() && !found) {
    const MacroPtr macro = std::move(pending.back());
    pending.pop_back();
    for (const PpToken& token : macro->body) {
      if (token.kind != TokenKind::Identifier) continue;
      found |= token.text == "__co__";
      visit(token.text);
    }
  }
  makes_tile_function_.emplace(Find(name) ? Find(name)->name : name, found);
  return found;
}

std::optional<Macro> ParseDefinition(const std::vector<PpToken>& tokens, SourceRange line,
                                     diag::Emitter& diags) {
  return DefinitionParser(tokens, line, diags).Run();
}

}  // namespace choreo::lex
