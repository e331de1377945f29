#include "lex/condition.h"

#include <limits>
#include <utility>

#include "lex/literal.h"

namespace choreo::lex {
namespace {

constexpr int kMaxDepth = 256;

// intmax_t or uintmax_t, as C has it.
struct Value {
  uint64_t bits = 0;
  bool is_unsigned = false;
  int64_t Signed() const { return static_cast<int64_t>(bits); }
};
Value Boolean(bool b) { return {b ? 1u : 0u, false}; }

int Precedence(TokenKind kind) {
  switch (kind) {
    case TokenKind::PipePipe:
      return 1;
    case TokenKind::AmpAmp:
      return 2;
    case TokenKind::Pipe:
      return 3;
    case TokenKind::Caret:
      return 4;
    case TokenKind::Amp:
      return 5;
    case TokenKind::EqualEqual:
    case TokenKind::ExclaimEqual:
      return 6;
    case TokenKind::Less:
    case TokenKind::LessEqual:
    case TokenKind::Greater:
    case TokenKind::GreaterEqual:
      return 7;
    case TokenKind::Shl:
    case TokenKind::Shr:
      return 8;
    case TokenKind::Plus:
    case TokenKind::Minus:
      return 9;
    case TokenKind::Star:
    case TokenKind::Slash:
    case TokenKind::Percent:
      return 10;
    default:
      return 0;
  }
}

template <class T>
bool Compare(TokenKind op, T a, T b) {
  switch (op) {
    case TokenKind::Less:
      return a < b;
    case TokenKind::LessEqual:
      return a <= b;
    case TokenKind::Greater:
      return a > b;
    default:
      return a >= b;
  }
}

class Evaluator {
 public:
  Evaluator(Expander& expander, const MacroTable& macros, SourceRange line, diag::Emitter& diags)
      : expander_(expander), macros_(macros), line_(line), diags_(diags) {
    Advance();
  }

  ConditionValue Run() {
    if (token_.kind == TokenKind::EndOfFile) Fail("there is no condition");
    const Value value = Ternary(true);
    if (token_.kind != TokenKind::EndOfFile) Fail("expected an operator or the end of the line");
    result_.value = value.bits != 0 && result_.error.empty();
    return std::move(result_);
  }

 private:
  void Advance() {
    token_ = expander_.Next();
    // After the first mistake nothing more is read: every loop ends.
    if (!result_.error.empty()) token_ = PpToken();
  }

  Value Fail(std::string_view why) {
    if (result_.error.empty()) {
      result_.error = why;
      result_.error_range = token_.kind == TokenKind::EndOfFile ? line_ : token_.range;
    }
    token_ = PpToken();
    return {};
  }

  bool Eat(TokenKind kind) {
    if (token_.kind != kind) return false;
    Advance();
    return true;
  }

  Value Ternary(bool live) {
    const Value condition = Binary(1, live);
    if (!Eat(TokenKind::Question)) return condition;
    if (++depth_ > kMaxDepth) return Fail("the condition is nested too deeply");
    const bool taken = condition.bits != 0;
    Value first = Ternary(live && taken);
    if (!Eat(TokenKind::Colon)) return Fail("expected `:`");
    Value second = Ternary(live && !taken);
    --depth_;
    const bool is_unsigned = first.is_unsigned || second.is_unsigned;
    return {taken ? first.bits : second.bits, is_unsigned};
  }

  // `live`: the value counts, so that a division by zero is a mistake.
  Value Binary(int least, bool live) {
    Value left = Unary(live);
    while (true) {
      const TokenKind op = token_.kind;
      const int precedence = Precedence(op);
      if (precedence == 0 || precedence < least) return left;
      Advance();
      const bool skips = (op == TokenKind::AmpAmp && left.bits == 0) ||
                         (op == TokenKind::PipePipe && left.bits != 0);
      const Value right = Binary(precedence + 1, live && !skips);
      left = Apply(op, left, right, live);
    }
  }

