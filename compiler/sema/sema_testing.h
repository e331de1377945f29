// Helpers of the semantic analysis' unit tests: text in, typed tree and diagnostics out.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lex/preprocess.h"
#include "parse/parse.h"
#include "sema/sema.h"

namespace choreo::sema::testing {

struct Analyzed {
  SourceManager sources;
  diag::Emitter diags;
  lex::Unit unit;
  ast::File file;
  Result result;

  // "Kind@line" of each diagnostic, in the order of emission.
  std::vector<std::string> Found() const {
    std::vector<std::string> found;
    for (const diag::Diagnostic& d : diags.diagnostics()) {
      const uint32_t line = d.range.valid() ? sources.Position(d.range.begin).line : 0;
      found.push_back(fmt::format("{}@{}", diag::Info(d.kind).name, line));
    }
    return found;
  }
  std::string Report() const {
    std::string report;
    for (const diag::Diagnostic& d : diags.diagnostics()) {
      report += fmt::format("{}: {} [{}]\n", sources.Describe(d.range.begin), d.message,
                            diag::Info(d.kind).name);
    }
    return report;
  }
  // The n-th entity of a name.
  const Entity* Find(std::string_view name, size_t n = 0) const {
    for (const Entity& entity : result.entities) {
      if (entity.name == name && n-- == 0) return &entity;
    }
    return nullptr;
  }
  // How the type of the n-th entity of a name is described.
  std::string TypeOf(std::string_view name, size_t n = 0) const {
    const Entity* entity = Find(name, n);
    return entity ? Describe(entity->type) : "<none>";
  }
};

inline std::unique_ptr<Analyzed> AnalyzeText(std::string text,
                                             std::vector<std::string> include_dirs = {}) {
  auto analyzed = std::make_unique<Analyzed>();
  const FileId file = analyzed->sources.Add("test.co", std::move(text));
  lex::PreprocessOptions options;
  options.include_dirs = std::move(include_dirs);
  analyzed->unit = lex::Preprocess(analyzed->sources, file, options, analyzed->diags);
  analyzed->file = parse::Parse(analyzed->unit, analyzed->diags);
  analyzed->result = Analyze(analyzed->file, analyzed->sources, analyzed->diags);
  return analyzed;
}

// Statements of a kernel of one warpgroup; the first of them stands on line 3.
inline std::unique_ptr<Analyzed> AnalyzeStatements(std::string_view statements) {
  return AnalyzeText(
      fmt::format("__co__ void f(global bf16 [S, 128] x, global f32 [S, 128] y, int n) {{\n"
                  "parallel b by n : block, p by 1 : group-4, t by 128 : thread {{\n{}\n}}}}\n",
                  statements));
}

}  // namespace choreo::sema::testing
