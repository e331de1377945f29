// Helpers of the parser's unit tests: text in, tree and diagnostics out.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ast/dump.h"
#include "diag/diag.h"
#include "lex/preprocess.h"
#include "parse/parse.h"

namespace choreo::parse::testing {

struct Parsed {
  SourceManager sources;
  diag::Emitter diags;
  lex::Unit unit;
  ast::File file;

  std::string Dump() const { return ast::Dump(file, sources); }
  // "Kind@line" of each diagnostic, in the order of emission.
  std::vector<std::string> Found() const {
    std::vector<std::string> found;
    for (const diag::Diagnostic& d : diags.diagnostics()) {
      const uint32_t line = d.range.valid() ? sources.Position(d.range.begin).line : 0;
      found.push_back(fmt::format("{}@{}", diag::Info(d.kind).name, line));
    }
    return found;
  }
  // The diagnostics as text, for messages of failed tests.
  std::string Report() const {
    std::string report;
    for (const diag::Diagnostic& d : diags.diagnostics()) {
      report += fmt::format("{}: {} [{}]\n", sources.Describe(d.range.begin), d.message,
                            diag::Info(d.kind).name);
    }
    return report;
  }
};

inline std::unique_ptr<Parsed> ParseText(std::string text, std::string name = "test.co") {
  auto parsed = std::make_unique<Parsed>();
  const FileId file = parsed->sources.Add(std::move(name), std::move(text));
  parsed->unit = lex::Preprocess(parsed->sources, file, {}, parsed->diags);
  parsed->file = Parse(parsed->unit, parsed->diags);
  return parsed;
}

// Statements of a tile function; the first of them stands on line 2.
inline std::unique_ptr<Parsed> ParseStatements(std::string_view statements) {
  return ParseText(
      fmt::format("__co__ void f(global bf16 [N, N] x, int n) {{\n{}\n}}\n", statements));
}

// The dump of the statements without the places and the lines around them.
inline std::string DumpStatements(std::string_view statements) {
  const auto parsed = ParseStatements(statements);
  if (!parsed->diags.diagnostics().empty()) return parsed->Report();
  std::string text;
  size_t line = 0, begin = 0;
  const std::string dump = parsed->Dump();
  while (begin < dump.size()) {
    const size_t end = dump.find('\n', begin);
    const std::string_view whole = std::string_view(dump).substr(begin, end - begin);
    constexpr size_t kIndent = 4, kHead = 4;  // function, its parameters and its block
    if (line++ >= kHead)
      text += fmt::format("{}\n", whole.substr(kIndent, whole.rfind(" @") - kIndent));
    begin = end + 1;
  }
  return text;
}

// The dump of one expression.
inline std::string DumpExpression(std::string_view expression) {
  const auto parsed = ParseStatements(fmt::format("v = {};", expression));
  if (!parsed->diags.diagnostics().empty()) return parsed->Report();
  for (const ast::Stmt& stmt : parsed->file.stmts) {
    if (const auto* assign = std::get_if<ast::Assign>(&stmt.node)) {
      return ast::DumpExpr(parsed->file, assign->value);
    }
  }
  return "<no assignment>";
}

}  // namespace choreo::parse::testing
