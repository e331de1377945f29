#include "ir/ir.h"

#include <array>

#include "support/check.h"

namespace choreo::ir {

Op::Op(const Op&) = default;
Op::Op(Op&&) noexcept = default;
Op& Op::operator=(const Op&) = default;
Op& Op::operator=(Op&&) noexcept = default;
Op::~Op() = default;
namespace {

constexpr std::array<std::string_view, std::variant_size_v<OpNode>> kOpNames = {
#define CHOREO_OP(Struct, name, states) name,
#include "ir/op_kind.def"
    "none"};

constexpr std::array kUnarySpellings = {
#define CHOREO_UNARY(kind, spelling) std::string_view(spelling),
#include "ir/expr_op.def"
};
constexpr std::array kBinarySpellings = {
#define CHOREO_BINARY(kind, spelling) std::string_view(spelling),
#include "ir/expr_op.def"
};
constexpr std::array kIntrinsicNames = {
#define CHOREO_INTRINSIC(kind, name, arity) std::string_view(name),
#include "ir/expr_op.def"
};

template <class E, size_t N>
std::string_view At(const std::array<std::string_view, N>& table, E value) {
  CHOREO_CHECK(static_cast<size_t>(value) < N);
  return table[static_cast<size_t>(value)];
}

}  // namespace

std::string_view Name(const OpNode& node) { return kOpNames[node.index()]; }
std::string_view Spelling(UnaryOp op) { return At(kUnarySpellings, op); }
std::string_view Spelling(BinaryOp op) { return At(kBinarySpellings, op); }
std::string_view Spelling(Intrinsic intrinsic) { return At(kIntrinsicNames, intrinsic); }

bool IsComparison(BinaryOp op) {
  switch (op) {
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      return true;
    default:
      return false;
  }
}

}  // namespace choreo::ir
