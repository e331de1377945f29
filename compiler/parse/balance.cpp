#include "parse/balance.h"

#include <array>
#include <string>
#include <utility>

#include "parse/words.h"
#include "support/check.h"

namespace choreo::parse {
namespace {

using lex::Token;
using lex::TokenKind;

constexpr int kMaxReports = 100;  // enough to see what is wrong

constexpr size_t kParen = 0, kBracket = 1, kBrace = 2;
constexpr std::array<TokenKind, 3> kOpeners = {TokenKind::LParen, TokenKind::LBracket,
                                               TokenKind::LBrace};
constexpr std::array<TokenKind, 3> kClosers = {TokenKind::RParen, TokenKind::RBracket,
                                               TokenKind::RBrace};
constexpr std::array<std::string_view, 3> kOpenerText = {"(", "[", "{"};
constexpr std::array<std::string_view, 3> kCloserText = {")", "]", "}"};

// Index into kOpeners or kClosers, or 3.
size_t Find(const std::array<TokenKind, 3>& kinds, TokenKind kind) {
  size_t i = 0;
  while (i < kinds.size() && kinds[i] != kind) ++i;
  return i;
}

// Whether a `{` after this token holds values: `= {a, b}`, `foreach {i, j}`, `(…, {0}`.
bool IntroducesTuple(TokenKind kind) {
  switch (kind) {
    case TokenKind::KwApply:
    case TokenKind::KwForeach:
    case TokenKind::KwParallel:
    case TokenKind::KwWith:
    case TokenKind::KwBy:
    case TokenKind::KwReturn:
    case TokenKind::LParen:
    case TokenKind::LBracket:
    case TokenKind::Comma:
    case TokenKind::Question:
    case TokenKind::FatArrow:
      return true;
    default:
      return IsAssignment(kind);
  }
}

// `a + {1, 2}`; statements in the braces say that it is a body after a broken header.
bool IsTupleOperator(TokenKind kind) {
  switch (kind) {
    case TokenKind::Plus:
    case TokenKind::Minus:
    case TokenKind::Star:
    case TokenKind::Slash:
    case TokenKind::Percent:
    case TokenKind::Pipe:
      return true;
    default:
      return false;
  }
}

class Balancer {
 public:
  Balancer(const std::vector<Token>& tokens, diag::Emitter& diags)
      : tokens_(tokens), diags_(diags) {}

  Balanced Run() {
    MarkBraces();
    open_counts_.push_back({});
    // Braces that the lexer added at the end: it has reported the one that is missing.
    const size_t last = tokens_.size() - 2;
    braces_reported_ = tokens_.size() > 1 && tokens_[last].kind == TokenKind::RBrace &&
                       tokens_[last].use.begin.offset == tokens_[last].use.end;
    for (size_t i = 0; i < tokens_.size() && tokens_[i].kind != TokenKind::EndOfFile; ++i) Step(i);
    while (!open_.empty()) CloseOne(tokens_.back());
    Emit(tokens_.back());
    return std::move(out_);
  }

 private:
  struct Open {
    uint32_t index;  // of the opener in the output
    uint8_t kind;
    bool is_block;
    bool allows_semicolons;  // the header of a C++ `for`
  };

  // Naive matching of braces alone: which of them hold a `;`, at any depth.
  void MarkBraces() {
    holds_statements_.resize(tokens_.size());
    after_brace_.resize(tokens_.size());
    std::vector<size_t> stack;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == TokenKind::LBrace) stack.push_back(i);
      if (stack.empty()) continue;
      if (tokens_[i].kind == TokenKind::Semi) holds_statements_[stack.back()] = true;
      if (tokens_[i].kind == TokenKind::RBrace) {
        after_brace_[stack.back()] = i + 1 < tokens_.size() ? tokens_[i + 1].kind : TokenKind::Semi;
        const bool holds = holds_statements_[stack.back()];
        stack.pop_back();
        if (holds && !stack.empty()) holds_statements_[stack.back()] = true;
      }
    }
  }

