// Values of dimensions and scalar parameters for one execution: those that `--shape` gives, then
// the dimensions that a host assertion determines: `assert(A == B)`, `assert(T == B * cdiv(S,
// 128))`. In: a kernel and the values of `--shape`. Out: a text for each variable that has a value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "driver/arguments.h"
#include "ir/ir.h"

namespace choreo::driver {

// The value `--shape` gives to a name; null: none.
const std::string* Find(const std::vector<ShapeValue>& shape, std::string_view name);

class Dimensions {
 public:
  Dimensions(const ir::Kernel& kernel, const std::vector<ShapeValue>& shape);
  const std::string* Text(ir::VarId var) const;

 private:
  // Whether the condition, an equality or several joined by `&&`, gave a dimension its value.
  bool Equate(ir::ExprId condition);
  bool Adopt(ir::ExprId to, ir::ExprId from);
  std::optional<int64_t> Value(ir::ExprId e) const;
  std::optional<int64_t> ValueOfCall(const ir::Call& call, Elem type) const;

  const ir::Kernel& kernel_;
  std::unordered_map<ir::VarId, std::string> texts_;
  std::unordered_map<ir::VarId, ir::ExprId> lets_;  // host scalars
};

}  // namespace choreo::driver
