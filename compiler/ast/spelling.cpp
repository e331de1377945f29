#include "ast/spelling.h"

#include "support/check.h"

namespace choreo::ast {

std::string_view Spelling(UnaryOp op) {
  switch (op) {
    case UnaryOp::Plus:
      return "+";
    case UnaryOp::Minus:
      return "-";
    case UnaryOp::Not:
      return "!";
    case UnaryOp::BitNot:
      return "~";
    case UnaryOp::BoundOf:
      return "#";
  }
  CHOREO_UNREACHABLE("unary operator");
}

std::string_view Spelling(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
      return "+";
    case BinaryOp::Sub:
      return "-";
    case BinaryOp::Mul:
      return "*";
    case BinaryOp::Div:
      return "/";
    case BinaryOp::Mod:
      return "%";
    case BinaryOp::Shl:
      return "<<";
    case BinaryOp::Shr:
      return ">>";
    case BinaryOp::BitAnd:
      return "&";
    case BinaryOp::BitOr:
      return "|";
    case BinaryOp::BitXor:
      return "^";
    case BinaryOp::And:
      return "&&";
    case BinaryOp::Or:
      return "||";
    case BinaryOp::Less:
      return "<";
    case BinaryOp::LessEqual:
      return "<=";
    case BinaryOp::Greater:
      return ">";
    case BinaryOp::GreaterEqual:
      return ">=";
    case BinaryOp::Equal:
      return "==";
    case BinaryOp::NotEqual:
      return "!=";
    case BinaryOp::Compose:
      return "#";
  }
  CHOREO_UNREACHABLE("binary operator");
}

std::string_view Spelling(StorageClass storage) {
  switch (storage) {
    case StorageClass::Global:
      return "global";
    case StorageClass::Shared:
      return "shared";
    case StorageClass::Local:
      return "local";
    case StorageClass::Frag:
      return "frag";
  }
  CHOREO_UNREACHABLE("storage class");
}

std::string_view Spelling(Level level) {
  switch (level) {
    case Level::Block:
      return "block";
    case Level::Warpgroup:
      return "group-4";
    case Level::Warp:
      return "group";
    case Level::Thread:
      return "thread";
  }
  CHOREO_UNREACHABLE("level");
}

std::string_view Spelling(MmaLayout layout) { return layout == MmaLayout::Row ? "row" : "col"; }

std::string_view Spelling(AtomicOp op) {
  switch (op) {
    case AtomicOp::Add:
      return "add";
    case AtomicOp::Max:
      return "max";
    case AtomicOp::Min:
      return "min";
  }
  CHOREO_UNREACHABLE("atomic operation");
}

std::string_view Spelling(EvictPolicy policy) {
  switch (policy) {
    case EvictPolicy::None:
      return "";
    case EvictPolicy::First:
      return "evict_first";
    case EvictPolicy::Last:
      return "evict_last";
  }
  CHOREO_UNREACHABLE("evict policy");
}

}  // namespace choreo::ast
