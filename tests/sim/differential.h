// For differential tests: compiles a .co text, runs the tile evaluator on tile state and the
// machine on lowered state, and compares what they wrote. In: tensors and scalars in the order of
// the parameters. A finding of either, and any difference beyond the tolerance, fails the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "diag/render.h"
#include "driver/compilation.h"
#include "sim/numeric.h"
#include "sim/sim.h"

namespace choreo {

struct Tensor {
  Elem elem;
  std::vector<uint8_t> bytes;
  std::vector<int64_t> extents, strides;
};
struct Scalar {
  int64_t integer;
  double real;
};
using Argument = std::variant<Tensor, Scalar>;

// Values from -2 to 2 in steps of 1/32 that narrow floats hold exactly; integers from -64 to 64.
inline Tensor MakeTensor(Elem elem, std::vector<int64_t> extents, uint64_t seed) {
  Tensor t{elem, {}, std::move(extents), {}};
  int64_t count = 1;
  t.strides.resize(t.extents.size());
  for (size_t axis = t.extents.size(); axis-- > 0;) {
    t.strides[axis] = count;
    count *= t.extents[axis];
  }
  const auto size = static_cast<size_t>(Bytes(elem));
  t.bytes.resize(static_cast<size_t>(count) * size);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull + seed * 0xd1342543de82ef95ull;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ull;
    const auto step = static_cast<double>(static_cast<int64_t>(x >> 57) - 64);
    sim::DispatchElem(elem, [&]<Elem E>() {
      using Reg = typename sim::ElemTraits<E>::Reg;
      const double value = std::is_floating_point_v<Reg> ? step / 32 : step;
      sim::ElemTraits<E>::Store(&t.bytes[i * size], static_cast<Reg>(value));
    });
  }
  return t;
}

inline double At(const Tensor& t, size_t i) {
  return sim::DispatchElem(t.elem, [&]<Elem E>() {
    return static_cast<double>(
        sim::ElemTraits<E>::Load(&t.bytes[i * static_cast<size_t>(Bytes(E))]));
  });
}

inline std::vector<sim::Argument> Borrow(std::vector<Argument>& arguments) {
  std::vector<sim::Argument> list;
  for (Argument& argument : arguments) {
    sim::Argument a;
    if (auto* t = std::get_if<Tensor>(&argument)) {
      a.rank = static_cast<int>(t->extents.size());
      a.data = t->bytes.data();
      a.element_bytes = Bytes(t->elem);
      a.extent = t->extents.data();
      a.stride = t->strides.data();
    } else {
      a.integer = std::get<Scalar>(argument).integer;
      a.real = std::get<Scalar>(argument).real;
    }
    list.push_back(a);
  }
  return list;
}

struct Compiled {
  ir::Module tile, lowered;
};

inline std::optional<Compiled> Compile(const std::string& name, const std::string& text,
                                       std::vector<lex::CommandLineDefine> defines = {}) {
  Compiled compiled;
  driver::CompileOptions options;
  options.emit = driver::Emit::Lowered;
  options.defines = std::move(defines);
  options.after_pass = [&](std::string_view phase, const ir::Module& module) {
    if (phase == "lower") compiled.tile = module;
  };
  driver::Compilation result = driver::Compile(name, text, options);
  for (const diag::Diagnostic& d : result.diags.diagnostics()) {
    if (d.severity == diag::Severity::Error) {
      ADD_FAILURE() << result.sources.Describe(d.range.begin) << ": " << d.message;
    }
  }
  if (!result.lowered) return std::nullopt;
  compiled.lowered = std::move(*result.lowered);
  return compiled;
}

// `tolerance`: relative to the larger of 1 and the value.
inline void ExpectSame(const Compiled& compiled, const std::string& kernel,
                       const std::vector<Argument>& arguments, double tolerance = 0,
                       int schedules = 3) {
  std::vector<Argument> expected = arguments;
  const sim::Report oracle = sim::RunTile(compiled.tile, kernel, Borrow(expected));
  EXPECT_EQ(sim::RenderFindings(compiled.tile, oracle.findings), "");
  EXPECT_EQ(oracle.failed_assert, "");
  for (int schedule = 0; schedule < schedules; ++schedule) {
    std::vector<Argument> got = arguments;
    sim::RunOptions options;
    options.schedule_seed = static_cast<uint64_t>(schedule);
    const sim::Report report = sim::Run(compiled.lowered, kernel, Borrow(got), options);
    EXPECT_EQ(sim::RenderFindings(compiled.lowered, report.findings), "") << kernel;
    EXPECT_EQ(report.failed_assert, "");
    for (size_t a = 0; a < got.size(); ++a) {
      const auto* t = std::get_if<Tensor>(&got[a]);
      if (t == nullptr) continue;
      const Tensor& want = std::get<Tensor>(expected[a]);
      int shown = 0;
      for (size_t i = 0; i < t->bytes.size() / static_cast<size_t>(Bytes(t->elem)); ++i) {
        const double x = At(*t, i), y = At(want, i);
        if (std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y))) continue;
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        if (++shown > 5) break;
        ADD_FAILURE() << kernel << ", argument " << a << ", element " << i << ": " << x << ", not "
                      << y << " (schedule " << schedule << ")";
      }
    }
  }
}

inline std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace choreo
