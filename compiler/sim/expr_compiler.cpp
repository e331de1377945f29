#include "sim/expr_compiler.h"

#include <algorithm>
#include <bit>
#include <variant>

#include "sim/cta.h"
#include "sim/expr_ops.h"
#include "sim/numeric.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

int32_t ElementCount(const ir::Kernel& kernel, const ir::Storage& storage) {
  int64_t count = 1;
  for (ir::ExprId dim : storage.dims) {
    const auto* value = std::get_if<ir::IntConst>(&kernel.exprs[dim].node);
    CHOREO_CHECK(value != nullptr, "dimension of `{}` is not constant", storage.name);
    count *= value->value;
  }
  switch (storage.kind == ir::StorageKind::Frag ? storage.layout : ir::FragLayout::None) {
    case ir::FragLayout::Accumulator:
      count = count / 128;
      break;
    case ir::FragLayout::Row:
      count = count / 32;
      break;
    case ir::FragLayout::None:
      break;
  }
  return static_cast<int32_t>(count * storage.array_size);
}

}  // namespace

Slot Program::ElementSlot(ir::StorageId storage, int64_t element) const {
  return storage_slots[storage.value] +
         static_cast<Slot>(element) * SlotsOf(kernel->storages[storage].elem);
}

ExprCompiler::ExprCompiler(const ir::Kernel& kernel, Program& program)
    : kernel_(kernel), program_(program) {
  program_.kernel = &kernel;
  program_.tid = NewSlot(Elem::kS32);
  program_.lane = NewSlot(Elem::kS32);
  program_.warp = NewSlot(Elem::kS32);
  for (Slot& slot : program_.ctaid) slot = NewSlot(Elem::kS32);
  for (const ir::Var& var : kernel.vars) program_.var_slots.push_back(NewSlot(var.type));
  for (const ir::Storage& storage : kernel.storages) {
    int32_t elements = 0;
    Slot first = kNoSlot;
    if (storage.kind == ir::StorageKind::Frag || storage.kind == ir::StorageKind::Local) {
      elements = ElementCount(kernel, storage);
      first = static_cast<Slot>(program_.initial.size());
      program_.initial.Resize(first + static_cast<size_t>(elements) * SlotsOf(storage.elem));
    } else if (storage.kind == ir::StorageKind::Shared) {
      elements = storage.tile_bytes * storage.array_size;
    }
    program_.storage_slots.push_back(first);
    program_.elements.push_back(elements);
  }
}

Slot ExprCompiler::NewSlot(Elem elem) {
  const auto slot = static_cast<Slot>(program_.initial.size());
  program_.initial.Resize(slot + SlotsOf(elem));
  return slot;
}

Slot ExprCompiler::Const(Elem elem, int64_t value) {
  if (IsFloat(elem)) return FloatConst(elem, static_cast<double>(value));
  const auto [it, added] = constants_.try_emplace({elem, value}, kNoSlot);
  if (!added) return it->second;
  const Slot slot = it->second = NewSlot(elem);
  program_.initial.poison[slot] = 0;
  for (int l = 0; l < kLanes; ++l) {
    if (SlotsOf(elem) == 2) {
      program_.initial.At<int64_t>(slot)[l] = value;
    } else {
      program_.initial.At<int32_t>(slot)[l] = static_cast<int32_t>(value);
    }
  }
  return slot;
}

Slot ExprCompiler::FloatConst(Elem elem, double value) {
  const auto [it, added] = constants_.try_emplace({elem, std::bit_cast<int64_t>(value)}, kNoSlot);
  if (!added) return it->second;
  const Slot slot = it->second = NewSlot(elem);
  program_.initial.poison[slot] = 0;
  for (int l = 0; l < kLanes; ++l) {
    if (elem == Elem::kF64) {
      program_.initial.At<double>(slot)[l] = value;
    } else {
      program_.initial.At<float>(slot)[l] = static_cast<float>(value);
    }
  }
  return slot;
}

uint32_t ExprCompiler::BeginOp() {
  next_temporary_ = 0;
  touched_.clear();
  return static_cast<uint32_t>(program_.instrs.size());
}

