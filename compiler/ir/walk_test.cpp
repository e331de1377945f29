#include "ir/walk.h"

#include "ir/ir_test_util.h"

namespace choreo::ir {
namespace {

const char* const kTables = R"(
vars { %n type=s32 kind=dim; %i type=s32 kind=loop; %t type=s32 kind=let; }
storages {
  $x kind=param elem=f32 dims=[%n] param_index=0 strides=[1:s64];
  $s elem=f32 dims=[64] swizzle=0 byte_offset=0 tile_bytes=256;
}
params { name="x" elem=f32 shaped=true written=true storage=$x; }
HOST)";

Module Sample() {
  std::string text = KernelText("lowered", kTables, R"(
    let var=%t value=tid()
    for var=%i low=0 high=%n step=1 unroll=0 body {
      if condition=(%t < %i) then_body {
        st storage=$s index=%t value=$x[s64((%i + %t))]
      } else_body {
        st storage=$x index=s64(%i) value=$s[%t]
      }
    })");
  const std::string host = "HOST";
  text.replace(text.find(host), host.size(), "host { threads=128 shared_bytes=256 }");
  ReadResult read = ReadText(text);
  EXPECT_EQ(read.text, "");
  return std::move(*read.module);
}

TEST(WalkTest, OpsComeBeforeWhatTheyHold) {
  const Module module = Sample();
  std::vector<std::string> names;
  ForEachOp(module.kernels[0].body, [&](const Op& op) { names.emplace_back(Name(op.node)); });
  EXPECT_THAT(names, testing::ElementsAre("let", "for", "if", "st", "st"));
}

TEST(WalkTest, StorageUse) {
  const Module module = Sample();
  const Kernel& kernel = module.kernels[0];
  std::vector<std::string> uses;
  ForEachOp(kernel.body, [&](const Op& op) {
    std::string text(Name(op.node));
    const StorageUse use = DirectStorageUse(kernel, op);
    for (const StorageId id : use.reads) text += " reads " + kernel.storages[id].name;
    for (const StorageId id : use.writes) text += " writes " + kernel.storages[id].name;
    uses.push_back(text);
  });
  EXPECT_THAT(
      uses, testing::ElementsAre("let", "for", "if", "st reads x writes s", "st reads s writes x"));
  EXPECT_EQ(AllStorageUse(kernel, kernel.body).writes.size(), 2u);
}

TEST(WalkTest, ConjunctsOfACondition) {
  Module module = Sample();
  Kernel& kernel = module.kernels[0];
  ExprBuilder build(kernel);
  const ExprId n = build.Var(kernel.vars.IdAt(0));
  const auto is = [&](BinaryOp op, int64_t value) { return build.Bin(op, n, build.Int(value)); };
  const ExprId either = build.Bin(BinaryOp::Or, is(BinaryOp::Lt, 9), is(BinaryOp::Eq, 20));
  const ExprId left = build.Bin(BinaryOp::And, is(BinaryOp::Gt, 1), either);
  const ExprId right = build.Bin(BinaryOp::And, is(BinaryOp::Ne, 3), is(BinaryOp::Ne, 5));
  std::vector<std::string> parts;
  ForEachConjunct(kernel, build.Bin(BinaryOp::And, left, right),
                  [&](ExprId e) { parts.push_back(PrintExpr(kernel, e)); });
  EXPECT_THAT(parts, testing::ElementsAre("(%n > 1)", "((%n < 9) || (%n == 20))", "(%n != 3)",
                                          "(%n != 5)"));
}

TEST(WalkTest, SubstitutionFoldsAndReachesRegions) {
  Module module = Sample();
  Kernel& kernel = module.kernels[0];
  ExprBuilder builder(kernel);
  const VarSubstitution values = {{VarId(1), builder.Int(3)}};
  Region body = std::get<For>(kernel.body.ops[1].node).body;
  const size_t views = kernel.views.size();
  RewriteExprs(builder, body, Substitute(kernel, values));
  std::vector<std::string> lines;
  ForEachOp(body, [&](const Op& op) { lines.push_back(PrintOpLine(kernel, op)); });
  EXPECT_THAT(lines, testing::ElementsAre("if condition=(%t < 3)",
                                          "st storage=$s index=%t value=$x[s64((%t + 3))]",
                                          "st storage=$x index=3:s64 value=$s[%t]"));
  EXPECT_EQ(kernel.views.size(), views);
}

TEST(WalkTest, ViewsAreRewrittenToNewViews) {
  const std::string text = KernelText("tile", R"(
vars { %i type=s32 kind=loop; }
storages { $s elem=f32 dims=[4, 8]; }
views { #0 storage=$s base_extents=[4, 8] start=[%i, 0]; })",
                                      R"(
for var=%i low=0 high=4 step=1 body { store.elem dest=#0 value=0.0 })");
  ReadResult read = ReadText(text);
  ASSERT_EQ(read.text, "");
  Kernel& kernel = read.module->kernels[0];
  ExprBuilder builder(kernel);
  Op& store = std::get<For>(kernel.body.ops[0].node).body.ops[0];
  RewriteExprs(builder, store, Substitute(kernel, {{VarId(0), builder.Int(2)}}));
  const ViewId dest = std::get<StoreElem>(store.node).dest;
  EXPECT_EQ(dest, ViewId(1));
  EXPECT_EQ(AsInt(kernel, kernel.views[dest].start[0]), 2);
}

}  // namespace
}  // namespace choreo::ir
