// The verifier's rules for expressions.
#include "ir/printer.h"
#include "ir/verifier_impl.h"

namespace choreo::ir {
namespace {

bool IsLowIntrinsic(Intrinsic intrinsic) { return intrinsic >= Intrinsic::ThreadIdx; }
bool IsComputed(Elem elem) { return IsInteger(elem) || elem == Elem::kF32 || elem == Elem::kF64; }
bool IsBits(Elem elem) { return IsInteger(elem) || elem == Elem::kBool; }

}  // namespace

std::string KernelVerifier::Text(ExprId id) const {
  std::string text = PrintExpr(kernel_, id);
  return text.size() > 60 ? text.substr(0, 57) + "…" : text;
}

bool KernelVerifier::CheckExpr(ExprId id, ViewId inside) {
  if (id.value >= kernel_.exprs.size()) {
    Report("expression id {} does not exist", id.value);
    return false;
  }
  if (depth_ > 2000) {
    Report("expressions nest deeper than 2000 levels");
    return false;
  }
  ++depth_;
  const bool fine = CheckNode(id, kernel_.exprs[id], inside);
  --depth_;
  return fine;
}

bool KernelVerifier::CheckNode(ExprId id, const Expr& expr, ViewId inside) {
  struct Visitor {
    KernelVerifier& v;
    ExprId id;
    ViewId inside;
    // Operands are older than what they are operands of: trees have no cycles.
    bool Operand(ExprId operand) const {
      if (operand.value >= id.value) {
        v.Report("an operand of expression {} is missing or younger than it", id.value);
        return false;
      }
      return v.CheckExpr(operand, inside);
    }
    bool All(const std::vector<ExprId>& list) const {
      for (const ExprId operand : list) {
        if (!Operand(operand)) return false;
      }
      return true;
    }
    bool operator()(const IntConst&) const {
      const Elem type = v.TypeOf(id);
      if (!IsBits(type)) v.Report("integer constant of type {}", Spelling(type));
      return IsBits(type);
    }
    bool operator()(const FloatConst&) const {
      const Elem type = v.TypeOf(id);
      if (!IsFloat(type)) v.Report("float constant of type {}", Spelling(type));
      return IsFloat(type);
    }
    bool operator()(const VarRef& e) const { return v.ValidVar(e.var) && v.InScope(e.var); }
    bool operator()(const Unary& e) const { return Operand(e.operand) && v.CheckUnary(e); }
    bool operator()(const Binary& e) const {
      return Operand(e.left) && Operand(e.right) && v.CheckBinary(e);
    }
    bool operator()(const Select& e) const {
      if (!Operand(e.condition) || !Operand(e.then_value) || !Operand(e.else_value)) return false;
      const bool fine =
          v.TypeOf(e.condition) == Elem::kBool && v.TypeOf(e.then_value) == v.TypeOf(e.else_value);
      if (!fine) v.Report("`{}` needs a bool and two values of one type", v.Text(id));
      return fine;
    }
    bool operator()(const Cast& e) const { return Operand(e.operand); }
    bool operator()(const Call& e) const { return All(e.args) && v.CheckCall(e); }
    bool operator()(const FragElem& e) const {
      return All(e.index) && v.IsFrag(e.frag, "the indexed storage") &&
             v.CheckIndex(v.kernel_.storages[e.frag], e.index);
    }
    bool operator()(const ViewElem& e) const {
      if (!v.ValidView(e.view)) return false;
      if (v.IsLowered()) v.Report("an element of a view in lowered state");
      if (inside && e.view >= inside) {
        v.Report("view #{} reads view #{}, which is not older", inside.value, e.view.value);
        return false;
      }
      const View& view = v.kernel_.views[e.view];
      if (!view.axes.empty()) v.Report("element of view #{}, which has axes", e.view.value);
      return view.axes.empty() && v.Alive(view.storage);
    }
    bool operator()(const MemElem& e) const {
      return Operand(e.index) && v.CheckMemory(e.storage, e.index, 1);
    }
    bool operator()(const SmemDesc& e) const {
      return Operand(e.byte_offset) && v.CheckDescriptor(e);
    }
  };
  if (!std::visit(Visitor{*this, id, inside}, expr.node)) return false;
  const auto derived = DerivedType(kernel_, expr.node);
  if (derived && *derived != expr.type) {
    Report("`{}` is {}, not {}", Text(id), Spelling(*derived), Spelling(expr.type));
    return false;
  }
  return true;
}

bool KernelVerifier::CheckUnary(const Unary& e) {
  const Elem type = TypeOf(e.operand);
  const bool fine = e.op == UnaryOp::Not   ? type == Elem::kBool
                    : e.op == UnaryOp::Neg ? IsComputed(type)
                                           : IsInteger(type);
  if (!fine) Report("`{}` of {}", Spelling(e.op), Spelling(type));
  return fine;
}

bool KernelVerifier::CheckBinary(const Binary& e) {
  const Elem left = TypeOf(e.left), right = TypeOf(e.right);
  bool fine = left == right;
  switch (e.op) {
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      fine = IsInteger(left) && IsInteger(right);
      break;
    case BinaryOp::And:
    case BinaryOp::Or:
      fine = fine && left == Elem::kBool;
      break;
    case BinaryOp::Mod:
      fine = fine && IsInteger(left);
      break;
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
      fine = fine && IsBits(left);
      break;
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      fine = fine && (IsComputed(left) || left == Elem::kBool);
      break;
    default:
      fine = fine && IsComputed(left);
  }
  if (!fine) Report("`{}` of {} and {}", Spelling(e.op), Spelling(left), Spelling(right));
  return fine;
}

bool KernelVerifier::CheckCall(const Call& e) {
  if (IsLowIntrinsic(e.callee) && IsTile()) {
    Report("`{}` in tile state", Spelling(e.callee));
    return false;
  }
  const Elem type = e.args.empty() ? Elem::kS32 : TypeOf(e.args[0]);
  bool fine = true;
  for (const ExprId arg : e.args) {
    fine = fine && (TypeOf(arg) == type || e.callee == Intrinsic::ShflXor);
  }
  switch (e.callee) {
    case Intrinsic::CDiv:
      fine = fine && IsInteger(type);
      break;
    case Intrinsic::Min:
    case Intrinsic::Max:
    case Intrinsic::Abs:
      fine = fine && IsComputed(type);
      break;
    case Intrinsic::Fma:
      fine = fine && (type == Elem::kF32 || type == Elem::kF64);
      break;
    case Intrinsic::ShflXor: {
      const auto mask = Constant(e.args[1]);
      if (!mask || *mask < 1 || *mask > 31) {
        Report("the mask of `shfl.xor` is a constant of 1 to 31");
        return false;
      }
      fine = type == Elem::kF32 || type == Elem::kS32 || type == Elem::kU32;
      break;
    }
    case Intrinsic::MaxBits:
      fine = fine && type == Elem::kF32;
      break;
    case Intrinsic::Pin:
      fine = fine && type == Elem::kU64;
      break;
    case Intrinsic::Swizzle32:
    case Intrinsic::Swizzle64:
    case Intrinsic::Swizzle128:
      fine = fine && type == Elem::kS32;
      break;
    default:
      fine = fine && (e.args.empty() || type == Elem::kF32);
  }
  if (!fine) Report("`{}` of operands of type {}", Spelling(e.callee), Spelling(type));
  return fine;
}

bool KernelVerifier::CheckIndex(const Storage& storage, const std::vector<ExprId>& index) {
  const bool logical =
      !IsLowered() && index.size() == storage.dims.size() && (IsTile() || index.size() != 1);
  if (!logical && (IsTile() || index.size() != 1)) {
    Report("`{}` has {} indices here, not {}", storage.name, IsTile() ? storage.dims.size() : 1,
           index.size());
    return false;
  }
  for (size_t i = 0; i < index.size(); ++i) {
    if (TypeOf(index[i]) != Elem::kS32) {
      Report("index `{}` of `{}` is not s32", Text(index[i]), storage.name);
      return false;
    }
    const auto value = Constant(index[i]);
    const auto bound = logical ? Constant(storage.dims[i]) : FragElems(kernel_, storage);
    if (value && bound && *bound != 0 && (*value < 0 || *value >= *bound)) {
      Report("index {} of `{}` is outside 0 to {}", *value, storage.name, *bound - 1);
      return false;
    }
  }
  return true;
}

bool KernelVerifier::CheckMemory(StorageId id, ExprId index, int64_t count) {
  if (!ValidStorage(id) || !Alive(id)) return false;
  const Storage& storage = kernel_.storages[id];
  if (IsTile() || storage.kind == StorageKind::Frag) {
    Report("`{}` accessed by linear index", storage.name);
    return false;
  }
  const Elem type = storage.kind == StorageKind::Param ? Elem::kS64 : Elem::kS32;
  if (TypeOf(index) != type) {
    Report("the index into `{}` is {}, not {}", storage.name, Spelling(TypeOf(index)),
           Spelling(type));
    return false;
  }
  const auto value = Constant(index);
  if (!value) return true;
  int64_t extent = INT64_MAX;
  if (storage.kind == StorageKind::Shared && storage.tile_bytes > 0) {
    extent = int64_t{storage.tile_bytes} * storage.array_size / Bytes(storage.elem);
  } else if (storage.kind == StorageKind::Local) {
    extent = storage.array_size;
    for (const ExprId dim : storage.dims) extent *= Constant(dim).value_or(1);
  }
  if (*value < 0 || *value > extent - count || *value % count != 0) {
    Report("{} elements at index {} of `{}`: outside it or not aligned", count, *value,
           storage.name);
    return false;
  }
  return true;
}

bool KernelVerifier::CheckDescriptor(const SmemDesc& e) {
  if (IsTile()) Report("a descriptor in tile state");
  if (!IsShared(e.storage, "the storage of a descriptor")) return false;
  if (!Typed(e.byte_offset, Elem::kS32, "the byte offset of a descriptor")) return false;
  for (const int32_t bytes : {e.leading_bytes, e.stride_bytes}) {
    if (bytes < 0 || bytes % 16 != 0 || bytes > 0x3fff0) {
      Report("descriptor field {} is no multiple of 16 up to 262128", bytes);
      return false;
    }
  }
  const auto offset = Constant(e.byte_offset);
  if (offset && (*offset < 0 || *offset % 16 != 0)) {
    Report("descriptor offset {} is no multiple of 16", *offset);
    return false;
  }
  const bool fine = e.swizzle == 0 || e.swizzle == 32 || e.swizzle == 64 || e.swizzle == 128;
  if (!fine) Report("descriptor swizzle {} is none of 0, 32, 64, 128", e.swizzle);
  return fine;
}

bool KernelVerifier::Typed(ExprId id, Elem type, std::string_view what) {
  if (!id) {
    Report("{} is missing", what);
    return false;
  }
  if (id.value < kernel_.exprs.size() && TypeOf(id) == type) return true;
  if (id.value >= kernel_.exprs.size()) {
    Report("{}: expression id {} does not exist", what, id.value);
  } else {
    Report("{} is {}, not {}", what, Spelling(TypeOf(id)), Spelling(type));
  }
  return false;
}

bool KernelVerifier::CheckList(const std::vector<ExprId>& ids, Elem type, std::string_view what) {
  for (const ExprId id : ids) {
    if (!Typed(id, type, what) || !CheckExpr(id)) return false;
  }
  return true;
}

}  // namespace choreo::ir
