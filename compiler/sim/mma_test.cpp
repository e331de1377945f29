// Copies, fences, MMAs and fragments on one warpgroup, each hazard with and without the bug.
#include <cmath>

#include "sim/sim_test_util.h"

namespace choreo::sim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// C = A·Bᵀ (row.row) or A·B (row.col) of one 64x64 tile: cp.async into swizzled tiles, four K
// slices.
const char* const kTables = R"(
vars { %i type=s32 kind=loop; %row type=s32 kind=let; %col type=s32 kind=let; %sum type=f32 kind=let; }
storages {
  $A kind=param elem=bf16 dims=[64, 64] param_index=0 strides=[64:s64, 1:s64];
  $B kind=param elem=bf16 dims=[64, 64] param_index=1 strides=[64:s64, 1:s64];
  $C kind=param elem=f32 dims=[64, 64] param_index=2 strides=[64:s64, 1:s64];
  $a_s kind=shared elem=bf16 dims=[64, 64] swizzle=128 byte_offset=0 tile_bytes=8192;
  $b_s kind=shared elem=bf16 dims=[64, 64] swizzle=128 byte_offset=8192 tile_bytes=8192;
  $acc kind=frag elem=f32 dims=[64, 64] layout=accumulator;
  $p kind=frag elem=bf16 dims=[64, 64] layout=accumulator;
}
params {
  name="A" elem=bf16 shaped=true storage=$A; name="B" elem=bf16 shaped=true storage=$B;
  name="C" elem=f32 shaped=true written=true storage=$C;
})";
const char* const kHost = "threads=128 shared_bytes=16384";

const char* const kLoad = R"(
decl storage=$acc
decl storage=$p
for var=%i low=0 high=4 step=1 unroll=-1 loc(3:1) body {
  cp.async dst=$a_s dst_index=(swizzle128((((%i * 128) + tid()) * 16)) / 2) src=$A src_index=s64((((%i * 128) + tid()) * 8)) bytes=16 valid_bytes=none loc(3:5)
  cp.async dst=$b_s dst_index=(swizzle128((((%i * 128) + tid()) * 16)) / 2) src=$B src_index=s64((((%i * 128) + tid()) * 8)) bytes=16 valid_bytes=none loc(4:5)
}
cp.async.commit loc(5:1)
cp.async.wait pending=0 loc(5:2)
fence.proxy.async loc(6:1)
barrier.cta loc(7:1)
)";
const char* const kStore = R"(
let var=%row value=((warp() * 16) + (lane() / 4))
let var=%col value=((lane() % 4) * 2)
for var=%i low=0 high=32 step=1 unroll=-1 loc(12:1) body {
  st storage=$C index=s64((((%row + (((%i / 2) % 2) * 8)) * 64) + ((%col + ((%i / 4) * 8)) + (%i % 2)))) value=$acc[%i] loc(12:5)
})";

std::string RowRow() {
  std::string text = std::string(kLoad) + "wgmma.fence loc(8:1)\n";
  for (int k = 0; k < 4; ++k) {
    text += fmt::format(
        "wgmma.mma acc=$acc a_desc=desc($a_s, {0}, 0, 1024, 128) a_frag=none a_word=0 "
        "b_desc=desc($b_s, {0}, 0, 1024, 128) n=64 elem=bf16 trans_b=false scale_d={1} "
        "loc(9:{2})\n",
        32 * k, k == 0 ? 0 : 1, k + 1);
  }
  return text + "wgmma.commit loc(10:1)\nwgmma.wait pending=0 loc(11:1)" + kStore;
}

// A from registers, packed from the accumulator layout: P[i, j] = A[i, j] read by its owner.
std::string RowCol() {
  std::string text = std::string(kLoad) + R"(
let var=%row value=((warp() * 16) + (lane() / 4))
let var=%col value=((lane() % 4) * 2)
for var=%i low=0 high=16 step=1 unroll=-1 loc(8:1) body {
  frag.pack frag=$p word=%i low=f32($A[s64((((%row + ((%i % 2) * 8)) * 64) + (%col + ((%i / 2) * 8))))]) high=f32($A[s64((((%row + ((%i % 2) * 8)) * 64) + ((%col + ((%i / 2) * 8)) + 1)))]) loc(8:2)
}
wgmma.fence loc(8:3)
)";
  for (int k = 0; k < 4; ++k) {
    text += fmt::format(
        "wgmma.mma acc=$acc a_desc=none a_frag=$p a_word={0} b_desc=desc($b_s, {1}, 8192, 1024, "
        "128) "
        "n=64 elem=bf16 trans_b=true scale_d={2} loc(9:{3})\n",
        4 * k, 2048 * k, k == 0 ? 0 : 1, k + 1);
  }
  text += "wgmma.commit loc(10:1)\nwgmma.wait pending=0 loc(11:1)";
  std::string store = kStore;
  // The variables are defined already.
  store = store.substr(store.find("for "));
  return text + "\n" + store;
}

