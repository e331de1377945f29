// The tile evaluator on tile-state text: views, copies, fragments, MMAs, scopes and control flow.
#include <cmath>

#include "sim/sim_test_util.h"

namespace choreo::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class... A>
Report RunTiles(const std::string& text, const A&... arguments) {
  const ir::Module module = ReadKernel(text);
  if (module.kernels.empty()) return {};
  const std::vector<Argument> list{MakeArgument(arguments)...};
  return RunTile(module, "k", list);
}

std::string TileText(const std::string& tables, const std::string& host, const std::string& body) {
  return "module state=tile source=\"k.co\"\nkernel \"k\" {\n" + tables + "\nhost { " + host +
         " }\nbody {\n" + body + "\n}\n}\n";
}

// S = A·Bᵀ masked, P = exp2(S - max), O = (P / sum)·V, for rows of 64 with two warpgroups.
const char* const kTables = R"(
vars {
  %w type=s32 kind=parallel; %i type=s32 kind=element; %j type=s32 kind=element; %n type=s32 kind=dim;
  %b type=s32 kind=parallel;
}
storages {
  $A kind=param elem=bf16 dims=[%n, 64] param_index=0 strides=[64:s64, 1:s64];
  $B kind=param elem=bf16 dims=[32, 64] param_index=1 strides=[64:s64, 1:s64];
  $O kind=param elem=bf16 dims=[%n, 64] param_index=2 strides=[64:s64, 1:s64];
  $a_s kind=shared elem=bf16 dims=[128, 64] swizzle=128;
  $b_s kind=shared elem=bf16 dims=[32, 64] swizzle=128;
  $s kind=frag elem=f32 dims=[64, 32] layout=accumulator;
  $o kind=frag elem=f32 dims=[64, 64] layout=accumulator;
  $p kind=frag elem=bf16 dims=[64, 32] layout=accumulator;
  $max kind=frag elem=f32 dims=[64] layout=row;
  $sum kind=frag elem=f32 dims=[64] layout=row;
}
views {
  #0 storage=$A base_extents=[%n, 64] start=[(%b * 128), 0] axes=[(base_axis=0 extent=128), (base_axis=1 extent=64)];
  #1 storage=$a_s base_extents=[128, 64] start=[0, 0] axes=[(base_axis=0 extent=128), (base_axis=1 extent=64)];
  #2 storage=$B base_extents=[32, 64] start=[0, 0] axes=[(base_axis=0 extent=32), (base_axis=1 extent=64)];
  #3 storage=$b_s base_extents=[32, 64] start=[0, 0] axes=[(base_axis=0 extent=32), (base_axis=1 extent=64)];
  #4 storage=$a_s base_extents=[128, 64] start=[(%w * 64), 0] axes=[(base_axis=0 extent=64), (base_axis=1 extent=64)];
  #5 storage=$O base_extents=[%n, 64] start=[((%b * 128) + (%w * 64)), 0] axes=[(base_axis=0 extent=64), (base_axis=1 extent=64)];
}
params {
  name="A" elem=bf16 shaped=true storage=$A; name="B" elem=bf16 shaped=true storage=$B;
  name="O" elem=bf16 shaped=true written=true storage=$O;
})";
const char* const kBody = R"(
copy.sync src=#0 dst=#1 swizzle=0
copy.sync src=#2 dst=#3 swizzle=0
parallel level=warpgroup vars=[%w] bounds=[2] body {
  decl storage=$s decl storage=$o decl storage=$p decl storage=$max decl storage=$sum
  frag.fill frag=$max value=-inf
  frag.fill frag=$s value=0.0
  frag.fill frag=$o value=0.0
  mma acc=$s a=#4 a_frag=none b=#3 b_row=true k_order=[]
  frag.apply frag=$s vars=[%i, %j] body {
    if condition=(%j > (%i + (%w * 64))) then_body { frag.set frag=$s index=[%i, %j] value=-inf }
  }
  frag.reduce reduce=max row=$max src=$s
  frag.apply frag=$s vars=[%i, %j] body {
    frag.set frag=$s index=[%i, %j] value=exp2(($s[%i, %j] - $max[%i]))
  }
  frag.reduce reduce=sum row=$sum src=$s
  frag.apply frag=$p vars=[%i, %j] body { frag.set frag=$p index=[%i, %j] value=bf16($s[%i, %j]) }
  mma acc=$o a=none a_frag=$p b=#3 b_row=false k_order=[]
  frag.apply frag=$o vars=[%i, %j] body { frag.set frag=$o index=[%i, %j] value=($o[%i, %j] / $sum[%i]) }
  mma.store frag=$o dst=#5
})";

