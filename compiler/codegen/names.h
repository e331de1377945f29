// C++ names of a kernel's variables and storages: the user's, made valid and unique where they are
// visible. A name is given at the definition and serves until its scope closes; siblings may share
// it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/ir.h"

namespace choreo::codegen {

class Names {
 public:
  // `reserved`: names that mean something else in the text around, such as macros.
  Names(const ir::Kernel& kernel, const std::unordered_set<std::string>& reserved)
      : kernel_(kernel), reserved_(reserved) {}

  std::string Define(ir::VarId id);
  std::string Define(ir::StorageId id);
  // A name of the printer's own, close to `wanted`.
  std::string Define(std::string_view wanted);

  const std::string& Of(ir::VarId id) const;
  const std::string& Of(ir::StorageId id) const;

  void Enter() { scopes_.push_back(taken_order_.size()); }
  void Leave();

 private:
  std::string Take(std::string_view wanted);

  const ir::Kernel& kernel_;
  const std::unordered_set<std::string>& reserved_;
  std::unordered_map<ir::VarId, std::string> vars_;
  std::unordered_map<ir::StorageId, std::string> storages_;
  std::unordered_set<std::string> taken_;
  std::vector<std::string> taken_order_;
  std::vector<size_t> scopes_;
};

// The names that `#define` lines in `text` define.
void CollectMacros(std::string_view text, std::unordered_set<std::string>& names);

}  // namespace choreo::codegen
