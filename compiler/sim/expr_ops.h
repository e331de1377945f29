// The expression instructions of the machine: for an operator and a type, the function that
// computes it for all lanes of a warp. Inactive lanes compute too, harmlessly; what could fault is
// masked.
#pragma once

#include "ir/ir.h"
#include "sim/program.h"
#include "support/elem_type.h"

namespace choreo::sim {

// dst = op(a, b). `elem` is the operands' type.
InstrFn BinaryFn(ir::BinaryOp op, Elem elem);
InstrFn UnaryFn(ir::UnaryOp op, Elem elem);
// dst = a ? b : c; `elem` is the type of b and c.
InstrFn SelectFn(Elem elem);
InstrFn MoveFn(Elem elem);
// Conversion between register types; narrow types need RoundFn afterwards.
InstrFn CastFn(Elem from, Elem to);
// Brings a register value into the range (or precision) of a type narrower than its register; null
// where every register value is one of the type.
InstrFn RoundFn(Elem elem);
// Min, Max, Abs, Fma, CDiv and the float functions; imm is unused.
InstrFn CallFn(ir::Intrinsic callee, Elem elem);
// dst = a of lane ^ imm; every lane must be active.
InstrFn ShuffleFn(Elem elem);
// dst = a with its 16-byte chunk bits swizzled; imm is the width in bytes (32, 64, 128).
InstrFn SwizzleFn();
// The 64-bit WGMMA descriptor: a is the byte offset in shared memory, imm the constant fields.
InstrFn DescriptorFn();
// Element a of a fragment or a local array: c is the first slot, imm its storage.
InstrFn IndexedElementFn(Elem elem);
// A read of the fragment imm happens.
InstrFn TouchFn();

// Conditional evaluation: lanes where a is true (or, for `Else`, false), until Pop.
InstrFn PushMaskFn();
InstrFn PushInverseMaskFn();
InstrFn PopMaskFn();

}  // namespace choreo::sim