  Value Apply(TokenKind op, Value a, Value b, bool live) {
    const bool is_unsigned = a.is_unsigned || b.is_unsigned;
    switch (op) {
      case TokenKind::PipePipe:
        return Boolean(a.bits != 0 || b.bits != 0);
      case TokenKind::AmpAmp:
        return Boolean(a.bits != 0 && b.bits != 0);
      case TokenKind::EqualEqual:
        return Boolean(a.bits == b.bits);
      case TokenKind::ExclaimEqual:
        return Boolean(a.bits != b.bits);
      case TokenKind::Less:
      case TokenKind::LessEqual:
      case TokenKind::Greater:
      case TokenKind::GreaterEqual:
        return Boolean(is_unsigned ? Compare(op, a.bits, b.bits)
                                   : Compare(op, a.Signed(), b.Signed()));
      case TokenKind::Pipe:
        return {a.bits | b.bits, is_unsigned};
      case TokenKind::Caret:
        return {a.bits ^ b.bits, is_unsigned};
      case TokenKind::Amp:
        return {a.bits & b.bits, is_unsigned};
      case TokenKind::Plus:
        return {a.bits + b.bits, is_unsigned};
      case TokenKind::Minus:
        return {a.bits - b.bits, is_unsigned};
      case TokenKind::Star:
        return {a.bits * b.bits, is_unsigned};
      case TokenKind::Shl:
      case TokenKind::Shr:
        return Shift(op == TokenKind::Shl, a, b);
      default:
        return Divide(op == TokenKind::Slash, a, b, is_unsigned, live);
    }
  }

  static Value Shift(bool left, Value a, Value b) {
    if (!b.is_unsigned && b.Signed() < 0) return Shift(!left, a, {0 - b.bits, true});
    const bool negative = !a.is_unsigned && a.Signed() < 0;
    if (b.bits >= 64) return {!left && negative ? ~uint64_t{0} : 0, a.is_unsigned};
    if (left) return {a.bits << b.bits, a.is_unsigned};
    return {negative ? static_cast<uint64_t>(a.Signed() >> b.bits) : a.bits >> b.bits,
            a.is_unsigned};
  }

  Value Divide(bool quotient, Value a, Value b, bool is_unsigned, bool live) {
    if (b.bits == 0) return live ? Fail("division by zero") : Value{0, is_unsigned};
    if (is_unsigned) return {quotient ? a.bits / b.bits : a.bits % b.bits, true};
    // The quotient of the least integer and -1 does not fit.
    if (b.Signed() == -1) return {quotient ? 0 - a.bits : 0, false};
    const int64_t value = quotient ? a.Signed() / b.Signed() : a.Signed() % b.Signed();
    return {static_cast<uint64_t>(value), false};
  }

  Value Unary(bool live) {
    if (++depth_ > kMaxDepth) return Fail("the condition is nested too deeply");
    const Value value = UnaryAt(live);
    --depth_;
    return value;
  }

  Value UnaryAt(bool live) {
    if (Eat(TokenKind::Plus)) return Unary(live);
    if (Eat(TokenKind::Exclaim)) return Boolean(Unary(live).bits == 0);
    if (Eat(TokenKind::Minus)) {
      const Value value = Unary(live);
      return {0 - value.bits, value.is_unsigned};
    }
    if (Eat(TokenKind::Tilde)) {
      const Value value = Unary(live);
      return {~value.bits, value.is_unsigned};
    }
    if (Eat(TokenKind::LParen)) {
      const Value value = Ternary(live);
      return Eat(TokenKind::RParen) ? value : Fail("expected `)`");
    }
    return Primary();
  }

  Value Primary() {
    const PpToken token = token_;
    if (token.kind == TokenKind::Integer || token.kind == TokenKind::Char) {
      Advance();
      const auto literal =
          token.kind == TokenKind::Integer ? ParseInteger(token, diags_) : ParseChar(token, diags_);
      if (!literal) return {};
      return {literal->value, IsUnsigned(literal->elem)};
    }
    if (token.kind != TokenKind::Identifier) return Fail("expected an integer");
    Advance();
    if (token.text == "defined") return Defined();
    if (token.text == "true") return Boolean(true);
    if (token.text == "false") return Boolean(false);
    result_.is_certain = false;
    if (token_.kind == TokenKind::LParen) {
      return Fail(fmt::format("`{}` is not a macro that is known here", token.text));
    }
    return {};
  }

  Value Defined() {
    const bool in_parentheses = Eat(TokenKind::LParen);
    if (token_.kind != TokenKind::Identifier) return Fail("`defined` asks for a name");
    const bool found = macros_.Find(token_.text) != nullptr;
    if (!found) result_.is_certain = false;
    Advance();
    if (in_parentheses && !Eat(TokenKind::RParen)) return Fail("expected `)`");
    return Boolean(found);
  }

  Expander& expander_;
  const MacroTable& macros_;
  SourceRange line_;
  diag::Emitter& diags_;
  PpToken token_;
  ConditionValue result_;
  int depth_ = 0;
};

}  // namespace

ConditionValue EvaluateCondition(const std::vector<PpToken>& tokens, SourceRange line,
                                 const MacroTable& macros, ExpansionState& state) {
  LineSource source(tokens);
  Expander expander(macros, source, state, /*in_condition=*/true);
  return Evaluator(expander, macros, line, state.diags).Run();
}

}  // namespace choreo::lex
