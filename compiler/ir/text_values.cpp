// TextParser: tokens and the values of fields.
#include <charconv>
#include <limits>

#include "ir/printer.h"
#include "ir/text_parser.h"

namespace choreo::ir {

namespace kinds = diag::kinds;

void TextParser::FailExpected(std::string_view what) {
  const TextToken& token = Peek();
  if (token.kind == Kind::Bad) {
    Fail(kinds::IrBadToken, token, Quote(Text(token).substr(0, 40)));
  } else if (token.kind == Kind::End) {
    Fail(kinds::IrExpected, token, what, "the end of the text");
  } else {
    Fail(kinds::IrExpected, token, what, fmt::format("`{}`", Text(token).substr(0, 40)));
  }
}

void TextParser::Expect(std::string_view text) {
  if (!Accept(text)) FailExpected(fmt::format("`{}`", text));
}

std::string_view TextParser::ExpectKind(Kind kind, std::string_view what) {
  const TextToken& token = Peek();
  if (token.kind != kind) {
    FailExpected(what);
    return "";
  }
  ++at_;
  return Text(token);
}

int64_t TextParser::Integer(int64_t low, int64_t high, std::string_view type) {
  const TextToken& token = Peek();
  const std::string_view text = ExpectKind(Kind::Number, "an integer");
  int64_t value = 0;
  if (failed_) return 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    Fail(kinds::IrBadConstant, token, text, type);
  }
  return value;
}

void TextParser::Parse(int32_t& value) {
  value = static_cast<int32_t>(Integer(INT32_MIN, INT32_MAX, "s32"));
}
void TextParser::Parse(uint32_t& value) {
  value = static_cast<uint32_t>(Integer(0, UINT32_MAX, "u32"));
}
void TextParser::Parse(int64_t& value) { value = Integer(INT64_MIN, INT64_MAX, "s64"); }

void TextParser::Parse(bool& value) {
  value = Is("true");
  if (!Accept("true") && !Accept("false")) FailExpected("`true` or `false`");
}

void TextParser::Parse(std::string& value) {
  value = Unquote(ExpectKind(Kind::String, "a string"));
}

void TextParser::Parse(Elem& value) {
  const TextToken& token = Peek();
  const std::string_view word = ExpectKind(Kind::Word, "an element type");
  if (failed_) return;
  if (const auto elem = ElemFromSpelling(word)) {
    value = *elem;
  } else {
    Fail(kinds::IrBadConstant, token, word, "element type");
  }
}

void TextParser::Parse(VarId& id) {
  id = VarId();
  if (Accept("none")) return;
  const TextToken& token = Peek();
  const std::string_view name = ExpectKind(Kind::Var, "a variable or `none`");
  const auto found = var_names_.find(std::string(name));
  if (found != var_names_.end()) {
    id = found->second;
  } else if (!failed_) {
    Fail(kinds::IrUndeclared, token, name, kernel_->name);
  }
}

void TextParser::Parse(StorageId& id) {
  id = StorageId();
  if (Accept("none")) return;
  const TextToken& token = Peek();
  const std::string_view name = ExpectKind(Kind::Storage, "a storage or `none`");
  const auto found = storage_names_.find(std::string(name));
  if (found != storage_names_.end()) {
    id = found->second;
  } else if (!failed_) {
    Fail(kinds::IrUndeclared, token, name, kernel_->name);
  }
}

void TextParser::Parse(ViewId& id) {
  id = ViewId();
  if (Accept("none")) return;
  const TextToken& token = Peek();
  const std::string_view name = ExpectKind(Kind::View, "a view or `none`");
  const auto found = view_names_.find(std::string(name));
  if (found != view_names_.end()) {
    id = found->second;
  } else if (!failed_) {
    Fail(kinds::IrUndeclared, token, name, kernel_->name);
  }
}

void TextParser::Parse(ExprId& id) {
  id = ExprId();
  if (!Accept("none")) id = ParseExpr();
}

void TextParser::Parse(std::array<ExprId, 3>& value) {
  Expect("[");
  Parse(value[0]);
  Expect(",");
  Parse(value[1]);
  Expect(",");
  Parse(value[2]);
  Expect("]");
}

Loc TextParser::ParseLoc() {
  Loc loc;
  if (!Accept("loc")) return loc;
  Expect("(");
  Parse(loc.line);
  Expect(":");
  Parse(loc.column);
  Expect(")");
  return loc;
}

}  // namespace choreo::ir