Slot ExprCompiler::Emit(InstrFn fn, Elem elem, Slot a, Slot b, Slot c, int64_t imm) {
  const Slot dst = kTemporary + next_temporary_;
  next_temporary_ += SlotsOf(elem);
  temporaries_ = std::max(temporaries_, next_temporary_);
  program_.instrs.push_back({fn, dst, a, b, c, imm});
  return dst;
}

Slot ExprCompiler::Compile(ir::ExprId id) {
  const ir::Expr& expr = kernel_.exprs[id];
  return std::visit([&](const auto& node) { return CompileNode(expr.type, node); }, expr.node);
}

Slot ExprCompiler::CompileAs(ir::ExprId id, Elem elem) {
  if (const auto* node = std::get_if<ir::IntConst>(&kernel_.exprs[id].node)) {
    return Const(elem, node->value);
  }
  const Slot slot = Compile(id);
  if (MachineOf(TypeOf(id)) == MachineOf(elem)) return slot;
  return Emit(CastFn(TypeOf(id), elem), elem, slot);
}

void ExprCompiler::CompileInto(ir::ExprId id, Slot dst) {
  const size_t before = program_.instrs.size();
  const Slot slot = Compile(id);
  // The last instruction made the value: it can put it at the right place itself.
  if (program_.instrs.size() > before && program_.instrs.back().dst == slot) {
    program_.instrs.back().dst = dst;
    return;
  }
  program_.instrs.push_back({MoveFn(TypeOf(id)), dst, slot});
}

void ExprCompiler::Finish() {
  const auto base = static_cast<Slot>(program_.initial.size());
  program_.initial.Resize(base + temporaries_);
  const auto move = [&](Slot& slot) {
    if (slot != kNoSlot && slot >= kTemporary) slot = slot - kTemporary + base;
  };
  for (Instr& instr : program_.instrs) {
    move(instr.dst);
    move(instr.a);
    move(instr.b);
    move(instr.c);
  }
  for (FlatOp& op : program_.ops) {
    for (Slot& slot : op.slot) move(slot);
  }
  for (Slot& slot : program_.slot_lists) move(slot);
}

Slot ExprCompiler::Rounded(Elem type, Slot slot) {
  const InstrFn fn = RoundFn(type);
  if (fn == nullptr) return slot;
  slot = Emit(fn, type, slot);
  if (IsFloat(type)) On(Pipe::Float);
  return slot;
}

// A product that an addition takes in as one fused instruction.
bool ExprCompiler::IsFloatProduct(ir::ExprId id) const {
  const auto* binary = std::get_if<ir::Binary>(&kernel_.exprs[id].node);
  return binary != nullptr && binary->op == ir::BinaryOp::Mul && IsFloat(TypeOf(id));
}

bool ExprCompiler::NeedsMask(ir::ExprId id) const {
  const ir::ExprNode& node = kernel_.exprs[id].node;
  const auto constant = [&](ir::ExprId e) {
    const auto* value = std::get_if<ir::IntConst>(&kernel_.exprs[e].node);
    return value != nullptr && value->value != 0;
  };
  if (const auto* unary = std::get_if<ir::Unary>(&node)) return NeedsMask(unary->operand);
  if (const auto* cast = std::get_if<ir::Cast>(&node)) return NeedsMask(cast->operand);
  if (const auto* binary = std::get_if<ir::Binary>(&node)) {
    const bool divides = binary->op == ir::BinaryOp::Div || binary->op == ir::BinaryOp::Mod;
    if (divides && !IsFloat(TypeOf(id)) && !constant(binary->right)) return true;
    return NeedsMask(binary->left) || NeedsMask(binary->right);
  }
  if (const auto* select = std::get_if<ir::Select>(&node)) {
    return NeedsMask(select->condition) || NeedsMask(select->then_value) ||
           NeedsMask(select->else_value);
  }
  if (const auto* call = std::get_if<ir::Call>(&node)) {
    if (call->callee == ir::Intrinsic::ShflXor) return true;
    if (call->callee == ir::Intrinsic::CDiv && !constant(call->args[1])) return true;
    return std::any_of(call->args.begin(), call->args.end(),
                       [&](ir::ExprId arg) { return NeedsMask(arg); });
  }
  if (const auto* frag = std::get_if<ir::FragElem>(&node)) {
    return !std::holds_alternative<ir::IntConst>(kernel_.exprs[frag->index[0]].node);
  }
  return std::holds_alternative<ir::MemElem>(node);
}