TEST(TileEvalTest, AttentionStep) {
  constexpr int kRows = 200;  // a tail in the second block
  const std::vector<bf16> a = RandomBf16(kRows * 64, 1), b = RandomBf16(32 * 64, 2);
  std::vector<bf16> o(kRows * 64, bf16(-99.0f));
  const std::string host = "block_vars=[%b] block_bounds=[cdiv(%n, 128)]";
  const Report report = RunTiles(TileText(kTables, host, kBody), row_major(a.data(), kRows, 64),
                                 row_major(b.data(), 32, 64), row_major(o.data(), kRows, 64));
  EXPECT_THAT(Kinds(report), IsEmpty());
  EXPECT_EQ(report.ctas, 2u);
  const auto at = [](const std::vector<bf16>& x, int i, int j) {
    return static_cast<double>(static_cast<float>(x[static_cast<size_t>(i * 64 + j)]));
  };
  for (int i = 0; i < kRows; ++i) {
    std::vector<double> s(32), p(32);
    double max = -INFINITY, sum = 0;
    for (int j = 0; j < 32; ++j) {
      for (int k = 0; k < 64; ++k) s[static_cast<size_t>(j)] += at(a, i, k) * at(b, j, k);
      if (j <= i % 128) max = std::max(max, s[static_cast<size_t>(j)]);
    }
    for (int j = 0; j < 32; ++j) {
      p[static_cast<size_t>(j)] = j <= i % 128 ? std::exp2(s[static_cast<size_t>(j)] - max) : 0;
      sum += p[static_cast<size_t>(j)];
    }
    for (int d = 0; d < 64; ++d) {
      double want = 0;
      for (int j = 0; j < 32; ++j) want += p[static_cast<size_t>(j)] * at(b, j, d);
      EXPECT_NEAR(at(o, i, d), want / sum, 0.02) << i << ", " << d;
    }
  }
}

const char* const kThreadTables = R"(
vars {
  %g type=s32 kind=parallel; %t type=s32 kind=parallel; %x type=s32 kind=parallel; %y type=s32 kind=parallel;
  %m type=s32 kind=mutable; %i type=s32 kind=loop; %k type=s32 kind=let;
}
storages {
  $out kind=param elem=s32 dims=[128] param_index=0 strides=[1:s64];
  $s kind=shared elem=s32 dims=[128] array_size=2;
  $own kind=local elem=s32 dims=[4];
}
views {
  #0 storage=$out base_extents=[128] start=[((%g * 32) + %t)];
  #1 storage=$s slot=1 base_extents=[128] start=[((%g * 32) + %t)];
  #2 storage=$s slot=1 base_extents=[128] start=[(127 - ((%g * 32) + %t))];
  #3 storage=$own base_extents=[4] start=[(%t % 4)];
  #4 storage=$out base_extents=[128] start=[((%x * 16) + %y)];
  #5 storage=$out base_extents=[8, 16] start=[3, 0] axes=[(base_axis=1 extent=16)];
  #6 storage=$s slot=0 base_extents=[128] start=[4] axes=[(base_axis=0 extent=16 step=2)];
}
params { name="out" elem=s32 shaped=true written=true storage=$out; })";