struct Outcome {
  std::vector<std::string> kinds;
  bool right = false;
};

Outcome Multiply(const std::string& body, bool row_row, const std::string& tables = kTables,
                 uint64_t seed = 0) {
  const Aligned<bf16> a(RandomBf16(64 * 64, 1)), b(RandomBf16(64 * 64, 2));
  Aligned<float> c(64 * 64, NAN);
  RunOptions options;
  options.schedule_seed = seed;
  const Report report =
      RunKernel(ReadKernel(LoweredText(tables, kHost, body)), options, row_major(a.data, 64, 64),
                row_major(b.data, 64, 64), row_major(c.data, 64, 64));
  Outcome outcome{Kinds(report), true};
  for (size_t i = 0; i < 64; ++i) {
    for (size_t j = 0; j < 64; ++j) {
      double want = 0;
      for (size_t k = 0; k < 64; ++k) {
        want += static_cast<double>(static_cast<float>(a.data[i * 64 + k])) *
                static_cast<float>(b.data[row_row ? j * 64 + k : k * 64 + j]);
      }
      outcome.right = outcome.right && std::fabs(c[i * 64 + j] - want) < 1e-4;
    }
  }
  return outcome;
}

void ExpectRight(const std::string& body, bool row_row, const std::string& tables = kTables) {
  for (const uint64_t seed : {0, 1, 2}) {
    const Outcome outcome = Multiply(body, row_row, tables, seed);
    EXPECT_THAT(outcome.kinds, IsEmpty());
    EXPECT_TRUE(outcome.right);
  }
}

TEST(MmaTest, RowRow) { ExpectRight(RowRow(), true); }
TEST(MmaTest, RowColWithRegisterOperand) { ExpectRight(RowCol(), false); }

TEST(MmaTest, DroppedFence) {
  const Outcome outcome = Multiply(Replaced(RowRow(), "fence.proxy.async loc(6:1)", ""), true);
  EXPECT_THAT(outcome.kinds, Contains("SimMissingProxyFence 9:1 3:5"));
  EXPECT_THAT(outcome.kinds, Contains("SimMissingProxyFence 9:1 4:5"));
}

TEST(MmaTest, FenceAfterTheBarrier) {
  std::string body = Replaced(RowRow(), "fence.proxy.async loc(6:1)", "");
  body = Replaced(body, "barrier.cta loc(7:1)", "barrier.cta loc(7:1)\nfence.proxy.async loc(7:2)");
  EXPECT_THAT(Multiply(body, true).kinds, Contains("SimMissingProxyFence 9:1 3:5"));
}

TEST(MmaTest, MissingBarrier) {
  const Outcome outcome = Multiply(Replaced(RowRow(), "barrier.cta loc(7:1)", ""), true);
  EXPECT_THAT(outcome.kinds, Contains("SimRace 9:1 4:5"));
}

TEST(MmaTest, MissingCopyWait) {
  const Outcome outcome =
      Multiply(Replaced(RowRow(), "cp.async.wait pending=0 loc(5:2)", ""), true);
  EXPECT_THAT(outcome.kinds, Contains("SimCopyInFlight 9:1 3:5"));
  EXPECT_FALSE(outcome.right);
  // A wait for too few groups is none.
  EXPECT_THAT(
      Multiply(Replaced(RowRow(), "cp.async.wait pending=0", "cp.async.wait pending=1"), true)
          .kinds,
      Contains("SimCopyInFlight 9:1 3:5"));
}

TEST(MmaTest, WrongDescriptors) {
  // A stride of half an atom, the other swizzle, a step of one chunk: wrong numbers, no crash.
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"desc($b_s, 0, 0, 1024, 128)", "desc($b_s, 0, 0, 512, 128)"},
           {"desc($b_s, 0, 0, 1024, 128)", "desc($b_s, 0, 0, 1024, 64)"},
           {"desc($a_s, 32, 0, 1024, 128)", "desc($a_s, 48, 0, 1024, 128)"}}) {
    EXPECT_FALSE(Multiply(Replaced(RowRow(), from, to), true).right) << to;
  }
  const Outcome outside = Multiply(
      Replaced(RowRow(), "desc($b_s, 0, 0, 1024, 128)", "desc($b_s, 0, 0, 4096, 128)"), true);
  EXPECT_THAT(outside.kinds, Contains("SimBadDescriptor 9:1 0:0"));
}

