#include "ast/dump.h"
#include "ast/spelling.h"

namespace choreo::ast {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          quoted += c;
        }
    }
  }
  return quoted + '"';
}

class ExprDumper {
 public:
  explicit ExprDumper(const File& file) : file_(file) {}

  std::string Text(ExprId id) {
    return id.valid() ? std::visit(*this, file_.exprs[id].node) : "<none>";
  }

  std::string operator()(const ErrorExpr&) { return "<error>"; }
  std::string operator()(const IntLiteral& n) {
    return n.type == Elem::kS32 ? std::to_string(n.value)
                                : fmt::format("{}:{}", n.value, Spelling(n.type));
  }
  std::string operator()(const FloatLiteral& n) {
    return fmt::format("{}:{}", n.value, Spelling(n.type));
  }
  std::string operator()(const BoolLiteral& n) { return n.value ? "true" : "false"; }
  std::string operator()(const StringLiteral& n) { return Quoted(n.value); }
  std::string operator()(const NameRef& n) { return n.name; }
  std::string operator()(const Wildcard&) { return "_"; }
  std::string operator()(const Unary& n) {
    return fmt::format("({}{})", Spelling(n.op), Text(n.operand));
  }
  std::string operator()(const Binary& n) {
    return fmt::format("({} {} {})", Text(n.left), Spelling(n.op), Text(n.right));
  }
  std::string operator()(const Conditional& n) {
    return fmt::format("({} ? {} : {})", Text(n.condition), Text(n.then_value), Text(n.else_value));
  }
  std::string operator()(const IncDec& n) {
    const char* op = n.increment ? "++" : "--";
    return n.prefix ? fmt::format("({}{})", op, Text(n.operand))
                    : fmt::format("({}{})", Text(n.operand), op);
  }
  std::string operator()(const Call& n) {
    const std::string type = n.type_arg ? fmt::format("<{}>", Spelling(*n.type_arg)) : "";
    return fmt::format("{}{}({})", n.callee.text, type, List(n.args));
  }
  std::string operator()(const Member& n) { return Text(n.base) + "." + n.name.text; }
  std::string operator()(const MethodCall& n) {
    const std::string strides = n.strides.empty() ? "" : " : " + List(n.strides);
    const std::string dot = n.name.text.empty() ? "" : "." + n.name.text;
    return fmt::format("{}{}({}{})", Text(n.base), dot, List(n.args), strides);
  }
  std::string operator()(const Index& n) {
    return fmt::format("{}[{}]", Text(n.base), Text(n.index));
  }
  std::string operator()(const TupleLiteral& n) { return "{" + List(n.elements) + "}"; }
  std::string operator()(const ShapeLiteral& n) { return "[" + List(n.extents) + "]"; }
  std::string operator()(const SpanSize& n) { return "|" + Text(n.operand) + "|"; }
  std::string operator()(const AnyOf& n) {
    std::vector<std::string> names;
    for (const Name& var : n.vars) names.push_back(var.text);
    return fmt::format("any_of{}{}({{{}}} in {}, {})", n.warp ? ".warp" : "",
                       n.parts ? ".parts" : "", fmt::join(names, ", "), Text(n.span),
                       Text(n.condition));
  }
  std::string operator()(const DmaCopy& n) {
    return fmt::format("dma.copy{}{} {} => {}", Async(n.async), Swizzle(n.swizzle), Text(n.source),
                       Target(n.target));
  }
  std::string operator()(const TmaCopy& n) {
    std::string suffixes = Async(n.async);
    if (n.inline_event) suffixes += fmt::format("<{}>", n.inline_event->text);
    if (n.multicast) suffixes += ".multicast";
    if (n.policy != EvictPolicy::None) suffixes += fmt::format(".{}", Spelling(n.policy));
    return fmt::format("tma.{}{}{} {} => {}", n.is_load ? "load" : "copy", suffixes,
                       Swizzle(n.swizzle), Text(n.source), Target(n.target));
  }
  std::string operator()(const MmaFill& n) {
    return fmt::format("mma.fill.{} {}", Spelling(n.type), Text(n.value));
  }
  std::string operator()(const Mma& n) {
    return fmt::format("mma.{}.{}{} {}, {}, {}", Spelling(n.a_layout), Spelling(n.b_layout),
                       Async(n.async), Text(n.acc), Text(n.a), Text(n.b));
  }
  std::string operator()(const MmaLoad& n) {
    return fmt::format("mma.load{} {}", Swizzle(n.swizzle), Text(n.source));
  }
  std::string operator()(const Atomic& n) {
    return fmt::format("atomic.{} {}, {}", Spelling(n.op), Text(n.element), Text(n.value));
  }
  std::string operator()(const std::monostate&) { return "<none>"; }

 private:
  std::string List(const std::vector<ExprId>& ids) {
    std::string text;
    for (size_t i = 0; i < ids.size(); ++i) text += (i > 0 ? ", " : "") + Text(ids[i]);
    return text;
  }
  static std::string Async(bool async) { return async ? ".async" : ""; }
  static std::string Swizzle(std::optional<int> width) {
    return width ? fmt::format(".swiz<{}>", *width) : "";
  }
  std::string Target(const CopyTarget& target) {
    return target.anonymous ? std::string(Spelling(*target.anonymous)) : Text(target.view);
  }

  const File& file_;
};

}  // namespace

std::string DumpExpr(const File& file, ExprId id) { return ExprDumper(file).Text(id); }

}  // namespace choreo::ast
