#include "ast/dump.h"

#include "ast/spelling.h"

namespace choreo::ast {
namespace {

class Dumper {
 public:
  Dumper(const File& file, const SourceManager& sources) : file_(file), sources_(sources) {}

  std::string Run() {
    for (const Function& function : file_.functions) {
      Line(function.range, "function " + function.name.text);
      ++depth_;
      for (const Param& param : function.params) Dump(param);
      Dump(function.body);
      --depth_;
    }
    return std::move(out_);
  }

  void operator()(const ErrorStmt& n) { Line("error" + Bound(n.names)); }
  void operator()(const Block& n) {
    Line("block");
    ++depth_;
    for (StmtId stmt : n.statements) Dump(stmt);
    --depth_;
  }
  void operator()(const ScalarDecl& n) {
    std::string text = n.is_mutable ? "mutable " : "";
    text += n.type ? Spelling(*n.type) : "auto";
    for (size_t i = 0; i < n.declarators.size(); ++i) {
      const ScalarDeclarator& d = n.declarators[i];
      text += fmt::format("{} {}", i > 0 ? "," : "", d.name.text);
      if (d.init.valid()) text += " = " + Text(d.init);
    }
    Line("scalar " + text);
  }
  void operator()(const StorageDecl& n) {
    std::string text = fmt::format("{} ", Spelling(n.storage));
    text += n.is_cluster ? "cluster event"
            : n.is_event ? "event"
                         : fmt::format("{} [{}]", Spelling(n.type), List(n.dims));
    for (size_t i = 0; i < n.declarators.size(); ++i) {
      const StorageDeclarator& d = n.declarators[i];
      text += fmt::format("{} {}", i > 0 ? "," : "", d.name.text);
      if (d.array_size.valid()) text += fmt::format("[{}]", Text(d.array_size));
      if (d.init == StorageDeclarator::Init::Fill) text += fmt::format(" {{{}}}", Text(d.fill));
      if (d.init == StorageDeclarator::Init::Ready) text += " = ready";
    }
    Line("storage " + text);
  }
  void operator()(const Assign& n) {
    const std::string_view op = n.op ? Spelling(*n.op) : "";
    Line(fmt::format("assign {} {}= {}", Text(n.target), op, Text(n.value)));
  }
  void operator()(const ExprStmt& n) { Line("do " + Text(n.expr)); }
  void operator()(const Parallel& n) {
    std::string text = n.async ? "parallel.async" : "parallel";
    for (size_t i = 0; i < n.dims.size(); ++i) {
      const ParallelDim& dim = n.dims[i];
      text += fmt::format("{}{} by [{}] : {}", i > 0 ? "," : "", Bound(dim.vars), List(dim.bounds),
                          Spelling(dim.level));
    }
    Line(text);
    Attributes(n.attributes);
    Body(n.body);
  }
  void operator()(const InThreads& n) {
    Line(fmt::format("inthreads{} {}", n.async ? ".async" : "", Text(n.predicate)));
    Body(n.body);
  }
  void operator()(const Foreach& n) {
    std::string text = "foreach";
    for (size_t i = 0; i < n.iterations.size(); ++i) {
      const Iteration& it = n.iterations[i];
      text += fmt::format("{} {}", i > 0 ? "," : "", it.var.text);
      if (it.bound.valid()) text += " in " + Text(it.bound);
      if (it.low.valid() || it.high.valid() || it.step.valid()) {
        text += fmt::format("({} : {} : {})", Part(it.low), Part(it.high), Part(it.step));
      }
    }
    if (n.unroll.valid()) text += fmt::format(" : unroll({})", Text(n.unroll));
    Line(text);
    Body(n.body);
  }
  void operator()(const With& n) {
    const std::string tuple = n.tuple ? fmt::format(" {} =", n.tuple->text) : "";
    Line(fmt::format("with{}{} in [{}]", tuple, Bound(n.vars), List(n.bounds)));
    Body(n.body);
  }
  void operator()(const If& n) {
    Line("if " + Text(n.condition));
    Body(n.then_body);
    if (!n.else_body.valid()) return;
    Line(file_.stmts[n.else_body].range, "else");
    Body(n.else_body);
  }
  void operator()(const While& n) {
    Line("while " + Text(n.condition));
    Body(n.body);
  }
  void operator()(const Return&) { Line("return"); }
  void operator()(const Break&) { Line("break"); }
  void operator()(const Continue&) { Line("continue"); }
  void operator()(const Assert& n) {
    Line(fmt::format("assert {}, \"{}\"", Text(n.condition), n.message));
  }
  void operator()(const Apply& n) {
    Line(fmt::format("apply{} in {}", Bound(n.vars), Text(n.span)));
    Body(n.body);
  }
  void operator()(const Wait& n) { Line("wait " + List(n.operands)); }
  void operator()(const Trigger& n) {
    Line("trigger " + Text(n.event) + (n.after.empty() ? "" : " after " + List(n.after)));
  }
  void operator()(const MmaStore& n) {
    Line(fmt::format("mma.store {}, {}", Text(n.acc), Text(n.tile)));
  }
  void operator()(const SyncShared&) { Line("sync.shared"); }
  void operator()(const CallStmt& n) {
    Line(fmt::format("call {}({})", n.callee.text, List(n.args)));
  }
  void operator()(const RawCpp& n) { Line(fmt::format("cpp, {} bytes", n.text.size())); }
  void operator()(const std::monostate&) { Line("<none>"); }

