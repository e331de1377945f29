#include "ir/reader.h"

#include "ir/text_parser.h"
#include "ir/verifier.h"
#include "ir/walk.h"

namespace choreo::ir {
namespace {

namespace kinds = diag::kinds;

std::optional<OpNode> MakeNode(std::string_view op_name) {
#define CHOREO_OP(Struct, name, states) \
  if (op_name == name) return Struct{};
#include "ir/op_kind.def"
  return std::nullopt;
}

// `x` of `%x`, `%x.2` and `%"x"`.
std::string BaseName(std::string_view name) {
  name.remove_prefix(1);
  if (name.front() == '"') return Unquote(name.substr(0, name.rfind('"') + 1));
  return std::string(name.substr(0, name.find('.')));
}

}  // namespace

Module TextParser::ParseModule() {
  Module module;
  Expect("module");
  ParseFields("module", [&](auto&& f) {
    f("state", module.state);
    f("source", module.source_name);
  });
  while (!failed_ && Accept("line")) {
    SourceLine& line = module.lines.emplace_back();
    Parse(line.line);
    Parse(line.text);
  }
  while (!failed_ && Is("kernel")) ParseKernel(module);
  if (Peek().kind != Kind::End) FailExpected("`kernel` or the end");
  return module;
}

void TextParser::ParseKernel(Module& module) {
  Kernel kernel;
  kernel_ = &kernel;
  var_names_.clear();
  storage_names_.clear();
  view_names_.clear();
  op_places_.emplace_back();
  Expect("kernel");
  Parse(kernel.name);
  kernel.loc = ParseLoc();
  Expect("{");
  ScanTables();
  ParseTable("vars", kernel.vars);
  ParseTable("storages", kernel.storages);
  ParseTable("views", kernel.views);
  ParseParams();
  ParseHost();
  ParseErrors();
  if (Accept("body")) ParseRegion(kernel.body);
  Expect("}");
  kernel_ = nullptr;
  module.kernels.push_back(std::move(kernel));
}

void TextParser::ScanTables() {
  const size_t start = at_;
  ScanTable("vars", Kind::Var, kernel_->vars, var_names_);
  ScanTable("storages", Kind::Storage, kernel_->storages, storage_names_);
  // The storage of a view may be named before it is scanned only across tables, not within.
  ScanTable("views", Kind::View, kernel_->views, view_names_);
  if (!failed_) at_ = start;
}

template <class Id, class Items>
void TextParser::ScanTable(std::string_view title, Kind kind, Items& items,
                           std::unordered_map<std::string, Id>& names) {
  if (!Accept(title)) return;
  Expect("{");
  while (!failed_ && !Is("}")) {
    const TextToken& token = Peek();
    const std::string_view name = ExpectKind(kind, "a table entry or `}`");
    if (failed_) return;
    const Id id = items.Add({});
    if (!names.emplace(name, id).second) Fail(kinds::IrRedeclared, token, name);
    auto& item = items[id];
    if constexpr (requires { item.name; }) item.name = BaseName(name);
    while (!failed_ && !Is(";")) {
      // What the type of an expression depends on, wherever it stands in the entry.
      const bool field = Peek().kind == Kind::Word && Is("=", 1);
      const std::string_view word = Text(Peek());
      if (Peek().kind == Kind::End || Peek().kind == Kind::Bad) FailExpected("`;`");
      ++at_;
      if (!field || failed_) continue;
      if constexpr (std::is_same_v<Id, VarId>) {
        if (word == "type") ++at_, Parse(item.type);
      } else if constexpr (std::is_same_v<Id, StorageId>) {
        if (word == "elem") ++at_, Parse(item.elem);
        if (word == "kind") ++at_, Parse(item.kind);
      } else {
        if (word == "storage") ++at_, Parse(item.storage);
      }
    }
    Expect(";");
    if constexpr (std::is_same_v<Id, ViewId>) {
      if (!failed_ && !item.storage) Fail(kinds::IrExpected, token, "a view of a storage", "none");
    }
  }
  Expect("}");
}

template <class Items>
void TextParser::ParseTable(std::string_view title, Items& items) {
  if (!Accept(title)) return;
  Expect("{");
  size_t i = 0;
  while (!failed_ && !Is("}")) {
    ++at_;  // its name, scanned before
    // The entry is parsed into a copy: expressions refer to the table meanwhile.
    auto item = items[items.IdAt(i)];
    ParseFields(title, [&](auto&& f) { TableFields(item, f); });
    if constexpr (requires { item.loc; }) item.loc = ParseLoc();
    Expect(";");
    if (failed_) return;
    items[items.IdAt(i++)] = std::move(item);
  }
  Expect("}");
}

void TextParser::ParseParams() {
  if (!Accept("params")) return;
  Expect("{");
  while (!failed_ && !Is("}")) {
    Param& param = kernel_->params.emplace_back(Param{});
    ParseFields("params", [&](auto&& f) { TableFields(param, f); });
    Expect(";");
  }
  Expect("}");
}

void TextParser::ParseHost() {
  if (!Accept("host")) return;
  Expect("{");
  ParseFields("host", [&](auto&& f) { TableFields(kernel_->host, f); });
  if (Accept("body")) ParseRegion(kernel_->host.body);
  Expect("}");
}

void TextParser::ParseErrors() {
  if (!Accept("errors")) return;
  Expect("{");
  while (!failed_ && !Is("}")) {
    ErrorMessage& error = kernel_->errors.emplace_back();
    ParseFields("errors", [&](auto&& f) { TableFields(error, f); });
    error.loc = ParseLoc();
    Expect(";");
  }
  Expect("}");
}

void TextParser::ParseRegion(Region& region) {
  if (++depth_ > kMaxDepth) Fail(kinds::IrNesting, Peek(), kMaxDepth);
  Expect("{");
  while (!failed_ && !Is("}")) region.ops.push_back(ParseOp());
  Expect("}");
  --depth_;
}

Op TextParser::ParseOp() {
  Op op;
  const TextToken& token = Peek();
  const std::string_view name = ExpectKind(Kind::Word, "an op or `}`");
  if (failed_) return op;
  op_places_.back().push_back(Place(token));
  auto node = MakeNode(name);
  if (!node) {
    Fail(kinds::IrUnknownOp, token, name);
    return op;
  }
  op.node = std::move(*node);
  ParseFields(name, [&](auto&& f) { VisitFields(op, f); });
  op.loc = ParseLoc();
  while (!failed_ && Peek().kind == Kind::Word && Is("{", 1)) {
    const TextToken& title = Peek();
    bool known = false;
    VisitFields(op, [&](const char* field_name, auto& field) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, Region>) {
        if (known || Text(title) != field_name) return;
        known = true;
        ++at_;
        ParseRegion(field);
      }
    });
    if (!known) Fail(kinds::IrUnknownField, title, name, Text(title));
  }
  return op;
}

std::optional<Module> ReadUnverified(const SourceManager& sources, FileId file,
                                     diag::Emitter& diags) {
  TextParser parser(sources.Text(file), file, diags);
  Module module = parser.ParseModule();
  return parser.failed() ? std::nullopt : std::optional(std::move(module));
}

std::optional<Module> ReadModule(const SourceManager& sources, FileId file, diag::Emitter& diags) {
  TextParser parser(sources.Text(file), file, diags);
  Module module = parser.ParseModule();
  if (parser.failed()) return std::nullopt;
  const std::vector<Violation> violations = FindViolations(module);
  for (const Violation& violation : violations) {
    SourceRange place(SourceLoc{file, 0});
    if (violation.kernel >= 0 && violation.op >= 0) {
      place = parser.op_places()[violation.kernel][violation.op];
    }
    diags.Emit(kinds::IrInvalid, place, violation.text);
  }
  return violations.empty() ? std::optional(std::move(module)) : std::nullopt;
}

}  // namespace choreo::ir
