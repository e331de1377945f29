#include "ir/builder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/printer.h"

namespace choreo::ir {
namespace {

class BuilderTest : public testing::Test {
 protected:
  Kernel kernel;
  ExprBuilder b{kernel};
  ExprId x = b.Var(b.NewVar("x", Elem::kS32, VarKind::Dim));
  ExprId y = b.Var(b.NewVar("y", Elem::kS32, VarKind::Dim));
  ExprId u = b.Var(b.NewVar("u", Elem::kU32, VarKind::Param));
  ExprId f = b.Var(b.NewVar("f", Elem::kF32, VarKind::Param));
  std::string Text(ExprId id) { return PrintExpr(kernel, id); }
};

TEST_F(BuilderTest, FoldsIntegerConstantsWithWrapAround) {
  EXPECT_EQ(b.AsInt(b.Add(b.Int(2), b.Int(3))), 5);
  EXPECT_EQ(b.AsInt(b.Mul(b.Int(65536), b.Int(65536))), 0);
  EXPECT_EQ(b.AsInt(b.Sub(b.Int(0, Elem::kU32), b.Int(1, Elem::kU32))), 4294967295);
  EXPECT_EQ(b.AsInt(b.Shr(b.Int(-1, Elem::kU32), b.Int(31))), 1);
  EXPECT_EQ(b.AsInt(b.Div(b.Int(-7), b.Int(2))), -3);
  EXPECT_EQ(b.AsInt(b.Mod(b.Int(-7), b.Int(2))), -1);
  EXPECT_EQ(b.AsInt(b.Lt(b.Int(-1, Elem::kU64), b.Int(1, Elem::kU64))), 0);
  EXPECT_EQ(b.AsInt(b.CDiv(b.Int(7), b.Int(2))), 4);
  EXPECT_EQ(b.AsInt(b.CDiv(b.Int(-7), b.Int(2))), -3);
}

TEST_F(BuilderTest, UndefinedArithmeticStays) {
  EXPECT_EQ(Text(b.Div(b.Int(1), b.Int(0))), "(1 / 0)");
  EXPECT_EQ(Text(b.Div(b.Int(INT32_MIN), b.Int(-1))), "(-2147483648 / -1)");
  EXPECT_EQ(Text(b.Shl(b.Int(1), b.Int(32))), "(1 << 32)");
}

TEST_F(BuilderTest, IntegerIdentities) {
  EXPECT_EQ(b.Mul(x, 1), x);
  EXPECT_EQ(b.Add(x, 0), x);
  EXPECT_EQ(b.Add(b.Int(0), x), x);
  EXPECT_EQ(b.AsInt(b.Mul(x, 0)), 0);
  EXPECT_EQ(b.AsInt(b.Sub(b.Add(x, y), b.Add(x, y))), 0);
  EXPECT_EQ(Text(b.Add(b.Add(x, 3), 4)), "(%x + 7)");
  EXPECT_EQ(Text(b.Sub(b.Add(x, 3), 4)), "(%x - 1)");
  EXPECT_EQ(b.Sub(b.Add(x, 4), 4), x);
  EXPECT_EQ(Text(b.Mul(b.Mul(x, 3), 4)), "(%x * 12)");
  EXPECT_EQ(Text(b.Div(b.Div(x, 3), 4)), "(%x / 12)");
}

TEST_F(BuilderTest, ExactDivision) {
  EXPECT_EQ(b.Div(b.Mul(x, 128), 128), x);
  EXPECT_EQ(Text(b.Div(b.Add(b.Mul(x, 128), 64), 32)), "((%x * 4) + 2)");
  EXPECT_EQ(b.AsInt(b.Mod(b.Add(b.Mul(x, 128), b.Mul(y, 64)), 32)), 0);
  EXPECT_EQ(Text(b.Mod(b.Mul(x, 3), 2)), "((%x * 3) % 2)");
  EXPECT_EQ(b.CDiv(b.Mul(x, 16), 16), x);
  // Unsigned products wrap: the quotient is not x.
  EXPECT_EQ(Text(b.Div(b.Mul(u, 4), 4)), "((%u * 4:u32) / 4:u32)");
}

TEST_F(BuilderTest, FloatsAreOnlyFoldedExactly) {
  EXPECT_EQ(Text(b.Mul(f, b.Float(1))), "(%f * 1.0)");
  EXPECT_EQ(Text(b.Add(f, b.Float(0))), "(%f + 0.0)");
  EXPECT_EQ(b.AsFloat(b.Mul(b.Float(0.1f), b.Float(3))), static_cast<double>(0.1f * 3.0f));
  EXPECT_EQ(Text(b.Neg(b.Float(INFINITY))), "-inf");
  EXPECT_EQ(Text(b.Not(b.Lt(f, b.Float(1)))), "(! (%f < 1.0))");
}

TEST_F(BuilderTest, LogicAndSelect) {
  const ExprId c = b.Lt(x, y);
  EXPECT_EQ(b.And(c, b.Bool(true)), c);
  EXPECT_EQ(b.AsInt(b.And(b.Bool(false), c)), 0);
  EXPECT_EQ(b.AsInt(b.Or(c, b.Bool(true))), 1);
  EXPECT_EQ(Text(b.Not(c)), "(%x >= %y)");
  const ExprId float_less = b.Lt(f, b.Float(1));
  EXPECT_EQ(b.Not(b.Not(float_less)), float_less);
  EXPECT_EQ(b.Select(b.Bool(true), x, y), x);
  EXPECT_EQ(b.Select(c, x, x), x);
  EXPECT_EQ(b.AsInt(b.Eq(x, x)), 1);
  EXPECT_EQ(b.AsInt(b.Min(b.Int(3), b.Int(5))), 3);
  EXPECT_EQ(b.AsInt(b.Max(b.Int(3), b.Int(5))), 5);
}

TEST_F(BuilderTest, Casts) {
  EXPECT_EQ(b.Cast(x, Elem::kS32), x);
  EXPECT_EQ(Text(b.Cast(b.Int(5), Elem::kS64)), "5:s64");
  EXPECT_EQ(Text(b.Cast(b.Int(-1), Elem::kU32)), "4294967295:u32");
  EXPECT_EQ(Text(b.Cast(b.Int(3), Elem::kF32)), "3.0");
  EXPECT_EQ(Text(b.Cast(b.Float(1.5), Elem::kBf16)), "1.5:bf16");
  EXPECT_EQ(Text(b.Cast(b.Float(0.1f), Elem::kBf16)), "bf16(0.1)");
  EXPECT_EQ(Text(b.Cast(b.Float(2049), Elem::kF16)), "f16(2049.0)");
  EXPECT_EQ(Text(b.Cast(b.Float(2.7), Elem::kS32)), "2");
  EXPECT_EQ(Text(b.Cast(b.Float(3e9), Elem::kS32)), "s32(3000000000.0)");
}

TEST_F(BuilderTest, SameComparesTrees) {
  EXPECT_TRUE(b.Same(b.Add(x, y), b.Add(x, y)));
  EXPECT_FALSE(b.Same(b.Add(x, y), b.Add(y, x)));
  EXPECT_FALSE(b.Same(b.Float(0.0), b.Float(-0.0)));
  EXPECT_FALSE(b.Same(b.Int(1), b.Int(1, Elem::kS64)));
}

}  // namespace
}  // namespace choreo::ir
