// Compiles IR expressions into instructions of a Program. Variables, fragment elements with
// constant index and constants are registers already and cost no instruction.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "ir/ir.h"
#include "sim/program.h"

namespace choreo::sim {

class ExprCompiler {
 public:
  ExprCompiler(const ir::Kernel& kernel, Program& program);

  // ---- places that live as long as the warp ----
  Slot NewSlot(Elem elem);
  Slot Const(Elem elem, int64_t value);
  Slot FloatConst(Elem elem, double value);

  // ---- one op's expressions: Begin, then Compile each, then the op takes [begin, end) ----
  uint32_t BeginOp();
  uint32_t EndOp() const { return static_cast<uint32_t>(program_.instrs.size()); }
  // The slot that holds the value once the instructions have run.
  Slot Compile(ir::ExprId id);
  // The same, converted to `elem`'s register type.
  Slot CompileAs(ir::ExprId id, Elem elem);
  void CompileInto(ir::ExprId id, Slot dst);
  // Emits dst = fn(a, b, c) into a temporary of type `elem`.
  Slot Emit(InstrFn fn, Elem elem, Slot a = kNoSlot, Slot b = kNoSlot, Slot c = kNoSlot,
            int64_t imm = 0);
  // The last instruction keeps this busy.
  void On(Pipe pipe) { program_.instrs.back().pipe = pipe; }
  // The element of a local array (index: s32) or of memory (s64) at a computed index.
  Slot ElementAt(ir::StorageId storage, Slot index);
  const Elem& TypeOf(ir::ExprId id) const { return kernel_.exprs[id].type; }
  // Temporaries lie behind all other slots; called once at the end.
  void Finish();

 private:
  Slot CompileNode(Elem type, const ir::IntConst& node);
  Slot CompileNode(Elem type, const ir::FloatConst& node);
  Slot CompileNode(Elem type, const ir::VarRef& node);
  Slot CompileNode(Elem type, const ir::Unary& node);
  Slot CompileNode(Elem type, const ir::Binary& node);
  Slot CompileNode(Elem type, const ir::Select& node);
  Slot CompileNode(Elem type, const ir::Cast& node);
  Slot CompileNode(Elem type, const ir::Call& node);
  Slot CompileNode(Elem type, const ir::FragElem& node);
  Slot CompileNode(Elem type, const ir::ViewElem& node);
  Slot CompileNode(Elem type, const ir::MemElem& node);
  Slot CompileNode(Elem type, const ir::SmemDesc& node);
  Slot Element(ir::StorageId storage, ir::ExprId index);
  Slot Rounded(Elem type, Slot slot);
  bool IsFloatProduct(ir::ExprId id) const;
  // Whether evaluating it for a lane that does not need it could be noticed.
  bool NeedsMask(ir::ExprId id) const;
  Slot CompileMasked(ir::ExprId id, Slot condition, bool inverse);

  const ir::Kernel& kernel_;
  Program& program_;
  std::map<std::pair<Elem, int64_t>, Slot> constants_;
  std::vector<ir::StorageId> touched_;  // fragments whose read this op has recorded
  // Temporaries are numbered from kTemporary on until Finish moves them behind the other slots.
  static constexpr Slot kTemporary = 0x40000000u;
  uint32_t next_temporary_ = 0, temporaries_ = 0;
};

}  // namespace choreo::sim
