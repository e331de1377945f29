// The text form of the IR: deterministic, readable, and read back by reader.h.
//
//   module state=lowered source="v1.co"
//   line 12 "acc = mma.fill.f32 0.0f;"
//   kernel "name" loc(10:1) {
//     vars { %n type=s32 kind=dim loc(10:20); … }
//     storages { $x kind=param elem=f32 dims=[%n] param_index=0 strides=[1:s64]; … }
//     views { #0 storage=$x start=[0] axes=[(base_axis=0 extent=%n)]; … }
//     params { name="x" elem=f32 shaped=true storage=$x; … }
//     host { threads=128 … body { … } }
//     errors { text="…" loc(12:3); … }
//     body {
//       let var=%i value=((ctaid.x() * 128) + tid()) loc(11:5)
//       for var=%j low=0 high=%n step=1 unroll=0 loc(12:5) body { … }
//     }
//   }
//
// Names that repeat get `.1`, `.2`, …; names that are no identifiers are quoted. Table fields with
// their default value are left out. An id that is not valid is `none`. Floats are the shortest text
// that reads back to the same value; constants of other types than s32 and f32 carry them: `1:s64`.
#pragma once

#include <string>

#include "ir/ir.h"

namespace choreo::ir {

std::string Print(const Module& module);
// Of one kernel, for messages: an expression, and an op without its regions.
std::string PrintExpr(const Kernel& kernel, ExprId id);
std::string PrintOpLine(const Kernel& kernel, const Op& op);

// `text` in quotes with \", \\, \n, \t and \xNN.
std::string Quote(std::string_view text);
// A float constant of type `elem` as the shortest text that reads back; has a point, an exponent,
// or is `inf`, `-inf` or `nan`.
std::string FloatText(double value, Elem elem);

}  // namespace choreo::ir
