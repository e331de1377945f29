// Arithmetic on constants, with the meaning that generated code gives it: integers wrap to their
// type, floats round as the type does. Nothing is folded whose run-time meaning is undefined
// (division by zero, shifts past the width) or approximate (exp2 and friends).
#pragma once

#include <cstdint>
#include <optional>

#include "ir/ir.h"

namespace choreo::ir {

// `value` reduced to the range of `elem` (integer or bool), as IntConst holds it.
int64_t WrapToElem(int64_t value, Elem elem);
// Whether a value of `elem` holds `value` exactly.
bool FitsElem(int64_t value, Elem elem);

// `a op b` for operands of type `elem`; comparisons and logic give 0 or 1.
std::optional<int64_t> FoldInt(BinaryOp op, Elem elem, int64_t a, int64_t b);
// Add, Sub, Mul, Div of f32 or f64.
std::optional<double> FoldFloat(BinaryOp op, Elem elem, double a, double b);
// A comparison of f32 or f64.
std::optional<bool> FoldFloatCompare(BinaryOp op, double a, double b);
// a / b rounded up (towards positive infinity).
std::optional<int64_t> FoldCDiv(Elem elem, int64_t a, int64_t b);
// `value` as a constant of a float type, if that type holds it exactly or the rounding is f32's.
std::optional<double> FoldToFloat(double value, Elem to);
// Float to integer, truncating; only where the result fits.
std::optional<int64_t> FoldToInt(double value, Elem to);

}  // namespace choreo::ir
