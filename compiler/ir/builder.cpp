#include "ir/builder.h"

#include <cmath>

#include "ir/fold.h"

namespace choreo::ir {
namespace {

bool IsIntType(Elem elem) { return IsInteger(elem) || elem == Elem::kBool; }

bool IsLogic(BinaryOp op) { return IsComparison(op) || op == BinaryOp::And || op == BinaryOp::Or; }

BinaryOp Opposite(BinaryOp op) {
  switch (op) {
    case BinaryOp::Lt:
      return BinaryOp::Ge;
    case BinaryOp::Le:
      return BinaryOp::Gt;
    case BinaryOp::Gt:
      return BinaryOp::Le;
    case BinaryOp::Ge:
      return BinaryOp::Lt;
    case BinaryOp::Eq:
      return BinaryOp::Ne;
    default:
      return BinaryOp::Eq;
  }
}

}  // namespace

ExprId ExprBuilder::Raw(Elem type, ExprNode node) {
  return kernel_->exprs.Add(Expr{type, std::move(node)});
}

ExprId ExprBuilder::Int(int64_t value, Elem elem) {
  CHOREO_CHECK(IsIntType(elem), "integer constant of type {}", Spelling(elem));
  return Raw(elem, IntConst{WrapToElem(value, elem)});
}

ExprId ExprBuilder::Float(double value, Elem elem) {
  CHOREO_CHECK(IsFloat(elem), "float constant of type {}", Spelling(elem));
  return Raw(elem, FloatConst{elem == Elem::kF32 ? static_cast<float>(value) : value});
}

ExprId ExprBuilder::Var(VarId var) { return Raw(kernel_->vars[var].type, VarRef{var}); }

ExprId ExprBuilder::RawBin(BinaryOp op, ExprId a, ExprId b) {
  return Raw(IsLogic(op) ? Elem::kBool : TypeOf(a), Binary{op, a, b});
}

ExprId ExprBuilder::Bin(BinaryOp op, ExprId a, ExprId b) {
  const Elem type = TypeOf(a);
  const bool shift = op == BinaryOp::Shl || op == BinaryOp::Shr;
  CHOREO_CHECK(shift ? IsInteger(TypeOf(b)) : type == TypeOf(b), "`{}` of {} and {}", Spelling(op),
               Spelling(type), Spelling(TypeOf(b)));
  const auto x = AsInt(a), y = AsInt(b);
  if (x && y) {
    if (const auto v = FoldInt(op, type, *x, *y)) return Int(*v, IsLogic(op) ? Elem::kBool : type);
    return RawBin(op, a, b);
  }
  const auto f = AsFloat(a), g = AsFloat(b);
  if (f && g) {
    if (const auto v = FoldFloat(op, type, *f, *g)) return Float(*v, type);
    if (const auto v = FoldFloatCompare(op, *f, *g)) return Bool(*v);
  }
  if (IsIntType(type)) {
    if (const ExprId simple = SimplifyInt(op, a, b)) return simple;
  }
  return RawBin(op, a, b);
}

ExprId ExprBuilder::Not(ExprId a) {
  CHOREO_CHECK(TypeOf(a) == Elem::kBool);
  if (const auto v = AsInt(a)) return Bool(*v == 0);
  if (const auto* u = std::get_if<Unary>(&kernel_->exprs[a].node); u && u->op == UnaryOp::Not) {
    return u->operand;
  }
  // Comparisons of floats are not complements: NaN.
  if (const auto b = AsBinary(a); b && IsComparison(b->op) && IsIntType(TypeOf(b->left))) {
    return RawBin(Opposite(b->op), b->left, b->right);
  }
  return Raw(Elem::kBool, Unary{UnaryOp::Not, a});
}

ExprId ExprBuilder::Neg(ExprId a) {
  const Elem type = TypeOf(a);
  if (const auto v = AsInt(a))
    return Int(static_cast<int64_t>(0 - static_cast<uint64_t>(*v)), type);
  if (const auto v = AsFloat(a)) return Float(-*v, type);
  if (const auto* u = std::get_if<Unary>(&kernel_->exprs[a].node); u && u->op == UnaryOp::Neg) {
    return u->operand;
  }
  return Raw(type, Unary{UnaryOp::Neg, a});
}

ExprId ExprBuilder::BitNot(ExprId a) {
  const Elem type = TypeOf(a);
  CHOREO_CHECK(IsInteger(type));
  if (const auto v = AsInt(a)) return Int(~*v, type);
  return Raw(type, Unary{UnaryOp::BitNot, a});
}

ExprId ExprBuilder::Select(ExprId condition, ExprId then_value, ExprId else_value) {
  CHOREO_CHECK(TypeOf(condition) == Elem::kBool && TypeOf(then_value) == TypeOf(else_value));
  if (const auto v = AsInt(condition)) return *v != 0 ? then_value : else_value;
  if (Same(then_value, else_value)) return then_value;
  return Raw(TypeOf(then_value), ir::Select{condition, then_value, else_value});
}

ExprId ExprBuilder::Cast(ExprId operand, Elem to) {
  const Elem from = TypeOf(operand);
  if (from == to) return operand;
  if (const auto v = AsInt(operand)) {
    if (IsIntType(to)) return Int(*v, to);
    const bool exact =
        from != Elem::kU64 && std::abs(static_cast<double>(*v)) <= 9007199254740992.0;
    if (const auto f = exact ? FoldToFloat(static_cast<double>(*v), to) : std::nullopt) {
      return Raw(to, FloatConst{*f});
    }
  } else if (const auto f = AsFloat(operand)) {
    if (IsFloat(to)) {
      if (const auto v2 = FoldToFloat(*f, to)) return Raw(to, FloatConst{*v2});
    } else if (const auto v2 = FoldToInt(*f, to)) {
      return Int(*v2, to);
    }
  }
  return Raw(to, ir::Cast{operand});
}

ExprId ExprBuilder::FoldCall(Intrinsic callee, const std::vector<ExprId>& args) {
  const Elem type = args.empty() ? Elem::kS32 : TypeOf(args[0]);
  if (!IsIntType(type) || args.empty()) return {};
  const auto a = AsInt(args[0]);
  const auto b = args.size() > 1 ? AsInt(args[1]) : std::nullopt;
  switch (callee) {
    case Intrinsic::CDiv:
      if (a && b) {
        if (const auto v = FoldCDiv(type, *a, *b)) return Int(*v, type);
      }
      if (b == 1) return args[0];
      return b && *b > 0 ? DivideExactly(args[0], *b) : ExprId();
    case Intrinsic::Min:
    case Intrinsic::Max: {
      if (Same(args[0], args[1])) return args[0];
      if (!a || !b) return {};
      const bool less = *FoldInt(BinaryOp::Lt, type, *a, *b) != 0;
      return args[less == (callee == Intrinsic::Min) ? 0 : 1];
    }
    case Intrinsic::Abs:
      return a && *a >= 0 && type != Elem::kU64 ? args[0] : ExprId();
    default:
      return {};
  }
}

ExprId ExprBuilder::Call(Intrinsic callee, std::vector<ExprId> args) {
  for (const ExprId arg : args) {
    CHOREO_CHECK(TypeOf(arg) == TypeOf(args[0]) || callee == Intrinsic::ShflXor,
                 "`{}` of {} and {}", Spelling(callee), Spelling(TypeOf(args[0])),
                 Spelling(TypeOf(arg)));
  }
  if (const ExprId folded = FoldCall(callee, args)) return folded;
  ir::ExprNode call = ir::Call{callee, std::move(args)};
  const Elem type = *DerivedType(*kernel_, call);
  return Raw(type, std::move(call));
}

ExprId ExprBuilder::FragElem(StorageId frag, std::vector<ExprId> index) {
  return Raw(kernel_->storages[frag].elem, ir::FragElem{frag, std::move(index)});
}

ExprId ExprBuilder::ViewElem(ViewId view) {
  const Elem elem = kernel_->storages[kernel_->views[view].storage].elem;
  return Raw(elem, ir::ViewElem{view});
}

ExprId ExprBuilder::MemElem(StorageId storage, ExprId index) {
  return Raw(kernel_->storages[storage].elem, ir::MemElem{storage, index});
}

ExprId ExprBuilder::Desc(StorageId storage, ExprId byte_offset, int32_t leading_bytes,
                         int32_t stride_bytes, int32_t swizzle) {
  return Raw(Elem::kU64, SmemDesc{storage, byte_offset, leading_bytes, stride_bytes, swizzle});
}

VarId ExprBuilder::NewVar(std::string name, Elem elem, VarKind kind, Loc loc, ExprId bound) {
  return kernel_->vars.Add(ir::Var{std::move(name), elem, kind, loc, bound});
}

std::optional<int64_t> ExprBuilder::AsInt(ExprId id) const { return ir::AsInt(*kernel_, id); }

std::optional<double> ExprBuilder::AsFloat(ExprId id) const {
  const auto* constant = std::get_if<FloatConst>(&kernel_->exprs[id].node);
  return constant ? std::optional(constant->value) : std::nullopt;
}

std::optional<Binary> ExprBuilder::AsBinary(ExprId id) const {
  const auto* binary = std::get_if<Binary>(&kernel_->exprs[id].node);
  return binary ? std::optional(*binary) : std::nullopt;
}

std::optional<Elem> DerivedType(const Kernel& kernel, const ExprNode& node) {
  struct Visitor {
    const Kernel& kernel;
    using Type = std::optional<Elem>;
    Type Of(ExprId id) const { return kernel.exprs[id].type; }
    Type operator()(const IntConst&) const { return std::nullopt; }
    Type operator()(const FloatConst&) const { return std::nullopt; }
    Type operator()(const VarRef& e) const { return kernel.vars[e.var].type; }
    Type operator()(const Unary& e) const { return Of(e.operand); }
    Type operator()(const Binary& e) const { return IsLogic(e.op) ? Elem::kBool : Of(e.left); }
    Type operator()(const Select& e) const { return Of(e.then_value); }
    Type operator()(const Cast&) const { return std::nullopt; }
    Type operator()(const Call& e) const {
      if (e.callee == Intrinsic::EvictFirst || e.callee == Intrinsic::EvictLast) return Elem::kU64;
      return e.args.empty() ? Elem::kS32 : Of(e.args[0]);
    }
    Type operator()(const FragElem& e) const { return kernel.storages[e.frag].elem; }
    Type operator()(const ViewElem& e) const {
      return kernel.storages[kernel.views[e.view].storage].elem;
    }
    Type operator()(const MemElem& e) const { return kernel.storages[e.storage].elem; }
    Type operator()(const SmemDesc&) const { return Elem::kU64; }
  };
  return std::visit(Visitor{kernel}, node);
}

bool ExprBuilder::Same(ExprId a, ExprId b) const { return ir::Same(*kernel_, a, b); }

int64_t FragElems(const Kernel& kernel, const Storage& storage) {
  if (storage.layout == FragLayout::Row) return 2;
  if (storage.layout == FragLayout::None || storage.dims.size() != 2) return 0;
  const auto rows = AsInt(kernel, storage.dims[0]), columns = AsInt(kernel, storage.dims[1]);
  return rows && columns ? *rows * *columns / 128 : 0;
}

}  // namespace choreo::ir
