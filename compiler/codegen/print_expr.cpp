#include "codegen/print_expr.h"

#include <fmt/format.h>

#include "codegen/cpp_types.h"
#include "ir/builder.h"

namespace choreo::codegen {
namespace {

using ir::BinaryOp;
using ir::ExprId;

constexpr int kPrimary = 16;
constexpr int kConditional = 2;

int Precedence(BinaryOp op) {
  switch (op) {
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Mod:
      return 13;
    case BinaryOp::Add:
    case BinaryOp::Sub:
      return ExprPrinter::kAdditive;
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return 11;
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
      return 9;
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      return 8;
    case BinaryOp::BitAnd:
      return 7;
    case BinaryOp::BitXor:
      return 6;
    case BinaryOp::BitOr:
      return 5;
    case BinaryOp::And:
      return 4;
    case BinaryOp::Or:
      return 3;
  }
  CHOREO_UNREACHABLE();
}

// Operators that people (and compilers' warnings) want their operands set apart in.
bool WantsParentheses(BinaryOp op) {
  switch (op) {
    case BinaryOp::Shl:
    case BinaryOp::Shr:
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
      return true;
    default:
      return false;
  }
}

std::string Parenthesised(const std::string& text) { return fmt::format("({})", text); }

}  // namespace

std::optional<int64_t> ExprPrinter::Constant(ExprId id) const { return ir::AsInt(kernel_, id); }

std::string ExprPrinter::Print(ExprId id, int context) const {
  Printed printed = Node(id);
  return printed.precedence < context ? Parenthesised(printed.text) : printed.text;
}

std::string ExprPrinter::Args(const std::vector<ExprId>& args) const {
  std::string text;
  for (const ExprId arg : args) {
    if (!text.empty()) text += ", ";
    text += Print(arg);
  }
  return text;
}

ExprPrinter::Printed ExprPrinter::Node(ExprId id) const {
  struct Visitor {
    const ExprPrinter& p;
    ExprId id;
    Elem type;
    Printed operator()(const ir::IntConst& e) const {
      const std::string text = IntLiteral(e.value, type);
      return {text, text[0] == '-' ? kUnary : kPrimary};
    }
    Printed operator()(const ir::FloatConst& e) const {
      if (type == Elem::kF32 || type == Elem::kF64) {
        const std::string text = FloatLiteral(e.value, type);
        return {text, text[0] == '-' ? kUnary : kPrimary};
      }
      return {fmt::format("choreo::from_f32<{}>({})", DeviceType(type), p.AsF32(id)), kPrimary};
    }
    Printed operator()(const ir::VarRef& e) const { return {p.names_.Of(e.var), kPrimary}; }
    Printed operator()(const ir::Unary& e) const {
      // Parentheses also around another sign: `--x` is something else.
      return {fmt::format("{}{}", ir::Spelling(e.op), p.Print(e.operand, kUnary + 1)), kUnary};
    }
    Printed operator()(const ir::Binary& e) const { return p.PrintBinary(e); }
    Printed operator()(const ir::Select& e) const {
      return {
          fmt::format("{} ? {} : {}", p.Print(e.condition, kConditional + 1),
                      p.Print(e.then_value, kConditional + 1), p.Print(e.else_value, kConditional)),
          kConditional};
    }
    Printed operator()(const ir::Cast& e) const { return {p.PrintCast(e.operand, type), kPrimary}; }
    Printed operator()(const ir::Call& e) const {
      const std::string text = p.PrintCall(e, type);
      const bool product = e.callee == ir::Intrinsic::Log;
      return {text, product ? Precedence(BinaryOp::Mul) : kPrimary};
    }
    Printed operator()(const ir::FragElem& e) const {
      if (!IsHalf(type)) return {p.Element(e.frag, e.index[0]), kPrimary};
      return {fmt::format("choreo::from_f32<{}>({})", DeviceType(type), p.AsF32(id)), kPrimary};
    }
    Printed operator()(const ir::ViewElem&) const { CHOREO_UNREACHABLE("a view in lowered state"); }
    Printed operator()(const ir::MemElem& e) const {
      return {p.Element(e.storage, e.index), kPrimary};
    }
    Printed operator()(const ir::SmemDesc& e) const {
      std::string address = fmt::format("choreo::shared_address({})", p.names_.Of(e.storage));
      if (p.Constant(e.byte_offset) != 0) {
        address += fmt::format(" + {}", p.Print(e.byte_offset, kAdditive + 1));
      }
      // The runtime calls panels of 16 bytes what the manual calls no swizzle.
      return {fmt::format("choreo::make_smem_desc<{}>({}, {}, {})", e.swizzle == 0 ? 16 : e.swizzle,
                          address, e.leading_bytes, e.stride_bytes),
              kPrimary};
    }
  };
  return std::visit(Visitor{*this, id, TypeOf(id)}, kernel_.exprs[id].node);
}

ExprPrinter::Printed ExprPrinter::PrintBinary(const ir::Binary& e) const {
  const int precedence = Precedence(e.op);
  const auto operand = [&](ExprId id, bool right) {
    // Next to an operand of the type, a literal needs no suffix to get it.
    const auto value = Constant(id);
    const bool shifted = !right && (e.op == BinaryOp::Shl || e.op == BinaryOp::Shr);
    if (value && !shifted && *value >= 0 && *value <= INT32_MAX && TypeOf(id) != Elem::kBool &&
        !Constant(right ? e.left : e.right)) {
      return fmt::to_string(*value);
    }
    const Printed printed = Node(id);
    const auto* inner = std::get_if<ir::Binary>(&kernel_.exprs[id].node);
    bool set_apart = printed.precedence < precedence + (right ? 1 : 0);
    if (inner != nullptr && inner->op != e.op) {
      set_apart = set_apart || WantsParentheses(e.op) ||
                  (e.op == BinaryOp::Or && inner->op == BinaryOp::And);
    }
    return set_apart ? Parenthesised(printed.text) : printed.text;
  };
  return {
      fmt::format("{} {} {}", operand(e.left, false), ir::Spelling(e.op), operand(e.right, true)),
      precedence};
}

std::string ExprPrinter::PrintCall(const ir::Call& e, Elem type) const {
  using ir::Intrinsic;
  const bool host = threads_ == nullptr;
  const bool wide = type == Elem::kF64;
  const auto call = [&](std::string_view function) {
    return fmt::format("{}({})", function, Args(e.args));
  };
  // Integer overloads are picked by type: a literal must not change it.
  const auto typed = [&](std::string_view function) {
    return fmt::format("{}<{}>({})", function, DeviceType(type), Args(e.args));
  };
  switch (e.callee) {
    case Intrinsic::CDiv:
      return typed("choreo::cdiv");
    case Intrinsic::Min:
      if (IsFloat(type)) return call(wide ? "fmin" : "fminf");
      return host ? typed("std::min") : call("min");
    case Intrinsic::Max:
      if (IsFloat(type)) return call(wide ? "fmax" : "fmaxf");
      return host ? typed("std::max") : call("max");
    case Intrinsic::Abs:
      if (IsFloat(type)) return call(wide ? "fabs" : "fabsf");
      return call(host ? "std::abs" : "abs");
    case Intrinsic::Fma:
      return call(wide ? "fma" : "fmaf");
    case Intrinsic::Exp2:
      return call(host ? "exp2f" : "ptx::ex2_approx_ftz_f32");
    case Intrinsic::Exp:
      if (host) return call("expf");
      return fmt::format("ptx::ex2_approx_ftz_f32({} * 1.44269504f)", Print(e.args[0], 13));
    case Intrinsic::Log:
      if (host) return call("logf");
      return fmt::format("ptx::lg2_approx_ftz_f32({}) * 0.693147182f", Print(e.args[0]));
    case Intrinsic::Log2:
      return call(host ? "log2f" : "ptx::lg2_approx_ftz_f32");
    case Intrinsic::Rsqrt:
      if (host) return fmt::format("1.0f / sqrtf({})", Print(e.args[0]));
      return call("ptx::rsqrt_approx_ftz_f32");
    case Intrinsic::ThreadIdx:
      return threads_->thread;
    case Intrinsic::LaneIdx:
      return threads_->lane;
    case Intrinsic::WarpIdx:
      return threads_->warp;
    case Intrinsic::BlockIdxX:
    case Intrinsic::BlockIdxY:
    case Intrinsic::BlockIdxZ:
      return threads_->block[static_cast<int>(e.callee) - static_cast<int>(Intrinsic::BlockIdxX)];
    case Intrinsic::EvictFirst:
      return "ptx::createpolicy_evict_first()";
    case Intrinsic::EvictLast:
      return "ptx::createpolicy_evict_last()";
    case Intrinsic::ShflXor: {
      const int64_t mask = *Constant(e.args[1]);
      if (type != Elem::kS32)
        return fmt::format("ptx::shfl_sync_bfly<{}>({})", mask, Print(e.args[0]));
      return fmt::format("static_cast<int>(ptx::shfl_sync_bfly<{}>(static_cast<uint32_t>({})))",
                         mask, Print(e.args[0]));
    }
    case Intrinsic::MaxBits:
      return call("choreo::max_bits");
    case Intrinsic::Pin:
      return call("ptx::pin");
    case Intrinsic::Swizzle32:
      return call("choreo::swizzle<32>");
    case Intrinsic::Swizzle64:
      return call("choreo::swizzle<64>");
    case Intrinsic::Swizzle128:
      return call("choreo::swizzle<128>");
  }
  CHOREO_UNREACHABLE();
}

std::string ExprPrinter::PrintCast(ExprId operand, Elem to) const {
  const Elem from = TypeOf(operand);
  if (to == Elem::kBool) {
    return IsHalf(from) ? fmt::format("({} != 0.0f)", AsF32(operand))
                        : fmt::format("({} != 0)", Print(operand, 9));
  }
  if (IsHalf(to)) {
    const std::string value = from == Elem::kF32 || IsHalf(from)
                                  ? AsF32(operand)
                                  : fmt::format("static_cast<float>({})", Print(operand));
    return fmt::format("choreo::from_f32<{}>({})", DeviceType(to), value);
  }
  if (IsHalf(from)) {
    return to == Elem::kF32 ? AsF32(operand)
                            : fmt::format("static_cast<{}>({})", DeviceType(to), AsF32(operand));
  }
  return fmt::format("static_cast<{}>({})", DeviceType(to), Print(operand));
}

std::string ExprPrinter::AsF32(ExprId id) const {
  const ir::Expr& expr = kernel_.exprs[id];
  if (!IsHalf(expr.type)) return Print(id);
  if (const auto* constant = std::get_if<ir::FloatConst>(&expr.node)) {
    return FloatLiteral(constant->value, Elem::kF32);
  }
  if (const auto* element = std::get_if<ir::FragElem>(&expr.node)) {
    return fmt::format("choreo::get<{}>({}, {})", DeviceType(expr.type), names_.Of(element->frag),
                       Print(element->index[0]));
  }
  return fmt::format("choreo::to_f32({})", Print(id));
}

std::string ExprPrinter::Unrounded(ExprId id) const {
  const auto* cast = std::get_if<ir::Cast>(&kernel_.exprs[id].node);
  if (cast != nullptr && IsHalf(TypeOf(id)) && TypeOf(cast->operand) == Elem::kF32) {
    return Print(cast->operand);
  }
  return AsF32(id);
}

std::string ExprPrinter::Element(ir::StorageId storage, ExprId index) const {
  return fmt::format("{}[{}]", names_.Of(storage), Print(index));
}

std::string ExprPrinter::Pointer(ir::StorageId storage, ExprId index) const {
  if (Constant(index) == 0) return names_.Of(storage);
  return fmt::format("{} + {}", names_.Of(storage), Print(index, kAdditive));
}

std::string ExprPrinter::SharedAddress(ir::StorageId storage, ExprId index) const {
  // An element index that is a swizzled byte offset over the size: the byte offset itself.
  const auto* quotient = std::get_if<ir::Binary>(&kernel_.exprs[index].node);
  if (quotient != nullptr && quotient->op == BinaryOp::Div &&
      Constant(quotient->right) == Bytes(kernel_.storages[storage].elem)) {
    const auto* call = std::get_if<ir::Call>(&kernel_.exprs[quotient->left].node);
    if (call != nullptr && call->callee >= ir::Intrinsic::Swizzle32) {
      return fmt::format("choreo::shared_address({}) + {}", names_.Of(storage),
                         Print(quotient->left));
    }
  }
  return fmt::format("choreo::shared_address({})", Pointer(storage, index));
}

std::string ExprPrinter::Plus(ExprId index, int64_t offset) const {
  if (const auto value = Constant(index)) return fmt::to_string(*value + offset);
  return offset == 0 ? Print(index) : fmt::format("{} + {}", Print(index, kAdditive), offset);
}

}  // namespace choreo::codegen
