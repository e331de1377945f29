#include "ir/verifier.h"

#include "ir/ir_test_util.h"

namespace choreo::ir {
namespace {

// What the rules are tried on: every kind of variable and storage, in a lowered kernel.
const char* const kTables = R"(
vars {
  %n type=s32 kind=dim; %a type=s32 kind=let; %b type=s64 kind=let; %c type=bool kind=let;
  %f type=f32 kind=let; %m type=s32 kind=mutable; %i type=s32 kind=loop; %e type=s32 kind=element;
  %e.1 type=s32 kind=element; %p type=s32 kind=parallel; %u type=u64 kind=let;
}
storages {
  $x kind=param elem=bf16 dims=[%n] param_index=0 strides=[1:s64];
  $s elem=bf16 dims=[64, 64] swizzle=128 byte_offset=0 tile_bytes=8192;
  $acc kind=frag elem=f32 dims=[64, 64] layout=accumulator;
  $h kind=frag elem=bf16 dims=[64, 64] layout=accumulator;
  $row kind=frag elem=f32 dims=[64] layout=row;
  $own kind=local elem=f32 dims=[4];
}
views {
  #0 storage=$s base_extents=[64, 64] start=[0, 0] axes=[(base_axis=0 extent=64), (base_axis=1 extent=64)];
  #1 storage=$x base_extents=[%n] start=[0];
  #2 storage=$x base_extents=[%n] start=[0] axes=[(base_axis=0 extent=%n)];
}
params { name="x" elem=bf16 shaped=true storage=$x; }
host { threads=128 shared_bytes=8192 }
errors { text="e"; }
)";
const char* const kDecls =
    "decl storage=$acc decl storage=$h decl storage=$row decl storage=$own\n";

// Messages about `body` after the declarations, without place and kind.
std::string Check(std::string_view body, std::string_view state = "lowered",
                  std::string_view tables = kTables) {
  ReadResult read =
      ReadText(KernelText(state, tables, std::string(kDecls) + std::string(body)), false);
  EXPECT_EQ(read.text, "");
  std::string text;
  if (!read.module) return read.text;
  for (const Violation& v : FindViolations(*read.module)) {
    if (!text.empty()) text += "; ";
    text += v.text;
  }
  return text;
}

// The tables with one part replaced.
std::string Tables(const std::string& from, const std::string& to) {
  std::string tables = kTables;
  const size_t at = tables.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return tables.replace(at, from.size(), to);
}

TEST(VerifierTest, RightOnesPass) {
  EXPECT_EQ(Check("let var=%a value=(%n + 1) set var=%m value=%a"), "set: `m` is not in scope");
  EXPECT_EQ(Check(R"(
    var var=%m init=0
    for var=%i low=0 high=4 step=1 body { let var=%a value=%i set var=%m value=(%m + %a) break }
    for var=%i low=0 high=4 step=-1 body { let var=%a value=%i continue }
    st storage=$s index=4095 value=$x[0:s64]
    st.vec storage=$s index=0 values=[$x[0:s64], $x[1:s64]]
    copy.vec dst=$s dst_index=8 src=$x src_index=8:s64 bytes=16
    cp.async dst=$s dst_index=8 src=$x src_index=8:s64 bytes=16 valid_bytes=(%n * 2)
    cp.async.wait pending=0 barrier.sync id=(1 + warp()) threads=128
    wgmma.mma acc=$acc a_desc=desc($s, 0, 16, 1024, 128) b_desc=desc($s, 32, 16, 1024, 128) n=64 elem=bf16 scale_d=0
    wgmma.mma acc=$acc a_frag=$h a_word=12 b_desc=desc($s, 0, 16, 1024, 128) n=64 elem=bf16 scale_d=true
    wgmma.wait pending=0 frag.tie frag=$acc
    frag.pack frag=$h word=15 low=$acc[30] high=$acc[31]
    frag.set frag=$row index=[1] value=shfl.xor($row[0], 1)
    stmatrix dst=$s index=0 frag=$h word=12 count=4
    ldmatrix frag=$h word=14 src=$s index=0 count=2
    error.latch code=1)"),
            "");
}

TEST(VerifierTest, States) {
  EXPECT_EQ(Check("frag.fill frag=$acc value=0.0"), "frag.fill: not in lowered state");
  EXPECT_EQ(Check("frag.fill frag=$acc value=0.0", "tile"), "");
  EXPECT_EQ(Check("frag.fill frag=$acc value=0.0 wgmma.fence", "lowering"), "");
  EXPECT_EQ(Check("wgmma.fence", "tile"), "wgmma.fence: not in tile state");
  EXPECT_EQ(Check("let var=%a value=tid()", "tile"), "let: `tid` in tile state");
  EXPECT_EQ(Check("let var=%f value=f32(elem(#1))"), "let: an element of a view in lowered state");
  EXPECT_EQ(Check("let var=%u value=desc($s, 0, 16, 1024, 128)", "tile"),
            "let: a descriptor in tile state");
  EXPECT_EQ(Check("let var=%f value=f32($s[0])", "tile"), "let: `s` accessed by linear index");
}

TEST(VerifierTest, Types) {
  EXPECT_EQ(Check("let var=%a value=(%n + 1:s64)"), "let: `+` of s32 and s64");
  EXPECT_EQ(Check("let var=%a value=1:s64"), "let: the value is s64, not s32");
  EXPECT_EQ(Check("let var=%a value=(%n < 1)"), "let: the value is bool, not s32");
  EXPECT_EQ(Check("let var=%c value=(%n && true)"), "let: `&&` of s32 and bool");
  EXPECT_EQ(Check("let var=%c value=(! %n)"), "let: `!` of s32");
  EXPECT_EQ(Check("let var=%f value=(1.0 % 2.0)"), "let: `%` of f32 and f32");
  EXPECT_EQ(Check("let var=%a value=(%n ? 1 : 2)"),
            "let: `(%n ? 1 : 2)` needs a bool and two values of one type");
  EXPECT_EQ(Check("let var=%f value=exp2(1.0:f64)"), "let: `exp2` of operands of type f64");
  EXPECT_EQ(Check("let var=%f value=(f32($h[0]) + 1.0)"), "");
  EXPECT_EQ(Check("let var=%c value=($h[0] > $h[1])"), "let: `>` of bf16 and bf16");
  EXPECT_EQ(Check("let var=%f value=shfl.xor(1.0, 32)"),
            "let: the mask of `shfl.xor` is a constant of 1 to 31");
  EXPECT_EQ(Check("let var=%a value=max.bits(%n, 1)"), "let: `max.bits` of operands of type s32");
  EXPECT_EQ(Check("let var=%a value=pin(%n)"), "let: `pin` of operands of type s32");
  EXPECT_EQ(Check("let var=%u value=pin(1:u64)", "tile"), "let: `pin` in tile state");
  EXPECT_EQ(Check("let var=%u value=pin(1:u64)"), "");
  EXPECT_EQ(Check("if condition=1 then_body {}"), "if: the condition is s32, not bool");
  EXPECT_EQ(Check("while condition=1 body {}"), "while: the condition is s32, not bool");
  EXPECT_EQ(Check("let var=%a"), "let: the value is missing");
}

TEST(VerifierTest, NodesMadeByHand) {
  ReadResult read = ReadText(KernelText("lowered", kTables, "let var=%a value=(%n + 1)"));
  ASSERT_EQ(read.text, "");
  Kernel& kernel = read.module->kernels[0];
  const ExprId value = std::get<Let>(kernel.body.ops[0].node).value;
  kernel.exprs[value].type = Elem::kF32;
  EXPECT_THAT(Verify(*read.module)[0], testing::HasSubstr("let: `(%n + 1)` is s32, not f32"));
  kernel.exprs[value] = {Elem::kS32, Unary{UnaryOp::Neg, value}};
  EXPECT_THAT(Verify(*read.module)[0], testing::HasSubstr("is missing or younger than it"));
  kernel.exprs[value] = {Elem::kS32, FloatConst{1}};
  EXPECT_THAT(Verify(*read.module)[0], testing::HasSubstr("float constant of type s32"));
  kernel.exprs[value] = {Elem::kF32, IntConst{1}};
  EXPECT_THAT(Verify(*read.module)[0], testing::HasSubstr("integer constant of type f32"));
  std::get<Let>(kernel.body.ops[0].node).value = ExprId(12345);
  EXPECT_THAT(Verify(*read.module)[0], testing::HasSubstr("id 12345 does not exist"));
  std::get<Let>(kernel.body.ops[0].node) = {VarId(99), kernel.exprs.IdAt(0)};
  EXPECT_THAT(Verify(*read.module)[0], testing::HasSubstr("a variable is missing"));
  kernel.body.ops[0].node = std::monostate();
  EXPECT_THAT(Verify(*read.module)[0], testing::HasSubstr("an op without a kind"));
}

TEST(VerifierTest, Scopes) {
  EXPECT_EQ(Check("set var=%m value=0"), "set: `m` is not in scope");
  EXPECT_EQ(Check("if condition=true then_body { let var=%a value=1 } let var=%b value=s64(%a)"),
            "let: `a` is not in scope");
  EXPECT_EQ(Check("let var=%a value=1 let var=%a value=1"),
            "let: `a` is defined where it is in scope already");
  EXPECT_EQ(Check("let var=%m value=1"), "let: `m` is a variable of another kind");
  EXPECT_EQ(Check("for var=%i low=0 high=4 step=1 body { set var=%i value=0 }"),
            "set: `i` is not mutable");
  EXPECT_EQ(Check("for var=%a low=0 high=4 step=1 body {}"),
            "for: `a` is a variable of another kind");
  EXPECT_EQ(Check("for var=%i low=0 high=4 step=0 body {}"), "for: a step of 0");
  EXPECT_EQ(Check("for var=%i low=0 high=4 step=1 unroll=-2 body {}"), "for: unroll -2");
  EXPECT_EQ(Check("break"), "break: no loop around it");
  EXPECT_EQ(Check("continue"), "continue: no loop around it");
  EXPECT_EQ(Check("decl storage=$x"), "decl: a parameter is declared");
  EXPECT_EQ(Check("decl storage=$acc"), "decl: `acc` is declared where it is alive already");
  EXPECT_EQ(Check("", "lowered"), "");
  ReadResult read =
      ReadText(KernelText("lowered", kTables, "frag.set frag=$acc index=[0] value=0.0"), false);
  EXPECT_THAT(Verify(*read.module)[0],
              testing::HasSubstr("`acc` is used outside the scope of its decl"));
}

TEST(VerifierTest, Indices) {
  EXPECT_EQ(Check("frag.set frag=$acc index=[32] value=0.0"),
            "frag.set: index 32 of `acc` is outside 0 to 31");
  EXPECT_EQ(Check("frag.set frag=$row index=[2] value=0.0"),
            "frag.set: index 2 of `row` is outside 0 to 1");
  EXPECT_EQ(Check("frag.set frag=$acc index=[0, 0] value=0.0"),
            "frag.set: `acc` has 1 indices here, not 2");
  EXPECT_EQ(Check("frag.set frag=$acc index=[0] value=0.0", "tile"),
            "frag.set: `acc` has 2 indices here, not 1");
  EXPECT_EQ(Check("frag.set frag=$acc index=[63, 64] value=0.0", "tile"),
            "frag.set: index 64 of `acc` is outside 0 to 63");
  EXPECT_EQ(Check("frag.set frag=$acc index=[0:s64] value=0.0"),
            "frag.set: index `0:s64` of `acc` is not s32");
  EXPECT_EQ(Check("frag.set frag=$s index=[0] value=0.0"),
            "frag.set: the destination `s` is no fragment");
  EXPECT_EQ(Check("st storage=$s index=4096 value=$h[0]"),
            "st: 1 elements at index 4096 of `s`: outside it or not aligned");
  EXPECT_EQ(Check("st storage=$own index=4 value=0.0"),
            "st: 1 elements at index 4 of `own`: outside it or not aligned");
  EXPECT_EQ(Check("st storage=$x index=0 value=$h[0]"), "st: the index into `x` is s32, not s64");
  EXPECT_EQ(Check("st storage=$s index=0 value=0.0"), "st: the value is f32, not bf16");
  EXPECT_EQ(Check("copy.vec dst=$s dst_index=4 src=$x src_index=0:s64 bytes=16"),
            "copy.vec: 8 elements at index 4 of `s`: outside it or not aligned");
}

TEST(VerifierTest, AccessSizes) {
  EXPECT_EQ(Check("st storage=$x value=$x[0:s64]"), "st: no index");
  EXPECT_EQ(Check("copy.vec dst=$s dst_index=0 src=$x src_index=0:s64 bytes=12"),
            "copy.vec: 12 bytes: an access has 2, 4, 8 or 16");
  EXPECT_EQ(Check("copy.vec dst=$own dst_index=0 src=$x src_index=0:s64 bytes=8"),
            "copy.vec: a copy between element types");
  EXPECT_EQ(Check("copy.vec bytes=16"),
            "copy.vec: a storage is missing or does not exist; "
            "copy.vec: a side of the copy is missing");
  EXPECT_EQ(Check("st.vec storage=$s index=0 values=[$h[0]]"),
            "st.vec: 2 bytes: an access has 4, 8 or 16");
  EXPECT_EQ(Check("cp.async dst=$s dst_index=0 src=$x src_index=0:s64 bytes=2"),
            "cp.async: 2 bytes: cp.async copies 4, 8 or 16");
  EXPECT_EQ(Check("cp.async dst=$s dst_index=0 src=$s src_index=0 bytes=16"),
            "cp.async: the source is no parameter; cp.async: the source index is s32, not s64");
  EXPECT_EQ(Check("cp.async dst=$x dst_index=0 src=$x src_index=0:s64 bytes=16"),
            "cp.async: the destination `x` is not in shared memory");
}

TEST(VerifierTest, WaitsAndBarriers) {
  EXPECT_EQ(Check("cp.async.wait pending=-1"), "cp.async.wait: -1 pending groups");
  EXPECT_EQ(Check("wgmma.wait pending=-1"), "wgmma.wait: -1 pending groups: 0 to 7");
  EXPECT_EQ(Check("wgmma.wait pending=8"), "wgmma.wait: 8 pending groups: 0 to 7");
  EXPECT_EQ(Check("barrier.sync id=16 threads=128"),
            "barrier.sync: barrier 16: named barriers are 1 to 15");
  EXPECT_EQ(Check("barrier.sync id=1 threads=48"),
            "barrier.sync: 48 threads: not a multiple of 32 up to 1024");
  EXPECT_EQ(Check("error.latch code=2"), "error.latch: code 2 has no message");
}

TEST(VerifierTest, Atomics) {
  const std::string tables = Tables("$own kind=local",
                                    "$n kind=shared elem=s32 dims=[4] swizzle=0 byte_offset=0 "
                                    "tile_bytes=16;\n  $own kind=local");
  const auto check = [&](std::string_view body) { return Check(body, "lowered", tables); };
  EXPECT_EQ(check("atomic var=%a how=add storage=$n index=0 value=1"), "");
  EXPECT_EQ(check("atomic how=min storage=$n index=3 value=%n"), "");
  EXPECT_EQ(check("atomic var=%b how=add storage=$n index=0 value=1"),
            "atomic: the result is not of the element's type");
  EXPECT_EQ(check("atomic var=%m how=add storage=$n index=0 value=1"),
            "atomic: `m` is a variable of another kind");
  EXPECT_EQ(check("atomic how=add storage=$n index=0 value=1:s64"),
            "atomic: the value is s64, not s32");
  EXPECT_EQ(check("atomic how=add storage=$x index=0:s64 value=1:bf16"),
            "atomic: an atomic operation on elements of type bf16");
  EXPECT_EQ(check("atomic how=add storage=$own index=0 value=1.0:f32"),
            "atomic: `own` is neither a parameter nor in shared memory; atomic: an atomic "
            "operation on elements of type f32");
}

TEST(VerifierTest, Votes) {
  EXPECT_EQ(Check("vote var=%c value=true threads=32"), "");
  EXPECT_EQ(Check("vote var=%c value=true threads=128", "tile"), "");
  EXPECT_EQ(Check("vote var=%c value=true threads=128"), "vote: a vote of 128 threads: 32");
  EXPECT_EQ(Check("vote var=%c value=true threads=64", "tile"),
            "vote: a vote of 64 threads: 32 or 128");
  EXPECT_EQ(Check("vote var=%a value=true threads=32"), "vote: the result is not bool");
  EXPECT_EQ(Check("vote var=%c value=%n threads=32"), "vote: the value is s32, not bool");
  EXPECT_EQ(Check("vote var=%m value=true threads=32"),
            "vote: the result is not bool; vote: `m` is a variable of another kind");
  EXPECT_EQ(Check("barrier.vote var=%c value=true id=1 threads=128"), "");
  EXPECT_EQ(Check("barrier.vote var=%a value=true id=1 threads=128"),
            "barrier.vote: the result is not bool");
  EXPECT_EQ(Check("barrier.vote var=%c value=%n id=1 threads=128"),
            "barrier.vote: the value is s32, not bool");
  EXPECT_EQ(Check("barrier.vote var=%c value=true id=16 threads=128"),
            "barrier.vote: barrier 16: named barriers are 1 to 15");
  EXPECT_EQ(Check("barrier.vote var=%c value=true id=1 threads=48"),
            "barrier.vote: 48 threads: not a multiple of 32 up to 1024");
  EXPECT_EQ(Check("barrier.vote var=%c value=true id=1 threads=128", "tile"),
            "barrier.vote: not in tile state");
}

TEST(VerifierTest, Wgmma) {
  const auto mma = [](std::string_view fields) {
    return Check(fmt::format("wgmma.mma acc=$acc b_desc=desc($s, 0, 16, 1024, 128) {}", fields));
  };
  const std::string a = "a_desc=desc($s, 0, 16, 1024, 128) ";
  EXPECT_EQ(mma(a + "n=64 elem=bf16 scale_d=1"), "");
  EXPECT_EQ(mma(a + "n=60 elem=bf16 scale_d=1"),
            "wgmma.mma: n = 60: 8 to 256 by 8; "
            "wgmma.mma: accumulator `acc` does not hold 30 f32 a lane");
  EXPECT_EQ(mma(a + "n=128 elem=bf16 scale_d=1"),
            "wgmma.mma: accumulator `acc` does not hold 64 f32 a lane");
  EXPECT_EQ(mma(a + "n=64 elem=f32 scale_d=1"), "wgmma.mma: operands of type f32");
  EXPECT_EQ(mma("n=64 elem=bf16 scale_d=1"),
            "wgmma.mma: A is a descriptor or a fragment, one of the two");
  EXPECT_EQ(mma("a_frag=$h a_word=13 n=64 elem=bf16 scale_d=1"),
            "wgmma.mma: words 13 to 16 of A `h`, which has 16 of bf16");
  EXPECT_EQ(mma(a + "n=64 elem=bf16 scale_d=1.0"), "wgmma.mma: scale_d is f32, not s32");
  EXPECT_EQ(mma("a_desc=1 n=64 elem=bf16 scale_d=1"), "wgmma.mma: a_desc is s32, not u64");
}

TEST(VerifierTest, Descriptors) {
  const auto desc = [](std::string_view args) {
    return Check(fmt::format("let var=%u value=desc({})", args));
  };
  EXPECT_EQ(desc("$s, 0, 16, 1024, 64"), "");
  EXPECT_EQ(desc("$s, 8, 16, 1024, 64"), "let: descriptor offset 8 is no multiple of 16");
  EXPECT_EQ(desc("$s, 0, 24, 1024, 64"),
            "let: descriptor field 24 is no multiple of 16 up to 262128");
  EXPECT_EQ(desc("$s, 0, 16, 1024, 48"), "let: descriptor swizzle 48 is none of 0, 32, 64, 128");
  EXPECT_EQ(desc("$x, 0, 16, 1024, 64"),
            "let: the storage of a descriptor `x` is not in shared memory");
  EXPECT_EQ(desc("$s, 0:s64, 16, 1024, 64"),
            "let: the byte offset of a descriptor is s64, not s32");
}

TEST(VerifierTest, Matrices) {
  EXPECT_EQ(Check("stmatrix dst=$s index=0 frag=$h word=13 count=4"),
            "stmatrix: words 13 to 16 of `h`, which has 16");
  EXPECT_EQ(Check("stmatrix dst=$s index=0 frag=$h word=0 count=3"),
            "stmatrix: 3 matrices: 1, 2 or 4");
  EXPECT_EQ(Check("ldmatrix frag=$acc word=0 src=$s index=0 count=1"),
            "ldmatrix: fragment and memory are not of one 16-bit type");
  EXPECT_EQ(Check("ldmatrix frag=$h word=0 src=$x index=0 count=1"),
            "ldmatrix: the memory side `x` is not in shared memory");
  EXPECT_EQ(Check("frag.pack frag=$h word=16 low=0.0 high=0.0"),
            "frag.pack: word 16 of `h`, which has 16");
  EXPECT_EQ(Check("frag.pack frag=$acc word=0 low=0.0 high=0.0"),
            "frag.pack: `acc` has no 16-bit elements");
  EXPECT_EQ(Check("frag.tie frag=$own"), "frag.tie: `frag` `own` is no fragment");
}

TEST(VerifierTest, TileOps) {
  EXPECT_EQ(Check(R"(
    parallel level=warpgroup vars=[%p] bounds=[1] body {
      copy.sync src=#0 dst=#0 swizzle=128
      mma acc=$acc a=#0 b=#0 b_row=true
      mma acc=$acc a_frag=$h b=#0 k_order=[1, 0, 3, 2]
      frag.reduce reduce=max row=$row src=$acc
      frag.apply frag=$acc vars=[%e, %e.1] body { frag.set frag=$acc index=[%e, %e.1] value=$row[%e] }
      mma.load frag=$h src=#0
      mma.store frag=$acc dst=#0
      store.elem dest=#1 value=$h[0, 0]
    })",
                  "tile"),
            "");
  EXPECT_EQ(Check("frag.apply frag=$acc vars=[%e] body {}", "tile"),
            "frag.apply: 1 variables for 2 axes");
  EXPECT_EQ(
      Check("for var=%i low=0 high=2 step=1 body { frag.apply frag=$row vars=[%e] body { break } }",
            "tile"),
      "break: no loop around it");
  EXPECT_EQ(Check("mma acc=$acc b=#0", "tile"),
            "mma: A is a view or a fragment, one of the two; "
            "mma: a storage is missing or does not exist");
  EXPECT_EQ(Check("mma acc=$row a=#0 b=#0", "tile"), "mma: accumulator `row` is no f32 tile");
  EXPECT_EQ(Check("mma acc=$acc a=#0 b=#0 k_order=[0, 0]", "tile"),
            "mma: k_order is no permutation");
  EXPECT_EQ(Check("mma acc=$acc a=#0 b=#2", "tile"), "mma: operand B has 1 axes");
  EXPECT_EQ(Check("mma acc=$acc a=#0 b=#0 b_row=false", "tile",
                  Tables("(base_axis=0 extent=64)", "(base_axis=0 extent=264)")),
            "mma: the depth of B is no multiple of 16");
  EXPECT_EQ(Check("mma acc=$acc a=#0 b=#0 b_row=true", "tile",
                  Tables("(base_axis=0 extent=64)", "(base_axis=0 extent=264)")),
            "mma: the columns of B are no multiple of 8 up to 256");
  EXPECT_EQ(Check("copy.sync src=#0 dst=#2", "tile"), "copy.sync: a copy of 2 axes to 1 axes");
  EXPECT_EQ(Check("copy.sync src=#0 dst=#0 swizzle=48", "tile"), "copy.sync: swizzle 48");
  EXPECT_EQ(Check("frag.copy dst=$acc src=$row", "tile"),
            "frag.copy: `acc` and `row` differ in shape or type");
  EXPECT_EQ(Check("frag.reduce reduce=sum row=$acc src=$acc", "tile"),
            "frag.reduce: `acc` is no row of `acc`");
  EXPECT_EQ(Check("mma.load frag=$acc src=#0", "tile"),
            "mma.load: fragment and source are not of one 16-bit type");
  EXPECT_EQ(Check("mma.store frag=$row dst=#0", "tile"),
            "mma.store: a fragment of 1 axes stored to 2");
  EXPECT_EQ(Check("store.elem dest=#2 value=$h[0, 0]", "tile"),
            "store.elem: a store to view #2, which has axes");
  EXPECT_EQ(Check("store.elem dest=#1 value=0.0", "tile"),
            "store.elem: the value is f32, not bf16");
  EXPECT_EQ(Check("fill.tile dst=#0 value=0.0", "tile"), "fill.tile: the value is f32, not bf16");
  EXPECT_EQ(Check("frag.fill frag=$h value=0.0", "tile"), "frag.fill: the value is f32, not bf16");
  EXPECT_EQ(Check("let var=%f value=f32(elem(#0))", "tile"),
            "let: element of view #0, which has axes");
  EXPECT_EQ(Check("parallel level=warp vars=[%p] bounds=[%n] body {}", "tile"),
            "parallel: the bound of a level inside the CTA is no positive constant");
  EXPECT_EQ(Check("parallel level=warp vars=[%p] bounds=[] body {}", "tile"),
            "parallel: 1 variables and 0 bounds");
  EXPECT_EQ(Check("parallel level=warp vars=[%p] bounds=[33] body {}", "tile"),
            "parallel: more than 1024 threads");
  EXPECT_EQ(Check("inthreads predicate=1 body {}", "tile"),
            "inthreads: the predicate is s32, not bool");
  EXPECT_EQ(Check("assert condition=1 message=\"\"", "tile"),
            "assert: the condition is s32, not bool");
}

