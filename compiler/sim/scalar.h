// Scalar arithmetic of the tile evaluator: one value at a time, with the meaning that numeric.h
// gives. Written apart from the machine's instructions on purpose: each checks the other.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/ir.h"
#include "support/elem_type.h"

namespace choreo::sim {

// A value of any element type: integers and bool in `i`, floats in `f`.
struct Value {
  int64_t i = 0;
  double f = 0;
};

Value LoadValue(Elem elem, const void* from);
void StoreValue(Elem elem, void* to, Value value);

// Nothing: an integer division by zero.
std::optional<Value> EvalBinary(ir::BinaryOp op, Elem operands, Value a, Value b);
Value EvalUnary(ir::UnaryOp op, Elem elem, Value a);
Value EvalCast(Elem from, Elem to, Value a);
// Min, Max, Abs, Fma, CDiv and the float functions. Nothing: a division by zero.
std::optional<Value> EvalCall(ir::Intrinsic callee, Elem elem, const Value* args);

}  // namespace choreo::sim