Slot ExprCompiler::CompileMasked(ir::ExprId id, Slot condition, bool inverse) {
  if (!NeedsMask(id)) return Compile(id);
  program_.instrs.push_back({inverse ? PushInverseMaskFn() : PushMaskFn(), kNoSlot, condition});
  const Slot slot = Compile(id);
  program_.instrs.push_back({PopMaskFn()});
  return slot;
}

Slot ExprCompiler::CompileNode(Elem type, const ir::IntConst& node) {
  return Const(type, node.value);
}
Slot ExprCompiler::CompileNode(Elem type, const ir::FloatConst& node) {
  return FloatConst(type, node.value);
}
Slot ExprCompiler::CompileNode(Elem, const ir::VarRef& node) { return program_.VarSlot(node.var); }

Slot ExprCompiler::CompileNode(Elem type, const ir::Unary& node) {
  // Negation is a modifier of the instruction that uses it.
  const Slot operand = Compile(node.operand);
  return Rounded(type, Emit(UnaryFn(node.op, TypeOf(node.operand)), type, operand));
}

Slot ExprCompiler::CompileNode(Elem type, const ir::Binary& node) {
  const Elem operand_type = TypeOf(node.left);
  const Slot left = Compile(node.left);
  if (node.op == ir::BinaryOp::And || node.op == ir::BinaryOp::Or) {
    const Slot right = CompileMasked(node.right, left, node.op == ir::BinaryOp::Or);
    return Emit(BinaryFn(node.op, operand_type), type, left, right);
  }
  const Slot right = CompileAs(node.right, operand_type);
  const Slot result = Emit(BinaryFn(node.op, operand_type), type, left, right);
  if (IsFloat(operand_type)) {
    const bool fused = (node.op == ir::BinaryOp::Add || node.op == ir::BinaryOp::Sub) &&
                       (IsFloatProduct(node.left) || IsFloatProduct(node.right));
    On(node.op == ir::BinaryOp::Div ? Pipe::Special : fused ? Pipe::None : Pipe::Float);
  }
  return ir::IsComparison(node.op) ? result : Rounded(type, result);
}

Slot ExprCompiler::CompileNode(Elem type, const ir::Select& node) {
  const Slot condition = Compile(node.condition);
  const Slot then_value = CompileMasked(node.then_value, condition, false);
  const Slot else_value = CompileMasked(node.else_value, condition, true);
  const Slot result = Emit(SelectFn(type), type, condition, then_value, else_value);
  if (IsFloat(type)) On(Pipe::Float);
  return result;
}

Slot ExprCompiler::CompileNode(Elem type, const ir::Cast& node) {
  const Elem from = TypeOf(node.operand);
  Slot slot = CompileAs(node.operand, from);
  if (from == type) return slot;
  if (MachineOf(from) != MachineOf(type) || type == Elem::kBool) {
    slot = Emit(CastFn(from, type), type, slot);
  }
  return Rounded(type, slot);
}

Slot ExprCompiler::CompileNode(Elem type, const ir::Call& node) {
  using ir::Intrinsic;
  switch (node.callee) {
    case Intrinsic::ThreadIdx:
      return program_.tid;
    case Intrinsic::LaneIdx:
      return program_.lane;
    case Intrinsic::WarpIdx:
      return program_.warp;
    case Intrinsic::BlockIdxX:
      return program_.ctaid[0];
    case Intrinsic::BlockIdxY:
      return program_.ctaid[1];
    case Intrinsic::BlockIdxZ:
      return program_.ctaid[2];
    case Intrinsic::EvictFirst:
    case Intrinsic::EvictLast:
      return Const(type, 0);  // only a hint
    case Intrinsic::ShflXor: {
      const auto* mask = std::get_if<ir::IntConst>(&kernel_.exprs[node.args[1]].node);
      CHOREO_CHECK(mask != nullptr, "the lane mask of a shuffle is not constant");
      const Slot value = Compile(node.args[0]);
      const Slot result = Emit(ShuffleFn(type), type, value, kNoSlot, kNoSlot, mask->value);
      On(Pipe::Shuffle);
      return result;
    }
    case Intrinsic::Swizzle32:
      return Emit(SwizzleFn(), type, Compile(node.args[0]), kNoSlot, kNoSlot, 32);
    case Intrinsic::Swizzle64:
      return Emit(SwizzleFn(), type, Compile(node.args[0]), kNoSlot, kNoSlot, 64);
    case Intrinsic::Swizzle128:
      return Emit(SwizzleFn(), type, Compile(node.args[0]), kNoSlot, kNoSlot, 128);
    default:
      break;
  }
  Slot args[3] = {kNoSlot, kNoSlot, kNoSlot};
  CHOREO_CHECK(node.args.size() <= 3);
  for (size_t i = 0; i < node.args.size(); ++i) args[i] = CompileAs(node.args[i], type);
  const Slot result = Emit(CallFn(node.callee, type), type, args[0], args[1], args[2]);
  const bool special = node.callee == Intrinsic::Exp2 || node.callee == Intrinsic::Exp ||
                       node.callee == Intrinsic::Log || node.callee == Intrinsic::Log2 ||
                       node.callee == Intrinsic::Rsqrt;
  if (IsFloat(type)) On(special ? Pipe::Special : Pipe::Float);
  return Rounded(type, result);
}

