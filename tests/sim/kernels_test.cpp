// Kernels that are no attention, against references written down here: what both the tile evaluator
// and the machine compute is what the mathematics says, at shapes with tails and rows with padding.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <regex>
#include <set>

#include "differential.h"
#include "ir/walk.h"

namespace choreo {
namespace {

std::optional<Compiled> CompileFile(const std::string& name,
                                    std::vector<lex::CommandLineDefine> defines = {}) {
  const std::string path = std::string(CROQTILE_SOURCE_DIR) + "/" + name;
  return Compile(path, ReadText(path), std::move(defines));
}

// [rows, columns] values in rows of `pitch` elements; NaN stands between them.
Tensor Padded(Elem elem, int64_t rows, int64_t columns, int64_t pitch, uint64_t seed) {
  Tensor t = MakeTensor(elem, {rows, pitch}, seed);
  t.extents = {rows, columns};
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = columns; c < pitch; ++c) {
      sim::DispatchElem(elem, [&]<Elem E>() {
        using Reg = typename sim::ElemTraits<E>::Reg;
        sim::ElemTraits<E>::Store(&t.bytes[static_cast<size_t>((r * pitch + c) * Bytes(E))],
                                  std::numeric_limits<Reg>::quiet_NaN());
      });
    }
  }
  return t;
}

int64_t Pitch(int64_t columns) { return (columns + 7) / 8 * 8; }

// What the machine leaves in the last argument.
Tensor Executed(const Compiled& compiled, const std::string& kernel,
                std::vector<Argument> arguments, size_t result) {
  const sim::Report report = sim::Run(compiled.lowered, kernel, Borrow(arguments));
  EXPECT_EQ(sim::RenderFindings(compiled.lowered, report.findings), "");
  return std::get<Tensor>(arguments[result]);
}

void ExpectElements(const Tensor& got, double tolerance,
                    const std::function<double(int64_t, int64_t)>& want) {
  const int64_t columns = got.extents.size() > 1 ? got.extents[1] : 1;
  int wrong = 0;
  for (int64_t r = 0; r < got.extents[0]; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const double x = At(got, static_cast<size_t>(r * got.strides[0] + c)), y = want(r, c);
      if (std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y))) continue;
      ASSERT_LT(++wrong, 5) << "[" << r << ", " << c << "]: " << x << ", not " << y;
      ADD_FAILURE() << "[" << r << ", " << c << "]: " << x << ", not " << y;
    }
  }
}

struct GemmCase {
  std::string elem, stages, tile_n, tile_k;
  friend void PrintTo(const GemmCase& c, std::ostream* out) {
    *out << c.elem << ", " << c.stages << " stages, tiles of " << c.tile_n << " by " << c.tile_k;
  }
};

