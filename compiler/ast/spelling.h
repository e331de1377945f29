// How operators and other enumerated parts of nodes are written in source.
#pragma once

#include <string_view>

#include "ast/ast.h"

namespace choreo::ast {

std::string_view Spelling(UnaryOp op);
std::string_view Spelling(BinaryOp op);
std::string_view Spelling(StorageClass storage);
std::string_view Spelling(Level level);
std::string_view Spelling(MmaLayout layout);
std::string_view Spelling(AtomicOp op);
std::string_view Spelling(EvictPolicy policy);  // empty for None

}  // namespace choreo::ast
