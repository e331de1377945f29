// Streamed fragments of every width, element and store: what is made, converted, summed and stored
// a block at a time is what the program says, and bit for bit what whole loops give.
#include "differential.h"
#include "ir/walk.h"

namespace choreo {
namespace {

struct Case {
  int columns;
  std::string elem;   // of the fragment that is summed and stored
  std::string store;  // of it
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.columns << ' ' << c.elem << ' ' << c.store;
}

// A barrier between the loops keeps the fragments whole.
std::optional<Compiled> CompileCase(const Case& c, const std::string& between) {
  const std::string convert = c.elem == "f32" ? "" : "__to<" + c.elem + ">";
  return Compile("streamed.co",
                 fmt::format(R"(
#define N {columns}
__co__ void f(global f32 [64, N] x, global bf16 [R, N] z, global f32 [R, N] w,
              global f32 [64] y) {{
  parallel b by 1 : block {{
    shared bf16 [64, N] tile;
    shared f32 [64, N] wide;
    parallel wg by 1 : group-4, t by 128 : thread {{
      frag f32 [64, N] s, p;
      frag {elem} [64, N] c;
      frag f32 [64] sum {{0.0f}}, top {{-8.0f}};
      apply {{i, j}} in s.span s.at(i, j) = x.at(i, j);
      foreach k in 3 {{
        apply {{i, j}} in p.span p.at(i, j) = __exp2f(s.at(i, j) + __to<f32>(k + j % 3));
        apply {{i, j}} in c.span c.at(i, j) = {convert}(p.at(i, j));
        {between}
        apply {{i, j}} in c.span sum.at(i) = sum.at(i) + __to<f32>(c.at(i, j));
        reduce_max(top, p, 1);
        {store}
      }}
      all_reduce_sum(sum);
      apply {{i}} in sum.span y.at(i) = sum.at(i) + top.at(i);
    }}
  }}
}}
)",
                             fmt::arg("columns", c.columns), fmt::arg("elem", c.elem),
                             fmt::arg("convert", convert), fmt::arg("store", c.store),
                             fmt::arg("between", between)));
}

int Declarations(const Compiled& compiled, const std::string& name, int columns) {
  const ir::Kernel& kernel = compiled.lowered.kernels[0];
  int found = 0;
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    const auto* decl = std::get_if<ir::Decl>(&op.node);
    if (decl == nullptr) return;
    const ir::Storage& storage = kernel.storages[decl->storage];
    found += storage.name == name && ir::AsInt(kernel, storage.dims[1]) == columns ? 1 : 0;
  });
  return found;
}

class StreamedFragmentsTest : public testing::TestWithParam<Case> {};

TEST_P(StreamedFragmentsTest, AreWhatTheyWereAsWholes) {
  const Case& c = GetParam();
  const auto blocks = CompileCase(c, ""), wholes = CompileCase(c, "sync.shared;");
  ASSERT_TRUE(blocks && wholes);
  EXPECT_EQ(Declarations(*blocks, "c", c.columns), 0);
  EXPECT_EQ(Declarations(*wholes, "c", c.columns), 1);
  for (const int64_t rows : {64, 37}) {
    const std::vector<Argument> arguments = {
        MakeTensor(Elem::kF32, {64, c.columns}, 1), MakeTensor(Elem::kBf16, {rows, c.columns}, 2),
        MakeTensor(Elem::kF32, {rows, c.columns}, 3), MakeTensor(Elem::kF32, {64}, 4)};
    ExpectSame(*blocks, "f", arguments, 1e-5);
    std::vector<Argument> of_blocks = arguments, of_wholes = arguments;
    sim::Run(blocks->lowered, "f", Borrow(of_blocks), {});
    sim::Run(wholes->lowered, "f", Borrow(of_wholes), {});
    for (size_t i = 0; i < arguments.size(); ++i) {
      EXPECT_EQ(std::get<Tensor>(of_blocks[i]).bytes, std::get<Tensor>(of_wholes[i]).bytes) << i;
    }
  }
}

const std::string kMatrices =
    "mma.store c, tile; dma.copy.swiz<128> tile => z.subspan(64, N).at(0, 0); sync.shared;";
const std::string kShared =
    "mma.store c, wide; dma.copy wide => w.subspan(64, N).at(0, 0); sync.shared;";
const std::string kClipped = "mma.store c, w.subspan(64, N).at(0, 0);";
const std::string kHalves = "mma.store c, z.subspan(64, N).at(0, 0);";
const std::string kElements =
    "apply {i, j} in c.span if (i < R) w.at(i, j) = __to<f32>(c.at(i, j));";

INSTANTIATE_TEST_SUITE_P(Cases, StreamedFragmentsTest,
                         testing::Values(Case{128, "f32", kMatrices}, Case{128, "bf16", kMatrices},
                                         Case{128, "f16", kClipped}, Case{80, "f32", kHalves},
                                         Case{192, "bf16", kHalves}, Case{96, "f16", kElements},
                                         Case{256, "bf16", kElements}, Case{64, "f32", kShared},
                                         Case{48, "f16", kShared}, Case{16, "bf16", kClipped},
                                         Case{40, "f32", kElements}));

}  // namespace
}  // namespace choreo
