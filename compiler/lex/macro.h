// Macro definitions and the table of those that are defined at a place.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diag/diag.h"
#include "lex/token.h"

namespace choreo::lex {

// A token on its way through the preprocessor.
struct PpToken : Token {
  bool no_expand = false;  // it named a macro inside that macro's own expansion: never expand it

  PpToken() = default;
  explicit PpToken(const Token& token) : Token(token) {}
};

enum class DynamicMacro : uint8_t { None, Line, File };

struct Macro {
  std::string_view name;
  SourceRange range;  // of the name in its definition
  bool is_function = false;
  bool is_variadic = false;                  // the last parameter takes the rest of the arguments
  std::vector<std::string_view> parameters;  // `...` is called __VA_ARGS__
  std::vector<PpToken> body;
  DynamicMacro dynamic = DynamicMacro::None;

  // The index of the parameter `name`, or -1.
  int Parameter(std::string_view name) const;
};
using MacroPtr = std::shared_ptr<const Macro>;  // an expansion may outlive the definition

class MacroTable {
 public:
  MacroTable();
  void Define(Macro macro);
  void Undefine(std::string_view name);
  MacroPtr Find(std::string_view name) const;
  // Whether expanding `name` may give the keyword `__co__`: its body has it, or a name in it does.
  bool MayMakeTileFunction(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, MacroPtr> macros_;
  // Whether any macro ever had `__co__` in its body: most files have none, and ask often.
  bool any_tile_macro_ = false;
  mutable std::unordered_map<std::string_view, bool> makes_tile_function_;  // a cache
};

// The macro that the tokens of a `#define` line after the word `define` say. `line` is where the
// directive stands, for a line that ends too early. Mistakes are diagnosed.
std::optional<Macro> ParseDefinition(const std::vector<PpToken>& tokens, SourceRange line,
                                     diag::Emitter& diags);

}  // namespace choreo::lex
