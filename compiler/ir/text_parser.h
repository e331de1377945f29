// The parser behind reader.h: tokens in, a module out. After the first mistake it stands at the end
// of the text, so that every loop ends, and what it returns is void.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diag/diag.h"
#include "ir/ir.h"
#include "ir/text_form.h"
#include "ir/text_lexer.h"
#include "support/source.h"

namespace choreo::ir {

class TextParser {
 public:
  TextParser(std::string_view text, FileId file, diag::Emitter& diags)
      : text_(text), file_(file), diags_(diags), tokens_(CutText(text)) {}

  Module ParseModule();
  bool failed() const { return failed_; }
  // Per kernel, the places of its ops: host body, then body, each op before those in its regions.
  const std::vector<std::vector<SourceRange>>& op_places() const { return op_places_; }

 private:
  using Kind = TextToken::Kind;
  static constexpr int kMaxDepth = 600;

  // ---- tokens ----
  const TextToken& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  std::string_view Text(const TextToken& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  SourceRange Place(const TextToken& token) const {
    return SourceRange(SourceLoc{file_, token.begin}, std::max(token.end, token.begin + 1));
  }
  bool Is(std::string_view text, size_t ahead = 0) const {
    const TextToken& token = Peek(ahead);
    return (token.kind == Kind::Punct || token.kind == Kind::Word) && Text(token) == text;
  }
  bool Accept(std::string_view text) {
    if (!Is(text)) return false;
    ++at_;
    return true;
  }
  void Expect(std::string_view text);
  std::string_view ExpectKind(Kind kind, std::string_view what);
  // A mistake: emits unless one was emitted before, and moves to the end.
  template <class... Args>
  void Fail(const diag::DiagDef<Args...>& def, const TextToken& token,
            const std::type_identity_t<Args>&... args) {
    if (!failed_) diags_.Emit(def, Place(token), args...);
    failed_ = true;
    at_ = tokens_.size() - 1;
  }
  void FailExpected(std::string_view what);

  // ---- values of fields ----
  void Parse(ExprId& id);
  void Parse(VarId& id);
  void Parse(StorageId& id);
  void Parse(ViewId& id);
  void Parse(bool& value);
  void Parse(Flag& flag) { Parse(flag.set); }
  void Parse(int32_t& value);
  void Parse(int64_t& value);
  void Parse(uint32_t& value);
  void Parse(std::string& value);
  void Parse(Elem& value);
  void Parse(std::array<ExprId, 3>& value);
  template <WordedEnum E>
  void Parse(E& value) {
    const TextToken& token = Peek();
    const std::string_view word = ExpectKind(Kind::Word, "a word");
    if (failed_) return;
    if (const auto found = EnumFromWord<E>(word)) {
      value = *found;
    } else {
      Fail(diag::kinds::IrBadConstant, token, word, "enumeration");
    }
  }
  template <TupleLike T>
  void Parse(T& value) {
    Expect("(");
    ParseFields("list entry", [&](auto&& f) { TableFields(value, f); });
    Expect(")");
  }
  template <class T>
  void Parse(std::vector<T>& list) {
    list.clear();
    Expect("[");
    while (!failed_ && !Is("]")) {
      if (!list.empty()) Expect(",");
      Parse(list.emplace_back());
    }
    Expect("]");
  }
  int64_t Integer(int64_t low, int64_t high, std::string_view type);

  // `name=value …` until something else comes. visit(f) calls f(name, field) for each field.
  template <class Visit>
  void ParseFields(std::string_view owner, const Visit& visit) {
    while (!failed_ && Peek().kind == Kind::Word && Is("=", 1)) {
      const TextToken& token = Peek();
      const std::string_view name = Text(token);
      bool known = false;
      visit([&](const char* field_name, auto& field) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(field)>, Region>) {
          if (known || name != field_name) return;
          known = true;
          at_ += 2;
          Parse(field);
        }
      });
      if (!known) Fail(diag::kinds::IrUnknownField, token, owner, name);
    }
  }

  // ---- expressions ----
  ExprId ParseExpr();
  ExprId ParseParenthesised();
  ExprId ParseNumber();
  ExprId ParseElement();
  ExprId ParseCall();
  std::vector<ExprId> ParseArgs(std::string_view close);
  ExprId Add(ExprNode node, Elem type = Elem::kS32);  // the type where the operands do not say

  // ---- structure ----
  Loc ParseLoc();
  void ParseKernel(Module& module);
  // Notes names, types and kinds of the tables, so that entries may refer to later ones.
  void ScanTables();
  template <class Id, class Items>
  void ScanTable(std::string_view title, Kind kind, Items& items,
                 std::unordered_map<std::string, Id>& names);
  template <class Items>
  void ParseTable(std::string_view title, Items& items);
  void ParseParams();
  void ParseHost();
  void ParseErrors();
  void ParseRegion(Region& region);
  Op ParseOp();

  std::string_view text_;
  FileId file_;
  diag::Emitter& diags_;
  std::vector<TextToken> tokens_;
  size_t at_ = 0;
  bool failed_ = false;
  int depth_ = 0;
  Kernel* kernel_ = nullptr;
  std::unordered_map<std::string, VarId> var_names_;
  std::unordered_map<std::string, StorageId> storage_names_;
  std::unordered_map<std::string, ViewId> view_names_;
  std::vector<std::vector<SourceRange>> op_places_;
};

}  // namespace choreo::ir
