// Makes expressions of one kernel. Operands must have the types that IR expressions demand (both of
// one type; checked). Integers are folded and simplified where the value stays the same for every
// input without overflow; floats only where all operands are constants.
// Ids stay valid: a kernel's expressions are only ever added.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace choreo::ir {

class ExprBuilder {
 public:
  explicit ExprBuilder(Kernel& kernel) : kernel_(&kernel) {}
  Kernel& kernel() { return *kernel_; }

  // ---- leaves ----
  ExprId Int(int64_t value, Elem elem = Elem::kS32);   // wraps to the type
  ExprId Float(double value, Elem elem = Elem::kF32);  // rounds to f32 if that is the type
  ExprId Bool(bool value) { return Int(value ? 1 : 0, Elem::kBool); }
  ExprId Var(VarId var);

  // ---- operators ----
  ExprId Bin(BinaryOp op, ExprId a, ExprId b);
  // The constant takes the type of `a`.
  ExprId Bin(BinaryOp op, ExprId a, int64_t b) { return Bin(op, a, Int(b, TypeOf(a))); }
#define CHOREO_BINARY(kind, spelling)                                   \
  ExprId kind(ExprId a, ExprId b) { return Bin(BinaryOp::kind, a, b); } \
  ExprId kind(ExprId a, int64_t b) { return Bin(BinaryOp::kind, a, b); }
#include "ir/expr_op.def"
  ExprId Xor(ExprId a, ExprId b) { return BitXor(a, b); }
  ExprId Not(ExprId a);
  ExprId Neg(ExprId a);
  ExprId BitNot(ExprId a);
  ExprId Select(ExprId condition, ExprId then_value, ExprId else_value);
  ExprId Cast(ExprId operand, Elem to);

  // ---- intrinsics ----
  ExprId Call(Intrinsic callee, std::vector<ExprId> args);
  ExprId CDiv(ExprId a, ExprId b) { return Call(Intrinsic::CDiv, {a, b}); }
  ExprId CDiv(ExprId a, int64_t b) { return CDiv(a, Int(b, TypeOf(a))); }
  ExprId Min(ExprId a, ExprId b) { return Call(Intrinsic::Min, {a, b}); }
  ExprId Min(ExprId a, int64_t b) { return Min(a, Int(b, TypeOf(a))); }
  ExprId Max(ExprId a, ExprId b) { return Call(Intrinsic::Max, {a, b}); }
  ExprId Max(ExprId a, int64_t b) { return Max(a, Int(b, TypeOf(a))); }

  // ---- storage ----
  ExprId FragElem(StorageId frag, std::vector<ExprId> index);
  ExprId ViewElem(ViewId view);
  ExprId MemElem(StorageId storage, ExprId index);
  ExprId Desc(StorageId storage, ExprId byte_offset, int32_t leading_bytes, int32_t stride_bytes,
              int32_t swizzle);

  // ---- variables ----
  VarId NewVar(std::string name, Elem elem, VarKind kind, Loc loc = {}, ExprId bound = {});

  // ---- questions ----
  Elem TypeOf(ExprId id) const { return kernel_->exprs[id].type; }
  // The value of an integer or bool constant.
  std::optional<int64_t> AsInt(ExprId id) const;
  std::optional<double> AsFloat(ExprId id) const;
  // The same tree. Pure expressions: the same value, as long as nothing they read is written
  // between.
  bool Same(ExprId a, ExprId b) const;

 private:
  ExprId Raw(Elem type, ExprNode node);
  ExprId RawBin(BinaryOp op, ExprId a, ExprId b);
  // Simplifications of integer `a op b`; invalid: none applies.
  ExprId SimplifyInt(BinaryOp op, ExprId a, ExprId b);
  ExprId SimplifySum(Elem type, ExprId a, int64_t addend);
  ExprId SimplifyProduct(Elem type, ExprId a, int64_t factor);
  ExprId SimplifyQuotient(BinaryOp op, Elem type, ExprId a, int64_t divisor);
  ExprId SimplifyLogic(BinaryOp op, ExprId a, ExprId b);
  // a / divisor where the form of `a` shows that nothing is left over; invalid: it does not show.
  ExprId DivideExactly(ExprId a, int64_t divisor);
  ExprId FoldCall(Intrinsic callee, const std::vector<ExprId>& args);
  // The node's operator and operands, if it is a Binary.
  std::optional<Binary> AsBinary(ExprId id) const;

  Kernel* kernel_;
};

// Structural equality of two trees of one kernel.
bool Same(const Kernel& kernel, ExprId a, ExprId b);
std::optional<int64_t> AsInt(const Kernel& kernel, ExprId id);
// The type that a node has by its operands; none for constants and casts, which choose theirs.
std::optional<Elem> DerivedType(const Kernel& kernel, const ExprNode& node);
// Elements of a fragment that a lane holds, by its layout; 0: not known.
int64_t FragElems(const Kernel& kernel, const Storage& storage);

}  // namespace choreo::ir