class GemmWsTest : public testing::TestWithParam<GemmCase> {};
TEST_P(GemmWsTest, MultipliesAtEveryShape) {
  const GemmCase& config = GetParam();
  const auto compiled = CompileFile("kernels/gemm/gemm_ws.co", {{"ELEM", config.elem},
                                                                {"STAGES", config.stages},
                                                                {"TILE_N", config.tile_n},
                                                                {"TILE_K", config.tile_k}});
  ASSERT_TRUE(compiled);
  const Elem e = *ElemFromSpelling(config.elem);
  struct Shape {
    int64_t m, n, k, ctas;
  };
  // One tile; tails in all three; one element; a CTA with several tiles, and CTAs with none.
  for (const Shape& s : {Shape{128, 256, 64, 1}, Shape{130, 264, 72, 2}, Shape{1, 8, 8, 3},
                         Shape{256, 512, 256, 3}}) {
    const Tensor a = Padded(e, s.m, s.k, Pitch(s.k), 1), b = Padded(e, s.n, s.k, Pitch(s.k), 2);
    const Tensor c = Padded(e, s.m, s.n, Pitch(s.n), 3);
    const std::vector<Argument> arguments{a, b, c, Scalar{s.ctas, 0}};
    ExpectSame(*compiled, "gemm_ws", arguments, 0.01, 2);
    const Tensor got = Executed(*compiled, "gemm_ws", arguments, 2);
    ExpectElements(got, 0.01, [&](int64_t row, int64_t column) {
      double sum = 0;
      for (int64_t k = 0; k < s.k; ++k) {
        sum += At(a, static_cast<size_t>(row * a.strides[0] + k)) *
               At(b, static_cast<size_t>(column * b.strides[0] + k));
      }
      return sum;
    });
    for (int64_t row = 0; row < s.m; ++row) {  // what pads the rows is left alone
      for (int64_t column = s.n; column < Pitch(s.n); ++column) {
        ASSERT_TRUE(std::isnan(At(got, static_cast<size_t>(row * Pitch(s.n) + column))));
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(
    Configurations, GemmWsTest,
    testing::Values(GemmCase{"bf16", "1", "256", "64"}, GemmCase{"bf16", "2", "256", "64"},
                    GemmCase{"bf16", "3", "256", "64"}, GemmCase{"bf16", "4", "128", "64"},
                    GemmCase{"f16", "4", "192", "32"}, GemmCase{"bf16", "3", "24", "16"}));

// ---- every kernel of tests/kernels, at the shapes of its RUN lines ----

struct RunLine {
  std::string file, text;
  std::vector<lex::CommandLineDefine> defines;
  std::map<std::string, int64_t> values;  // of dimensions and scalar parameters
  friend void PrintTo(const RunLine& run, std::ostream* out) {
    *out << run.file << ": " << run.text;
  }
};

std::vector<RunLine> RunLines() {
  std::vector<RunLine> runs;
  const std::string folder = std::string(CROQTILE_SOURCE_DIR) + "/tests/kernels";
  const std::regex line("RUN: %choreo check %s(.*) --shape (\\S+)");
  const std::regex define("-D (?:\"([^=]+)=([^\"]*)\"|([^=]+)=(\\S+))"), value("([^=,]+)=([0-9]+)");
  const std::sregex_iterator end;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string text = ReadText(entry.path().string());
    for (std::sregex_iterator at(text.begin(), text.end(), line); at != end; ++at) {
      RunLine run{"tests/kernels/" + entry.path().filename().string(), at->str(), {}, {}};
      const std::string defines = (*at)[1], shape = (*at)[2];
      for (std::sregex_iterator d(defines.begin(), defines.end(), define); d != end; ++d) {
        const bool quoted = (*d)[1].matched;
        run.defines.push_back({(*d)[quoted ? 1 : 3], (*d)[quoted ? 2 : 4]});
      }
      for (std::sregex_iterator v(shape.begin(), shape.end(), value); v != end; ++v) {
        run.values[(*v)[1]] = std::stoll((*v)[2]);
      }
      runs.push_back(std::move(run));
    }
  }
  std::sort(runs.begin(), runs.end(), [](const RunLine& a, const RunLine& b) {
    return std::tie(a.file, a.text) < std::tie(b.file, b.text);
  });
  return runs;
}

std::vector<Argument> MakeArguments(const ir::Kernel& kernel, const RunLine& run) {
  std::set<ir::StorageId> counters;
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    const auto* atomic = std::get_if<ir::AtomicElem>(&op.node);
    if (atomic != nullptr) counters.insert(kernel.views[atomic->dest].storage);
  });
  std::vector<Argument> arguments;
  for (const ir::Param& param : kernel.params) {
    if (!param.shaped) {
      arguments.push_back(Scalar{run.values.at(param.name), 0});
      continue;
    }
    const ir::Storage& storage = kernel.storages[param.storage];
    std::vector<int64_t> extents;
    for (const ir::ExprId dim : storage.dims) {
      const auto* constant = std::get_if<ir::IntConst>(&kernel.exprs[dim].node);
      const auto* name = std::get_if<ir::VarRef>(&kernel.exprs[dim].node);
      extents.push_back(constant != nullptr ? constant->value
                                            : run.values.at(kernel.vars[name->var].name));
    }
    Tensor tensor = MakeTensor(storage.elem, extents, arguments.size());
    // Counters start at zero.
    if (counters.contains(param.storage)) std::fill(tensor.bytes.begin(), tensor.bytes.end(), 0);
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

class EveryKernelTest : public testing::TestWithParam<RunLine> {};
TEST_P(EveryKernelTest, LoweredAsMeant) {
  const auto compiled = CompileFile(GetParam().file, GetParam().defines);
  ASSERT_TRUE(compiled);
  const ir::Kernel& kernel = compiled->tile.kernels.front();
  ExpectSame(*compiled, kernel.name, MakeArguments(kernel, GetParam()), 0.01, 4);
}
INSTANTIATE_TEST_SUITE_P(Folder, EveryKernelTest, testing::ValuesIn(RunLines()));

TEST(KernelsTest, ThereAreKernels) { EXPECT_GE(RunLines().size(), 30u); }

TEST(KernelsTest, TransposeTurns) {
  const auto compiled = CompileFile("tests/kernels/transpose.co");
  ASSERT_TRUE(compiled);
  for (const int64_t rows : {4, 64, 68, 200}) {
    for (const int64_t columns : {8, 64, 132}) {
      const Tensor x = MakeTensor(Elem::kF32, {rows, columns}, 1);
      const Tensor y = MakeTensor(Elem::kF32, {columns, rows}, 2);
      ExpectElements(Executed(*compiled, "transpose", {x, y}, 1), 0, [&](int64_t r, int64_t c) {
        return At(x, static_cast<size_t>(c * columns + r));
      });
    }
  }
}

TEST(KernelsTest, RowSumAddsUp) {
  const auto compiled = CompileFile("tests/kernels/row_sum.co");
  ASSERT_TRUE(compiled);
  for (const int64_t rows : {1, 127, 129}) {
    for (const int64_t columns : {1, 31, 32, 100}) {
      const Tensor x = MakeTensor(Elem::kF32, {rows, columns}, 1);
      const Tensor out = MakeTensor(Elem::kF32, {rows}, 2);
      ExpectElements(Executed(*compiled, "row_sum", {x, out}, 1), 1e-5, [&](int64_t r, int64_t) {
        double sum = 0;
        for (int64_t c = 0; c < columns; ++c) sum += At(x, static_cast<size_t>(r * columns + c));
        return sum;
      });
    }
  }
}

}  // namespace
}  // namespace choreo
