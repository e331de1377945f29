// For the ir tests: modules from text, and what was reported about it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "ir/printer.h"
#include "ir/reader.h"
#include "ir/verifier.h"

namespace choreo::ir {

struct ReadResult {
  std::optional<Module> module;
  std::string text;  // "line:column: message [kind]" per diagnostic
};

inline ReadResult ReadText(std::string_view text, bool verify = true) {
  SourceManager sources;
  diag::Emitter diags;
  const FileId file = sources.Add("test.ir", std::string(text));
  ReadResult result;
  result.module = verify ? ReadModule(sources, file, diags) : ReadUnverified(sources, file, diags);
  for (const diag::Diagnostic& d : diags.diagnostics()) {
    const LineColumn at = sources.Position(d.range.begin);
    result.text +=
        fmt::format("{}:{}: {} [{}]\n", at.line, at.column, d.message, diag::Info(d.kind).name);
  }
  return result;
}

// A kernel `k` in `state` with the given tables (text of vars, storages, views) and body.
inline std::string KernelText(std::string_view state, std::string_view tables,
                              std::string_view body, std::string_view rest = "") {
  return fmt::format(
      "module state={} source=\"k.co\"\nkernel \"k\" {{\n{}\n{}\nbody {{\n{}\n}}\n}}\n", state,
      tables, rest, body);
}

}  // namespace choreo::ir
