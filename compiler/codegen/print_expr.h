// Expressions of lowered IR as C++: no more parentheses than the meaning and the reader need.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/names.h"
#include "ir/ir.h"

namespace choreo::codegen {

// C++ names of the thread's coordinates, defined at the head of a kernel that uses them.
struct ThreadNames {
  std::string thread, lane, warp;
  std::string block[3];
};

class ExprPrinter {
 public:
  // `threads` is null for host code.
  ExprPrinter(const ir::Kernel& kernel, const Names& names, const ThreadNames* threads)
      : kernel_(kernel), names_(names), threads_(threads) {}

  // The expression; as an operand of an operator of at least this precedence where that is given.
  std::string Print(ir::ExprId id, int context = 0) const;
  // The value as f32, for an expression of any float type; what it was rounded from, if it is
  // rounded again where it is used.
  std::string AsF32(ir::ExprId id) const;
  std::string Unrounded(ir::ExprId id) const;
  // `base[index]`, `base + index`, and the 32-bit address of shared memory there.
  std::string Element(ir::StorageId storage, ir::ExprId index) const;
  std::string Pointer(ir::StorageId storage, ir::ExprId index) const;
  std::string SharedAddress(ir::StorageId storage, ir::ExprId index) const;
  // `index + offset`.
  std::string Plus(ir::ExprId index, int64_t offset) const;

  static constexpr int kAdditive = 12;
  static constexpr int kUnary = 15;

 private:
  struct Printed {
    std::string text;
    int precedence;
  };
  Printed Node(ir::ExprId id) const;
  Printed PrintBinary(const ir::Binary& e) const;
  std::string PrintCall(const ir::Call& e, Elem type) const;
  std::string PrintCast(ir::ExprId operand, Elem to) const;
  std::string Args(const std::vector<ir::ExprId>& args) const;
  Elem TypeOf(ir::ExprId id) const { return kernel_.exprs[id].type; }
  std::optional<int64_t> Constant(ir::ExprId id) const;

  const ir::Kernel& kernel_;
  const Names& names_;
  const ThreadNames* threads_;
};

}  // namespace choreo::codegen