TEST(MmaTest, WrongSwizzleOfTheCopy) {
  EXPECT_FALSE(Multiply(Replaced(RowRow(), "dst=$b_s dst_index=(swizzle128",
                                 "dst=$b_s dst_index=(swizzle64"),
                        true)
                   .right);
}

TEST(MmaTest, WrongLaneOwnership) {
  EXPECT_FALSE(Multiply(Replaced(RowRow(), "(lane() / 4)", "(lane() / 8)"), true).right);
}

TEST(MmaTest, AccumulatorReadBeforeTheWait) {
  const Outcome outcome = Multiply(Replaced(RowRow(), "wgmma.wait pending=0 loc(11:1)", ""), true);
  EXPECT_THAT(outcome.kinds, ElementsAre("SimWgmmaInFlight 12:5 9:4"));
  EXPECT_THAT(
      Multiply(Replaced(RowRow(), "wgmma.wait pending=0", "wgmma.wait pending=1"), true).kinds,
      ElementsAre("SimWgmmaInFlight 12:5 9:4"));
}

TEST(MmaTest, OperandWrittenInFlight) {
  const std::string late =
      "frag.pack frag=$p word=0 low=0.0 high=0.0 loc(10:5)\nwgmma.wait pending=0";
  EXPECT_THAT(Multiply(Replaced(RowCol(), "wgmma.wait pending=0", late), false).kinds,
              ElementsAre("SimWgmmaInFlight 10:5 9:4"));
}

TEST(MmaTest, MissingWgmmaFence) {
  EXPECT_THAT(Multiply(Replaced(RowCol(), "wgmma.fence loc(8:3)", ""), false).kinds,
              Contains("SimMissingWgmmaFence 9:1 8:2"));
  EXPECT_THAT(Multiply(Replaced(RowRow(), "wgmma.fence loc(8:1)", ""), true).kinds,
              Contains("SimMissingWgmmaFence 9:1 0:0"));
}

TEST(MmaTest, AccumulatorThatWasNeverFilled) {
  EXPECT_THAT(Multiply(Replaced(RowRow(), "scale_d=0", "scale_d=1"), true).kinds,
              Contains("SimUninitialisedRead 9:1 0:0"));
}

TEST(MmaTest, SharedOperandOverwrittenInFlight) {
  const std::string write = "st storage=$b_s index=tid() value=bf16(0.0) loc(10:5)\n";
  EXPECT_THAT(
      Multiply(Replaced(RowRow(), "wgmma.wait pending=0", write + "wgmma.wait pending=0"), true)
          .kinds,
      Contains("SimRace 10:5 9:1"));
  // A warp's own wait is enough: the MMA is one operation of the whole warpgroup.
  ExpectRight(Replaced(RowRow(), "wgmma.wait pending=0 loc(11:1)",
                       "wgmma.wait pending=0 loc(11:1)\n" + write),
              true);
}

TEST(MmaTest, DivergentMma) {
  const std::string body = Replaced(
      RowRow(), "wgmma.commit loc(10:1)",
      "if condition=(warp() < 3) then_body { wgmma.mma acc=$acc a_desc=desc($a_s, 0, 0, 1024, 128) "
      "a_frag=none a_word=0 b_desc=desc($b_s, 0, 0, 1024, 128) n=64 elem=bf16 trans_b=false "
      "scale_d=1 loc(9:9) }\nwgmma.commit loc(10:1)");
  EXPECT_THAT(Multiply(body, true).kinds, Contains("SimDeadlock 9:9 0:0"));
}