 private:
  void Dump(StmtId id) {
    if (!id.valid()) return;
    const Stmt& stmt = file_.stmts[id];
    const SourceRange outer = std::exchange(range_, stmt.range);
    std::visit(*this, stmt.node);
    Attributes(stmt.attributes);
    range_ = outer;
  }
  void Dump(const Param& param) {
    std::string text = fmt::format("param {}: ", param.name.text);
    if (param.is_error) text += "<error> ";
    if (param.is_global) text += "global ";
    text += Spelling(param.type);
    if (param.is_shaped) text += fmt::format(" [{}]", List(param.dims));
    Line(param.range, text);
  }
  void Attributes(const std::vector<Attribute>& attributes) {
    ++depth_;
    for (const Attribute& a : attributes) {
      Line(a.name.range, fmt::format("attribute {}({})", a.name.text, List(a.args)));
    }
    --depth_;
  }
  void Body(StmtId id) {
    ++depth_;
    Dump(id);
    --depth_;
  }

  void Line(const std::string& text) { Line(range_, text); }
  void Line(SourceRange range, const std::string& text) {
    const LineColumn at = range.valid() ? sources_.Position(range.begin) : LineColumn{};
    out_ += fmt::format("{:{}}{} @{}:{}\n", "", 2 * depth_, text, at.line, at.column);
  }
  std::string Text(ExprId id) const { return DumpExpr(file_, id); }
  std::string Part(ExprId id) const { return id.valid() ? Text(id) : "_"; }
  std::string List(const std::vector<ExprId>& ids) const {
    std::string text;
    for (size_t i = 0; i < ids.size(); ++i) text += (i > 0 ? ", " : "") + Text(ids[i]);
    return text;
  }
  static std::string Bound(const std::vector<Name>& names) {
    std::vector<std::string_view> texts;
    for (const Name& name : names) texts.push_back(name.text);
    return texts.empty() ? "" : fmt::format(" {{{}}}", fmt::join(texts, ", "));
  }

  const File& file_;
  const SourceManager& sources_;
  std::string out_;
  int depth_ = 0;
  SourceRange range_;
};

}  // namespace

std::string Dump(const File& file, const SourceManager& sources) {
  return Dumper(file, sources).Run();
}

}  // namespace choreo::ast