TEST(VerifierTest, TablesOfStorage) {
  const auto check = [](const std::string& from, const std::string& to) {
    return Check("", "lowered", Tables(from, to));
  };
  EXPECT_EQ(check("swizzle=128 byte_offset=0", "swizzle=48 byte_offset=0"),
            "storage `s` has swizzle 48");
  EXPECT_EQ(check("byte_offset=0", ""), "storage `s` has no place in shared memory");
  EXPECT_EQ(check("byte_offset=0", "byte_offset=512"),
            "storage `s` is not aligned to 1024 bytes; "
            "storage `s` ends at byte 8704 of 8192 of shared memory");
  EXPECT_EQ(check("tile_bytes=8192", "tile_bytes=4096"),
            "storage `s` needs 8192 bytes a tile and has 4096");
  EXPECT_EQ(check("dims=[64, 64] layout", "dims=[32, 64] layout"),
            "fragment `acc` is not [64, a multiple of 8]");
  EXPECT_EQ(check("dims=[64] layout=row", "dims=[64]"), "fragment `row` has no layout");
  EXPECT_EQ(check("dims=[4]", "dims=[%n]"),
            "storage `own` has extents that are no positive constants");
  EXPECT_EQ(check("param_index=0", "param_index=1"),
            "parameter `x` and storage `x` do not fit; "
            "storage `x` does not belong to parameter 1");
  EXPECT_EQ(check("strides=[1:s64]", "strides=[]"), "storage `x` has 1 extents and 0 strides");
  EXPECT_EQ(check("strides=[1:s64]", "strides=[1]"), "a stride of a parameter is s32, not s64");
  EXPECT_EQ(check("[64, 64] swizzle", "[64, 64] array_size=0 swizzle"), "storage `s` has 0 tiles");
  EXPECT_EQ(check("$own kind=local",
                  "$e kind=event elem=u64 array_size=3 byte_offset=8168 "
                  "tile_bytes=8 slot_names=\"a b\"; $own kind=local"),
            "event `e` has 3 slots and 2 names of slots");
  EXPECT_EQ(check("$own kind=local", "$own kind=local slot_names=\"a\""),
            "storage `own` names slots and is no event");
  EXPECT_EQ(check("%n type=s32 kind=dim;", "%n type=s32 kind=dim; %o type=s32 kind=dim;"),
            "no parameter gives `o` a value");
  EXPECT_EQ(check("start=[0, 0]", "start=[0]"),
            "view #0 has 2 base extents and 1 start coordinates");
  EXPECT_EQ(check("(base_axis=1", "(base_axis=0"), "view #0 has an axis on base axis 0");
}