Slot ExprCompiler::Element(ir::StorageId storage, ir::ExprId index) {
  if (const auto* constant = std::get_if<ir::IntConst>(&kernel_.exprs[index].node)) {
    CHOREO_CHECK(constant->value >= 0 && constant->value < program_.elements[storage.value],
                 "element {} of `{}`", constant->value, kernel_.storages[storage].name);
    return program_.ElementSlot(storage, constant->value);
  }
  return ElementAt(storage, CompileAs(index, Elem::kS32));
}

Slot ExprCompiler::ElementAt(ir::StorageId id, Slot index) {
  const ir::Storage& storage = kernel_.storages[id];
  if (storage.kind == ir::StorageKind::Param || storage.kind == ir::StorageKind::Shared) {
    const Slot value =
        Emit(LoadFn(storage.kind, storage.elem), storage.elem, index, kNoSlot, kNoSlot, id.value);
    On(storage.kind == ir::StorageKind::Param ? Pipe::GlobalLoad : Pipe::SharedLoad);
    return value;
  }
  return Emit(IndexedElementFn(storage.elem), storage.elem, index, kNoSlot,
              program_.storage_slots[id.value], id.value);
}

Slot ExprCompiler::CompileNode(Elem, const ir::FragElem& node) {
  CHOREO_CHECK(node.index.size() == 1, "a lowered fragment has one index");
  if (std::find(touched_.begin(), touched_.end(), node.frag) == touched_.end()) {
    touched_.push_back(node.frag);
    program_.instrs.push_back({TouchFn(), kNoSlot, kNoSlot, kNoSlot, kNoSlot, node.frag.value});
  }
  return Element(node.frag, node.index[0]);
}

Slot ExprCompiler::CompileNode(Elem, const ir::ViewElem&) {
  CHOREO_UNREACHABLE("a view element in lowered state");
}

Slot ExprCompiler::CompileNode(Elem, const ir::MemElem& node) {
  const ir::Storage& storage = kernel_.storages[node.storage];
  if (storage.kind == ir::StorageKind::Local) return Element(node.storage, node.index);
  return ElementAt(node.storage, CompileAs(node.index, Elem::kS64));
}

Slot ExprCompiler::CompileNode(Elem type, const ir::SmemDesc& node) {
  const ir::Storage& storage = kernel_.storages[node.storage];
  CHOREO_CHECK(storage.byte_offset >= 0, "`{}` has no place in shared memory", storage.name);
  const Slot offset =
      Emit(BinaryFn(ir::BinaryOp::Add, Elem::kS32), Elem::kS32,
           CompileAs(node.byte_offset, Elem::kS32), Const(Elem::kS32, storage.byte_offset));
  const uint64_t layout = node.swizzle == 128  ? 1
                          : node.swizzle == 64 ? 2
                          : node.swizzle == 32 ? 3
                                               : 0;
  const auto field = [](int32_t bytes) {
    return static_cast<uint64_t>((static_cast<uint32_t>(bytes) & 0x3ffffu) >> 4);
  };
  const uint64_t fields =
      field(node.leading_bytes) << 16 | field(node.stride_bytes) << 32 | layout << 62;
  return Emit(DescriptorFn(), type, offset, kNoSlot, kNoSlot, static_cast<int64_t>(fields));
}

}  // namespace choreo::sim
