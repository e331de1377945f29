#include "parse/parse.h"

#include "parse/balance.h"
#include "parse/parser.h"

namespace choreo::parse {

ast::File Parse(const lex::Unit& unit, diag::Emitter& diags) {
  ast::File file;
  UnknownTypes unknown_types;
  for (uint32_t i = 0; i < unit.functions.size(); ++i) {
    Parser(file, diags, unknown_types, Balance(unit.functions[i].tokens, diags)).ParseFunction(i);
  }
  return file;
}

}  // namespace choreo::parse
