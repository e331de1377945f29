// For the simulator's tests: kernels from IR text, arguments, findings as one line each.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "choreo/host/half.h"
#include "choreo/host/view.h"
#include "ir/reader.h"
#include "sim/sim.h"

namespace choreo::sim {

inline ir::Module ReadKernel(const std::string& text) {
  SourceManager sources;
  diag::Emitter diags;
  const FileId file = sources.Add("k.ir", text);
  std::optional<ir::Module> module = ir::ReadModule(sources, file, diags);
  for (const diag::Diagnostic& d : diags.diagnostics()) {
    ADD_FAILURE() << sources.Describe(d.range.begin) << ": " << d.message;
  }
  return module ? std::move(*module) : ir::Module{};
}

// A lowered kernel `k` of k.co.
inline std::string LoweredText(const std::string& tables, const std::string& host,
                               const std::string& body) {
  return "module state=lowered source=\"k.co\"\nkernel \"k\" {\n" + tables + "\nhost { " + host +
         " }\nerrors { text=\"failed\" loc(9:9); }\nbody {\n" + body + "\n}\n}\n";
}

// The text with one part replaced, which must be there.
inline std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// "SimRace 7:1 5:2" for each finding: kind, place, other place.
inline std::vector<std::string> Kinds(const Report& report) {
  std::vector<std::string> kinds;
  for (const Finding& f : report.findings) {
    kinds.push_back(fmt::format("{} {}:{} {}:{}", diag::Info(f.kind).name, f.loc.line, f.loc.column,
                                f.loc2.line, f.loc2.column));
  }
  return kinds;
}

template <class... A>
Report RunKernel(const ir::Module& module, const RunOptions& options, const A&... arguments) {
  if (module.kernels.empty()) return {};
  const std::vector<Argument> list{MakeArgument(arguments)...};
  return Run(module, "k", list, options);
}
template <class... A>
Report RunKernel(const std::string& text, const A&... arguments) {
  return RunKernel(ReadKernel(text), RunOptions{}, arguments...);
}

inline std::vector<bf16> RandomBf16(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<bf16> values;
  for (size_t i = 0; i < n; ++i) {
    values.emplace_back(static_cast<float>(static_cast<int>(random() % 65) - 32) / 16.0f);
  }
  return values;
}

// Memory aligned as device memory is.
template <class T>
struct Aligned {
  explicit Aligned(const std::vector<T>& from) : Aligned(from.size()) {
    std::copy(from.begin(), from.end(), data);
  }
  explicit Aligned(size_t n, T value = T{}) : storage(n + 256 / sizeof(T)), size(n) {
    const auto address = reinterpret_cast<uintptr_t>(storage.data());
    data = storage.data() + ((256 - address % 256) % 256) / sizeof(T);
    std::fill_n(data, n, value);
  }
  T& operator[](size_t i) { return data[i]; }
  std::vector<T> storage;
  T* data;
  size_t size;
};

}  // namespace choreo::sim
