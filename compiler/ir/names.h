// Names of variables and storage objects that are unique within a kernel.
#pragma once

#include <string>

#include "ir/ir.h"

namespace choreo::ir {

// Text names with their sigil: `%i`, `%i.1`, `$q_s`.
struct TextNames {
  IndexedVector<VarId, std::string> vars;
  IndexedVector<StorageId, std::string> storages;
};
TextNames MakeTextNames(const Kernel& kernel);

bool IsIdentifier(std::string_view name);

}  // namespace choreo::ir
