#include "sema/sym.h"

#include <gtest/gtest.h>

namespace choreo::sema {
namespace {

class SymTest : public ::testing::Test {
 protected:
  Poly Variable(std::string name, int64_t low, std::optional<Poly> high) {
    AtomInfo info;
    info.text = std::move(name);
    info.is_variable = true;
    info.low = low;
    info.high = std::move(high);
    return Poly::Of(syms_.Intern(std::move(info)));
  }
  Poly Dim(std::string name) {
    AtomInfo info;
    info.text = std::move(name);
    info.low = 0;
    return Poly::Of(syms_.Intern(std::move(info)));
  }
  static Poly C(int64_t value) { return Poly::Constant(value); }

  SymTable syms_;
};

TEST_F(SymTest, EqualPolynomialsHaveOneText) {
  const Poly n = Dim("N"), m = Dim("M");
  const Poly a = *Add(*Mul(n, C(2)), *Mul(m, n)), b = *Add(*Mul(n, m), *Add(n, n));
  EXPECT_EQ(a, b);
  EXPECT_EQ(syms_.Text(a), syms_.Text(b));
  EXPECT_EQ(syms_.FromText(syms_.Text(a)), a);
  EXPECT_EQ(syms_.Text(*Sub(C(3), n)), "-N + 3");
}

TEST_F(SymTest, DividesOnlyWithoutARest) {
  const Poly n = Dim("N");
  EXPECT_EQ(DivideExactly(*Mul(n, C(6)), C(3)), *Mul(n, C(2)));
  EXPECT_EQ(DivideExactly(*Add(*Mul(n, C(6)), C(1)), C(3)), std::nullopt);
  EXPECT_EQ(DivideExactly(*Mul(n, n), n), n);
  EXPECT_EQ(DivideExactly(*Add(n, C(1)), *Add(n, C(1))), C(1));
}

TEST_F(SymTest, OverflowGivesNothing) {
  EXPECT_EQ(Mul(C(INT64_MAX), C(2)), std::nullopt);
  EXPECT_EQ(Add(C(INT64_MAX), C(1)), std::nullopt);
  EXPECT_EQ(Sub(C(0), C(INT64_MIN)), std::nullopt);
}

TEST_F(SymTest, BoundsAreThoseOfTheVariables) {
  const Poly i = Variable("i", 0, C(7)), j = Variable("j", 0, C(3));
  const Bounds bounds = syms_.BoundsOf(*Add(*Sub(*Mul(i, C(4)), j), C(1)));
  EXPECT_EQ(bounds.low, -2);
  EXPECT_EQ(bounds.high, 29);
  EXPECT_TRUE(bounds.low_exact && bounds.high_exact);
}

TEST_F(SymTest, AnInnerRangeMayDependOnAnOuterVariable) {
  const Poly n = Dim("N");
  const Poly bm = Variable("bm", 0, *Sub(n, C(1)));
  const Poly issue = Variable("issue", 0, bm);
  EXPECT_EQ(syms_.BoundsOf(*Sub(bm, issue)).low, 0);  // bm - issue is never negative
  EXPECT_EQ(syms_.BoundsOf(*Sub(bm, n)).high, -1);    // bm < N
  EXPECT_EQ(syms_.BoundsOf(bm).high, std::nullopt);   // N is not known
}

TEST_F(SymTest, WhatIsNoVariableIsNotExact) {
  AtomInfo info;
  info.text = "(i / 2)";
  info.low = 0;
  info.high = C(3);
  const Bounds bounds = syms_.BoundsOf(Poly::Of(syms_.Intern(std::move(info))));
  EXPECT_EQ(bounds.high, 3);
  EXPECT_FALSE(bounds.high_exact);
}

TEST_F(SymTest, NarrowingIsTakenBack) {
  const Poly p = Variable("p", 0, C(2));
  const Atom atom = p.terms().begin()->first.front();
  SymTable::Range old = syms_.Narrow(atom, 1, 2);
  EXPECT_EQ(syms_.BoundsOf(*Sub(p, C(1))).low, 0);
  syms_.Restore(atom, std::move(old));
  EXPECT_EQ(syms_.BoundsOf(*Sub(p, C(1))).low, -1);
}

TEST_F(SymTest, AssertionsAreUsed) {
  const Poly s = Dim("S"), t = Dim("T"), n = Dim("N");
  EXPECT_FALSE(syms_.KnownEqual(s, t));
  syms_.AssumeEqual(s, t);
  EXPECT_TRUE(syms_.KnownEqual(*Add(s, C(1)), *Add(t, C(1))));
  EXPECT_FALSE(syms_.KnownMultiple(n, 64));
  syms_.AssumeMultiple(n, 64);
  syms_.AssumeMultiple(n, 128);
  EXPECT_TRUE(syms_.KnownMultiple(n, 128));
  EXPECT_TRUE(syms_.KnownMultiple(*Mul(n, C(2)), 256));
  EXPECT_FALSE(syms_.KnownMultiple(n, 256));
  EXPECT_FALSE(syms_.KnownMultiple(*Add(n, C(1)), 2));
}

}  // namespace
}  // namespace choreo::sema