// Every canonical layout: tiles stored as panels of the swizzle width, and their descriptors.
TEST(MmaTest, EverySwizzleWidth) {
  for (const int width : {128, 64, 32, 16}) {
    const int panel = 64 * width;
    const std::string tables =
        Replaced(Replaced(kTables, "swizzle=128", fmt::format("swizzle={}", width)), "swizzle=128",
                 fmt::format("swizzle={}", width));
    // Chunk c of row r: panel (16c / width), in it row r, byte 16c % width.
    const std::string row = "((((%i * 128) + tid()) / 8) * {})";
    const std::string chunk = "((((%i * 128) + tid()) % 8) * 16)";
    std::string linear = fmt::format("((({0} / {1}) * {2}) + ({3} + ({0} % {1})))", chunk, width,
                                     panel, fmt::format(fmt::runtime(row), width));
    if (width != 16) linear = fmt::format("swizzle{}({})", width, linear);
    const auto retarget = [&](std::string text) {
      for (int i = 0; i < 2; ++i) {
        text = Replaced(text, "(swizzle128((((%i * 128) + tid()) * 16)) / 2)",
                        fmt::format("({} / 2)", linear));
      }
      return text;
    };
    std::string row_row = retarget(RowRow());
    std::string row_col = retarget(RowCol());
    const int stride = 8 * width;
    const int swizzle = width == 16 ? 0 : width;
    for (int k = 0; k < 4; ++k) {
      const int steps = width / 32;  // K slices of a panel
      const int offset = width == 16 ? 2 * k * panel : k / steps * panel + k % steps * 32;
      const int leading = width == 16 ? panel : 0;
      for (const char* tile : {"a_s", "b_s"}) {
        row_row = Replaced(
            row_row, fmt::format("desc(${}, {}, 0, 1024, 128)", tile, 32 * k),
            fmt::format("desc(${}, {}, {}, {}, {}  )", tile, offset, leading, stride, swizzle));
      }
      // MN-major without swizzle exchanges the two offsets.
      row_col =
          Replaced(row_col, fmt::format("desc($b_s, {}, 8192, 1024, 128)", 2048 * k),
                   fmt::format("desc($b_s, {}, {}, {}, {}  )", 16 * width * k,
                               width == 16 ? 128 : panel, width == 16 ? panel : stride, swizzle));
    }
    EXPECT_TRUE(Multiply(row_row, true, tables).right) << width;
    EXPECT_THAT(Multiply(row_row, true, tables).kinds, IsEmpty()) << width;
    EXPECT_TRUE(Multiply(row_col, false, tables).right) << width;
  }
}

// stmatrix writes what ldmatrix reads; both as their owners expect.
TEST(MmaTest, MatrixStoresAndLoads) {
  std::string body = RowCol();
  const std::string through = R"(
barrier.cta
for var=%i low=0 high=4 step=1 unroll=-1 body {
  stmatrix dst=$a_s index=(((((warp() * 16) + (lane() % 8)) + (((lane() / 8) % 2) * 8)) * 64) + ((%i * 16) + ((lane() / 16) * 8))) frag=$p word=(%i * 4) count=4 loc(8:5)
}
syncwarp loc(8:6)
for var=%i low=0 high=16 step=1 unroll=-1 body { frag.pack frag=$p word=%i low=0.0 high=0.0 }
for var=%i low=0 high=4 step=1 unroll=-1 body {
  ldmatrix frag=$p word=(%i * 4) src=$a_s index=(((((warp() * 16) + (lane() % 8)) + (((lane() / 8) % 2) * 8)) * 64) + ((%i * 16) + ((lane() / 16) * 8))) count=4 loc(8:7)
}
wgmma.fence)";
  body = Replaced(body, "wgmma.fence", through);
  ExpectRight(body, false);
  EXPECT_THAT(Multiply(Replaced(body, "syncwarp loc(8:6)", ""), false).kinds, IsEmpty())
      << "each lane reads back what it stored";
}

TEST(MmaTest, SumsOfOneLaneArePartial) {
  // The row sums of A·Bᵀ over the four lanes that own a row; without the shuffles they differ.
  const std::string sum = R"(
let var=%sum value=($acc[0] + $acc[1])
let var=%row value=((warp() * 16) + (lane() / 4))
st storage=$C index=s64((%row * 64)) value=(shfl.xor((%sum + shfl.xor(%sum, 1)), 2) + (%sum + shfl.xor(%sum, 1))) loc(13:1))";
  std::string body = RowRow();
  body = body.substr(0, body.find("let var=%row")) + sum;
  EXPECT_THAT(Multiply(body, true).kinds, IsEmpty());
  const std::string partial = body.substr(0, body.rfind("value=")) + "value=%sum loc(13:1)";
  EXPECT_THAT(Multiply(partial, true).kinds, ElementsAre("SimRace 13:1 13:1"));
}

}  // namespace
}  // namespace choreo::sim