  void Step(size_t i) {
    const Token& token = tokens_[i];
    const size_t opener = Find(kOpeners, token.kind);
    const size_t closer = Find(kClosers, token.kind);
    if (opener == kBrace) {
      OpenBrace(i);
    } else if (opener < kBrace) {
      const bool is_for = PreviousText() == "for" && opener == kParen;
      Push(token, opener, false, is_for);
    } else if (closer < 3) {
      Close(token, closer);
    } else {
      const bool ends = token.kind == TokenKind::Semi;
      if (InsideStatement() && ((ends && !open_.back().allows_semicolons) ||
                                (token.starts_line && StartsStatement(token.kind)))) {
        CloseUnclosed(token);
      }
      const bool starts = token.starts_line && StartsStatement(token.kind);
      if (starts && !InsideStatement()) NewStatement();  // also where a `;` is missing
      Emit(token);
      if (IsBrokenLiteral(token)) EndBrokenLine();
      if (ends && !InsideStatement()) NewStatement();
    }
  }

  // An unterminated literal took the rest of its line, and with it the brackets and `;` of the
  // statement.
  static bool IsBrokenLiteral(const Token& token) {
    return token.kind == TokenKind::String && token.text.size() == 2 &&
           token.range.end - token.range.begin.offset != 2;
  }
  void EndBrokenLine() {
    Damage(statement_);
    CloseUnclosed(out_.tokens.back());
    Token semi = Virtual(kParen);
    semi.kind = TokenKind::Semi;
    semi.text = ";";
    Emit(semi);
    NewStatement();
  }

  void OpenBrace(size_t i) {
    const Token& token = tokens_[i];
    const TokenKind previous = out_.tokens.empty() ? TokenKind::EndOfFile : out_.tokens.back().kind;
    const bool tuple = IntroducesTuple(previous) ||
                       (IsTupleOperator(previous) && !holds_statements_[i]) ||
                       (StatementDeclaresStorage() && previous != TokenKind::RParen);
    const bool variables =  // `with {x, y} in …`
        after_brace_[i] == TokenKind::KwIn || after_brace_[i] == TokenKind::KwBy;
    if (tuple || variables) return Push(token, kBrace, false);
    if (!InsideStatement()) {
      // `pair {n, 7}` lacks an operator; a body follows a header, or holds statements.
      const bool empty = i + 1 < tokens_.size() && tokens_[i + 1].kind == TokenKind::RBrace;
      const bool values = StatementIsPlain() && previous != TokenKind::RParen && !empty;
      return Push(token, kBrace, holds_statements_[i] || !values);
    }
    if (!holds_statements_[i]) return Push(token, kBrace, false);
    // Statements inside an open bracket: the body of a lambda in an argument list, or a header
    // whose bracket was forgotten.
    const TokenKind after = after_brace_[i];
    const bool argument = after == TokenKind::RParen || after == TokenKind::Comma;
    if (!argument) CloseUnclosed(token);
    Push(token, kBrace, true);
  }

  void Close(const Token& token, size_t kind) {
    if (open_.empty()) return DropStray(token, kind);
    Open top = open_.back();
    if (top.kind != kind && open_counts_.back()[kind] > 0) {
      // The right opener is further out in this statement: those inside were forgotten.
      uint32_t outermost = 0;
      while (open_.back().kind != kind) outermost = CloseOne(token);
      Damage(outermost);
      top = open_.back();
    }
    if (top.kind == kind) {
      const bool block = top.is_block;
      EmitCloser(kind, token);
      if (block) NewStatement();
    } else if (kind == kBrace) {
      CloseUnclosed(token);
      if (open_.empty()) return DropStray(token, kind);
      EmitCloser(kBrace, token);
      NewStatement();
    } else if (top.is_block) {
      DropStray(token, kind);
    } else {
      if (CanReport()) {
        diags_.Emit(diag::kinds::MismatchedBracket, token.use, token.text, kCloserText[top.kind])
            .Note(out_.tokens[top.index].use, OpenedHere(top));
      }
      Damage(top.index);
      Token right = token;
      right.kind = kClosers[top.kind];
      EmitCloser(top.kind, right);
    }
  }

  // Closes what is open inside the current statement, which ends before `found`.
  void CloseUnclosed(const Token& found) {
    if (!InsideStatement()) return;
    uint32_t outermost = 0;
    while (InsideStatement()) outermost = CloseOne(found);
    Damage(outermost);
  }

  // Returns where the bracket was opened.
  uint32_t CloseOne(const Token& found) {
    const Open top = open_.back();
    if (!(braces_reported_ && top.kind == kBrace) && CanReport()) {
      const std::string text(kCloserText[top.kind]);
      const SourceRange end = Virtual(top.kind).use;
      const bool same_line = !found.starts_line && found.kind != TokenKind::EndOfFile;
      diags_
          .Emit(diag::kinds::UnclosedBracket, same_line ? found.use : SourceRange(end.begin),
                Found(found), text)
          .Note(out_.tokens[top.index].use, OpenedHere(top));
    }
    Damage(out_.tokens.size());
    EmitCloser(top.kind, Virtual(top.kind));
    return top.index;
  }