std::vector<int32_t> RunThreads(const std::string& body,
                                std::vector<std::string>* kinds = nullptr) {
  std::vector<int32_t> out(128, -1);
  const Report report = RunTiles(TileText(kThreadTables, "", body), row_major(out.data(), 128));
  if (kinds != nullptr) {
    *kinds = Kinds(report);
  } else {
    EXPECT_THAT(Kinds(report), IsEmpty());
  }
  return out;
}

TEST(TileEvalTest, ThreadsExchangeInLockstep) {
  const std::vector<int32_t> out = RunThreads(R"(
parallel level=warp vars=[%g] bounds=[4] body {
  parallel level=thread vars=[%t] bounds=[32] body {
    store.elem dest=#1 value=((%g * 100) + %t)
    sync.shared
    store.elem dest=#0 value=elem(#2)
  }
})");
  for (int t = 0; t < 128; ++t) {
    EXPECT_EQ(out[static_cast<size_t>(t)], (127 - t) / 32 * 100 + (127 - t) % 32);
  }
}

TEST(TileEvalTest, ControlFlowIsPerThread) {
  const std::vector<int32_t> out = RunThreads(R"(
parallel level=warp vars=[%g] bounds=[4] body {
  parallel level=thread vars=[%t] bounds=[32] body {
    decl storage=$own
    var var=%m init=0
    for var=%i low=0 high=%t step=1 unroll=0 body {
      if condition=((%i % 3) == 1) then_body { continue }
      if condition=(%i > 12) then_body { break }
      set var=%m value=(%m + %i)
    }
    inthreads predicate=(%t == 7) async=false body { store.elem dest=#0 value=-7 return }
    while condition=(%m > 40) body { set var=%m value=(%m - 3) }
    store.elem dest=#3 value=%m
    store.elem dest=#0 value=elem(#3)
  }
})");
  for (int t = 0; t < 128; ++t) {
    int m = 0;
    for (int i = 0; i < t % 32; ++i) {
      if (i % 3 == 1) continue;
      if (i > 12) break;
      m += i;
    }
    while (m > 40) m -= 3;
    EXPECT_EQ(out[static_cast<size_t>(t)], t % 32 == 7 ? -7 : m) << t;
  }
}

TEST(TileEvalTest, TuplesOfThreadsReshapesAndSteps) {
  const std::vector<int32_t> out = RunThreads(R"(
parallel level=thread vars=[%x, %y] bounds=[8, 16] body { store.elem dest=#4 value=((%x * 1000) + %y) }
copy.sync src=#5 dst=#6 swizzle=0
copy.sync src=#6 dst=#5 swizzle=0)");
  for (int i = 0; i < 128; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], i / 16 * 1000 + i % 16);
}

TEST(TileEvalTest, OutsideAndAsserts) {
  std::vector<std::string> kinds;
  RunThreads(
      "parallel level=warp vars=[%g] bounds=[4] body { parallel level=thread vars=[%t] bounds=[32] "
      "body "
      "{ let var=%k value=0 } }\n",
      &kinds);
  EXPECT_THAT(kinds, IsEmpty());
  std::vector<int32_t> out(128, -1);
  const std::string tables =
      Replaced(kThreadTables, "start=[((%g * 32) + %t)];\n  #1", "start=[((%g * 33) + %t)];\n  #1");
  const std::string body =
      "parallel level=warp vars=[%g] bounds=[4] body { parallel level=thread vars=[%t] bounds=[32] "
      "body "
      "{ assert condition=(%t < 31) message=\"small\" loc(2:2) store.elem dest=#0 value=1 loc(3:3) "
      "} }";
  const Report report = RunTiles(TileText(tables, "", body), row_major(out.data(), 128));
  EXPECT_THAT(Kinds(report), ElementsAre("SimOutOfBounds 3:3 0:0"));
  EXPECT_EQ(report.failed_assert, "small (k.co:2)");
}

}  // namespace
}  // namespace choreo::sim