TEST(VerifierTest, HostPart) {
  const auto check = [](const std::string& to) {
    return Check("", "lowered", Tables("threads=128 shared_bytes=8192", to));
  };
  EXPECT_EQ(check("threads=100 shared_bytes=8192"), "");
  EXPECT_EQ(check("threads=1025 shared_bytes=8192"), "1025 threads a CTA: not 1 to 1024");
  EXPECT_EQ(check("threads=128 min_blocks=0 shared_bytes=8192"), "0 CTAs a processor");
  EXPECT_EQ(check("threads=128 cluster=8 shared_bytes=8192"), "");
  EXPECT_EQ(check("threads=128 cluster=3 shared_bytes=8192"), "a cluster of 3: 1, 2, 4 or 8 CTAs");
  EXPECT_EQ(check("threads=128 shared_bytes=999999"),
            "999999 bytes of shared memory: the limit is 232448");
  EXPECT_EQ(check("grid=[1, none, none] threads=128 shared_bytes=8192"),
            "a grid extent is s32, not s64");
  EXPECT_EQ(check("threads=128 shared_bytes=8192 block_vars=[%p]"),
            "1 block variables and 0 bounds");
  EXPECT_EQ(check("threads=128 shared_bytes=8192 checks=[(kind=contiguous param=3)]"),
            "a host check of parameter 3, which is not shaped");
  EXPECT_EQ(check("threads=128 shared_bytes=8192 checks=[(kind=stride_multiple param=0 axis=1)]"),
            "a host check of axis 1 of parameter 0");
  EXPECT_EQ(check("threads=128 shared_bytes=8192 body { break }"), "break: not in a host body");
  EXPECT_EQ(check("threads=128 shared_bytes=8192 body { assert condition=(%n > 0) }"), "");
}

TEST(VerifierTest, ReaderReportsTheOp) {
  const ReadResult read = ReadText(KernelText("tile", "", "\n  wgmma.fence"));
  EXPECT_EQ(read.text, "7:3: invalid IR: wgmma.fence: not in tile state [IrInvalid]\n");
  EXPECT_FALSE(read.module);
}

}  // namespace
}  // namespace choreo::ir
