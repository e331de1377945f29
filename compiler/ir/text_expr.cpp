// TextParser: expressions. Nothing is folded: what was written is what is made.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "ir/builder.h"
#include "ir/fold.h"
#include "ir/text_parser.h"

namespace choreo::ir {
namespace {

namespace kinds = diag::kinds;

std::optional<UnaryOp> UnaryFromSpelling(std::string_view text) {
#define CHOREO_UNARY(kind, spelling) \
  if (text == spelling) return UnaryOp::kind;
#include "ir/expr_op.def"
  return std::nullopt;
}

std::optional<BinaryOp> BinaryFromSpelling(std::string_view text) {
#define CHOREO_BINARY(kind, spelling) \
  if (text == spelling) return BinaryOp::kind;
#include "ir/expr_op.def"
  return std::nullopt;
}

struct IntrinsicInfo {
  Intrinsic intrinsic;
  size_t arity;
};
std::optional<IntrinsicInfo> IntrinsicFromName(std::string_view text) {
#define CHOREO_INTRINSIC(kind, name, arity) \
  if (text == name) return IntrinsicInfo{Intrinsic::kind, arity};
#include "ir/expr_op.def"
  return std::nullopt;
}

}  // namespace

ExprId TextParser::Add(ExprNode node, Elem type) {
  if (failed_) return ExprId();
  const Elem derived = DerivedType(*kernel_, node).value_or(type);
  return kernel_->exprs.Add(Expr{derived, std::move(node)});
}

ExprId TextParser::ParseExpr() {
  if (++depth_ > kMaxDepth) Fail(kinds::IrNesting, Peek(), kMaxDepth);
  const TextToken& token = Peek();
  ExprId result;
  switch (token.kind) {
    case Kind::Number:
      result = ParseNumber();
      break;
    case Kind::Var: {
      VarId var;
      Parse(var);
      if (!failed_) result = Add(VarRef{var});
      break;
    }
    case Kind::Storage:
      result = ParseElement();
      break;
    case Kind::Word:
      result = ParseCall();
      break;
    default:
      if (Accept("(")) {
        result = ParseParenthesised();
      } else {
        FailExpected("an expression");
      }
  }
  --depth_;
  return result;
}

ExprId TextParser::ParseParenthesised() {
  ExprId result;
  if (const auto unary =
          Peek().kind == Kind::Punct ? UnaryFromSpelling(Text(Peek())) : std::nullopt) {
    ++at_;
    const ExprId operand = ParseExpr();
    if (!failed_) result = Add(Unary{*unary, operand});
    Expect(")");
    return result;
  }
  const ExprId left = ParseExpr();
  if (Accept("?")) {
    const ExprId then_value = ParseExpr();
    Expect(":");
    const ExprId else_value = ParseExpr();
    if (!failed_) result = Add(Select{left, then_value, else_value});
  } else if (const auto binary =
                 Peek().kind == Kind::Punct ? BinaryFromSpelling(Text(Peek())) : std::nullopt) {
    ++at_;
    const ExprId right = ParseExpr();
    if (!failed_) result = Add(Binary{*binary, left, right});
  } else {
    FailExpected("an operator");
  }
  Expect(")");
  return result;
}

ExprId TextParser::ParseNumber() {
  const TextToken& token = Peek();
  ++at_;
  const std::string_view whole = Text(token);
  const size_t colon = whole.find(':');
  const std::string digits(whole.substr(0, colon));
  const bool is_float = digits.find_first_of(".enf") != std::string::npos;
  Elem type = is_float ? Elem::kF32 : Elem::kS32;
  if (colon != std::string_view::npos) {
    const auto named = ElemFromSpelling(whole.substr(colon + 1));
    if (!named) {
      Fail(kinds::IrBadConstant, token, whole, whole.substr(colon + 1));
      return ExprId();
    }
    type = *named;
  }
  if (IsFloat(type)) {
    const double value = std::strtod(digits.c_str(), nullptr);
    const double rounded = type == Elem::kF32 ? static_cast<float>(value) : value;
    // Too large to be finite, though not written as inf.
    if (std::isinf(rounded) && digits.find("inf") == std::string::npos) {
      Fail(kinds::IrBadConstant, token, whole, Spelling(type));
    }
    return Add(FloatConst{rounded}, type);
  }
  --at_;
  if (is_float || type == Elem::kBool) {
    Fail(kinds::IrBadConstant, token, whole, Spelling(type));
    return ExprId();
  }
  errno = 0;
  const int64_t value = std::strtoll(digits.c_str(), nullptr, 10);
  if (errno != 0 || !FitsElem(value, type)) {
    Fail(kinds::IrBadConstant, token, whole, Spelling(type));
    return ExprId();
  }
  ++at_;
  return Add(IntConst{value}, type);
}

// `$frag[r]`, `$frag[i, j]` or `$memory[index]`.
ExprId TextParser::ParseElement() {
  StorageId storage;
  Parse(storage);
  Expect("[");
  std::vector<ExprId> index = ParseArgs("]");
  if (failed_) return ExprId();
  if (kernel_->storages[storage].kind == StorageKind::Frag) {
    return Add(FragElem{storage, std::move(index)});
  }
  if (index.size() != 1) {
    FailExpected("one index of memory");
    return ExprId();
  }
  return Add(MemElem{storage, index[0]});
}

ExprId TextParser::ParseCall() {
  const TextToken& token = Peek();
  if (Is("true") || Is("false")) return ++at_, Add(IntConst{Text(token) == "true"}, Elem::kBool);
  const std::string_view name = ExpectKind(Kind::Word, "a function");
  const auto cast = ElemFromSpelling(name);
  const auto intrinsic = IntrinsicFromName(name);
  if (name != "elem" && name != "desc" && !cast && !intrinsic) {
    --at_;
    FailExpected("an expression");
    return ExprId();
  }
  Expect("(");
  if (name == "elem") {
    ViewId view;
    Parse(view);
    Expect(")");
    if (!failed_ && !view) FailExpected("a view");
    return failed_ ? ExprId() : Add(ViewElem{view});
  }
  if (name == "desc") {
    SmemDesc desc{};
    Parse(desc.storage);
    Expect(",");
    desc.byte_offset = ParseExpr();
    for (int32_t* field : {&desc.leading_bytes, &desc.stride_bytes, &desc.swizzle}) {
      Expect(",");
      Parse(*field);
    }
    Expect(")");
    return Add(desc);
  }
  std::vector<ExprId> args = ParseArgs(")");
  const size_t arity = cast ? 1 : intrinsic->arity;
  if (!failed_ && args.size() != arity) {
    Fail(kinds::IrExpected, token, fmt::format("{} operands of `{}`", arity, name),
         fmt::to_string(args.size()));
  }
  if (failed_) return ExprId();
  return cast ? Add(Cast{args[0]}, *cast) : Add(Call{intrinsic->intrinsic, std::move(args)});
}

std::vector<ExprId> TextParser::ParseArgs(std::string_view close) {
  std::vector<ExprId> args;
  while (!failed_ && !Is(close)) {
    if (!args.empty()) Expect(",");
    args.push_back(ParseExpr());
  }
  Expect(close);
  return args;
}

}  // namespace choreo::ir