  void DropStray(const Token& token, size_t kind) {
    if (!(braces_reported_ && kind == kBrace) && CanReport()) {
      diags_.Emit(diag::kinds::StrayBracket, token.use, kCloserText[kind]);
    }
    Damage(statement_);
  }

  // One report for each damaged statement.
  bool CanReport() { return !damaging_ && reports_++ < kMaxReports; }
  // The statement is damaged from here on, and from token `from` to here.
  void Damage(size_t from) {
    if (!damaging_) damaged_from_ = out_.tokens.size();
    damaging_ = true;
    for (; damaged_from_ > from; --damaged_from_) out_.damaged[damaged_from_ - 1] = true;
  }
  void NewStatement() {
    damaging_ = false;
    statement_ = static_cast<uint32_t>(out_.tokens.size());
  }

  bool InsideStatement() const { return !open_.empty() && !open_.back().is_block; }
  bool StatementDeclaresStorage() const {
    if (statement_ >= out_.tokens.size()) return false;
    const Token& first = out_.tokens[statement_];
    switch (first.kind) {
      case TokenKind::KwShared:
      case TokenKind::KwFrag:
      case TokenKind::KwLocal:
      case TokenKind::KwMutable:
        return true;
      default:
        return first.kind == TokenKind::Identifier && IsTypeWord(first.text);
    }
  }
  bool StatementIsPlain() const {
    return statement_ < out_.tokens.size() && out_.tokens[statement_].kind == TokenKind::Identifier;
  }
  std::string_view PreviousText() const {
    return out_.tokens.empty() ? std::string_view() : out_.tokens.back().text;
  }
  std::string OpenedHere(const Open& open) const {
    return fmt::format("`{}` was opened here", kOpenerText[open.kind]);
  }

  // A closer that is not in the text, at the end of the last token.
  Token Virtual(size_t kind) const {
    Token token = out_.tokens.back();
    token.kind = kClosers[kind];
    token.text = kCloserText[kind];
    const SourceLoc end{token.use.begin.file, token.use.end};
    token.use = token.range = SourceRange(end, end.offset);
    token.starts_line = token.after_space = false;
    return token;
  }

  void Push(const Token& token, size_t kind, bool is_block, bool allows_semicolons = false) {
    if (!is_block) ++open_counts_.back()[kind];
    if (is_block) open_counts_.push_back({});
    open_.push_back({static_cast<uint32_t>(out_.tokens.size()), static_cast<uint8_t>(kind),
                     is_block, allows_semicolons});
    Emit(token);
    out_.is_block.back() = is_block;
    if (is_block) NewStatement();
  }
  void EmitCloser(size_t kind, const Token& token) {
    const Open top = open_.back();
    CHOREO_CHECK(top.kind == kind);
    open_.pop_back();
    if (top.is_block) {
      open_counts_.pop_back();
    } else {
      --open_counts_.back()[kind];
    }
    const auto index = static_cast<uint32_t>(out_.tokens.size());
    Emit(token);
    out_.partner[top.index] = index;
    out_.partner[index] = top.index;
  }
  void Emit(const Token& token) {
    out_.partner.push_back(static_cast<uint32_t>(out_.tokens.size()));
    out_.tokens.push_back(token);
    out_.is_block.push_back(false);
    out_.damaged.push_back(damaging_);
  }

  const std::vector<Token>& tokens_;
  diag::Emitter& diags_;
  Balanced out_;
  std::vector<Open> open_;
  // Open `(`, `[` and value `{` of the current statement; one entry for each open block.
  std::vector<std::array<uint32_t, 3>> open_counts_;
  std::vector<bool> holds_statements_;
  std::vector<TokenKind> after_brace_;  // of a `{`: the kind of the token after its `}`
  bool braces_reported_ = false;
  bool damaging_ = false;
  size_t damaged_from_ = 0;  // while damaging: all tokens from here to the last are damaged
  uint32_t statement_ = 0;   // index in the output where the current statement starts
  int reports_ = 0;
};

}  // namespace

Balanced Balance(const std::vector<Token>& tokens, diag::Emitter& diags) {
  CHOREO_CHECK(!tokens.empty() && tokens.back().kind == TokenKind::EndOfFile,
               "the tokens of a function end with EndOfFile");
  return Balancer(tokens, diags).Run();
}

}  // namespace choreo::parse
