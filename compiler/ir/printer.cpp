#include "ir/printer.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <unordered_map>

#include "ir/names.h"
#include "ir/text_form.h"
#include "ir/walk.h"

namespace choreo::ir {
namespace {

template <class Ids, class Items>
void NameAll(const Items& items, char sigil, Ids& names) {
  std::unordered_map<std::string, int> uses;
  for (const auto& item : items) {
    const std::string base = IsIdentifier(item.name) ? sigil + item.name : sigil + Quote(item.name);
    const int use = uses[base]++;
    names.Add(use == 0 ? base : fmt::format("{}.{}", base, use));
  }
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel), names_(MakeTextNames(kernel)) {}

  void PrintKernel();
  std::string Value(ExprId id) const;
  std::string OpLine(const Op& op) const;
  std::string Take() { return std::move(out_); }

 private:
  std::string Value(VarId id) const { return id ? names_.vars[id] : "none"; }
  std::string Value(StorageId id) const { return id ? names_.storages[id] : "none"; }
  std::string Value(ViewId id) const { return id ? fmt::format("#{}", id.value) : "none"; }
  std::string Value(bool value) const { return value ? "true" : "false"; }
  std::string Value(Flag flag) const { return Value(flag.set); }
  std::string Value(int32_t value) const { return fmt::to_string(value); }
  std::string Value(int64_t value) const { return fmt::to_string(value); }
  std::string Value(const std::string& text) const { return Quote(text); }
  std::string Value(Elem elem) const { return std::string(Spelling(elem)); }
  template <WordedEnum E>
  std::string Value(E value) const {
    return std::string(Word(value));
  }
  template <TupleLike T>
  std::string Value(const T& value) const {
    return fmt::format("({})", Fields(value).substr(1));
  }
  template <class T>
  std::string Value(const std::vector<T>& list) const {
    return List(list);
  }
  std::string Value(const std::array<ExprId, 3>& list) const { return List(list); }

  template <class L>
  std::string List(const L& list) const {
    std::string text = "[";
    for (const auto& item : list) {
      if (text.size() > 1) text += ", ";
      text += Value(item);
    }
    return text + "]";
  }

  // " name=value" for each field of a table entry that differs from its default; no regions.
  template <HasTableFields T>
  std::string Fields(const T& value) const;

  std::string Node(const Expr& expr) const;
  std::string Args(const std::vector<ExprId>& args) const {
    const std::string list = List(args);
    return list.substr(1, list.size() - 2);
  }
  std::string Constant(std::string text, Elem type, Elem implied) const {
    return type == implied ? text : fmt::format("{}:{}", text, Spelling(type));
  }

  void Line(std::string_view text) {
    out_.append(2 * indent_, ' ');
    out_ += text;
    out_ += '\n';
  }
  void Open(std::string_view text) {
    Line(fmt::format("{} {{", text));
    ++indent_;
  }
  void Close() {
    --indent_;
    Line("}");
  }
  void PrintOps(const Region& region);

  const Kernel& kernel_;
  TextNames names_;
  std::string out_;
  size_t indent_ = 0;
};

std::string LocText(Loc loc) {
  return loc == Loc() ? "" : fmt::format(" loc({}:{})", loc.line, loc.column);
}

template <HasTableFields T>
std::string Printer::Fields(const T& value) const {
  std::vector<std::string> defaults;
  const T empty{};
  const auto each = [&](const T& object, const auto& use) {
    TableFields(object, [&](const char* name, const auto& field) {
      if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(field)>, Region>) {
        use(name, Value(field));
      }
    });
  };
  each(empty, [&](const char*, std::string text) { defaults.push_back(std::move(text)); });
  std::string result;
  size_t i = 0;
  each(value, [&](const char* name, const std::string& text) {
    // What one looks for is always said; in a list entry only what is missing is not.
    const bool skip = TupleLike<T> ? text == "none" : text == defaults[i];
    if (!skip || name == std::string_view("kind") || name == std::string_view("elem")) {
      result += fmt::format(" {}={}", name, text);
    }
    ++i;
  });
  return result.empty() ? " " : result;
}

std::string Printer::Value(ExprId id) const { return id ? Node(kernel_.exprs[id]) : "none"; }

std::string Printer::Node(const Expr& expr) const {
  struct Visitor {
    const Printer& p;
    Elem type;
    std::string operator()(const IntConst& e) const {
      if (type == Elem::kBool) return e.value != 0 ? "true" : "false";
      return p.Constant(fmt::to_string(e.value), type, Elem::kS32);
    }
    std::string operator()(const FloatConst& e) const {
      return p.Constant(FloatText(e.value, type), type, Elem::kF32);
    }
    std::string operator()(const VarRef& e) const { return p.Value(e.var); }
    std::string operator()(const Unary& e) const {
      return fmt::format("({} {})", Spelling(e.op), p.Value(e.operand));
    }
    std::string operator()(const Binary& e) const {
      return fmt::format("({} {} {})", p.Value(e.left), Spelling(e.op), p.Value(e.right));
    }
    std::string operator()(const Select& e) const {
      return fmt::format("({} ? {} : {})", p.Value(e.condition), p.Value(e.then_value),
                         p.Value(e.else_value));
    }
    std::string operator()(const Cast& e) const {
      return fmt::format("{}({})", Spelling(type), p.Value(e.operand));
    }
    std::string operator()(const Call& e) const {
      return fmt::format("{}({})", Spelling(e.callee), p.Args(e.args));
    }
    std::string operator()(const FragElem& e) const {
      return fmt::format("{}[{}]", p.Value(e.frag), p.Args(e.index));
    }
    std::string operator()(const ViewElem& e) const {
      return fmt::format("elem({})", p.Value(e.view));
    }
    std::string operator()(const MemElem& e) const {
      return fmt::format("{}[{}]", p.Value(e.storage), p.Value(e.index));
    }
    std::string operator()(const SmemDesc& e) const {
      return fmt::format("desc({}, {}, {}, {}, {})", p.Value(e.storage), p.Value(e.byte_offset),
                         e.leading_bytes, e.stride_bytes, e.swizzle);
    }
  };
  return std::visit(Visitor{*this, expr.type}, expr.node);
}

std::string Printer::OpLine(const Op& op) const {
  std::string text(Name(op.node));
  VisitFields(op, [&](const char* name, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (Sparse<Field>) {
      if (!field) return;
    }
    if constexpr (!std::is_same_v<Field, Region>) {
      text += fmt::format(" {}={}", name, Value(field));
    }
  });
  return text + LocText(op.loc);
}

void Printer::PrintOps(const Region& region) {
  for (const Op& op : region.ops) {
    bool has_region = false;
    std::string head = OpLine(op);
    VisitFields(op, [&](const char* name, const auto& field) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, Region>) {
        if (has_region && field.ops.empty()) return;  // an `if` without else
        if (has_region) --indent_;
        Open(fmt::format("{} {}", has_region ? "}" : head, name));
        has_region = true;
        PrintOps(field);
      }
    });
    if (has_region) {
      Close();
    } else {
      Line(head);
    }
  }
}

void Printer::PrintKernel() {
  Open(fmt::format("kernel {}{}", Quote(kernel_.name), LocText(kernel_.loc)));
  Open("vars");
  for (size_t i = 0; i < kernel_.vars.size(); ++i) {
    const VarId id = kernel_.vars.IdAt(i);
    const Var& var = kernel_.vars[id];
    // Type and kind are always said: they are what one looks for.
    std::string head =
        fmt::format("{} type={} kind={}", names_.vars[id], Spelling(var.type), Word(var.kind));
    if (var.bound) head += fmt::format(" bound={}", Value(var.bound));
    Line(fmt::format("{}{};", head, LocText(var.loc)));
  }
  Close();
  Open("storages");
  for (size_t i = 0; i < kernel_.storages.size(); ++i) {
    const StorageId id = kernel_.storages.IdAt(i);
    const Storage& storage = kernel_.storages[id];
    Line(fmt::format("{}{}{};", names_.storages[id], Fields(storage), LocText(storage.loc)));
  }
  Close();
  Open("views");
  for (size_t i = 0; i < kernel_.views.size(); ++i) {
    Line(fmt::format("#{}{};", i, Fields(kernel_.views[kernel_.views.IdAt(i)])));
  }
  Close();
  Open("params");
  for (const Param& param : kernel_.params) Line(fmt::format("{};", Fields(param).substr(1)));
  Close();
  Open(fmt::format("host {{{} body", Fields(kernel_.host)));
  PrintOps(kernel_.host.body);
  --indent_;
  Line("} }");
  Open("errors");
  for (const ErrorMessage& error : kernel_.errors) {
    Line(fmt::format("{}{};", Fields(error).substr(1), LocText(error.loc)));
  }
  Close();
  Open("body");
  PrintOps(kernel_.body);
  Close();
  Close();
}

}  // namespace

bool IsIdentifier(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return true;
}

TextNames MakeTextNames(const Kernel& kernel) {
  TextNames names;
  NameAll(kernel.vars, '%', names.vars);
  NameAll(kernel.storages, '$', names.storages);
  return names;
}

std::string Quote(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string FloatText(double value, Elem elem) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text =
      elem == Elem::kF32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string PrintExpr(const Kernel& kernel, ExprId id) { return Printer(kernel).Value(id); }
std::string PrintOpLine(const Kernel& kernel, const Op& op) { return Printer(kernel).OpLine(op); }

std::string Print(const Module& module) {
  std::string text =
      fmt::format("module state={} source={}\n", Word(module.state), Quote(module.source_name));
  for (const SourceLine& line : module.lines) {
    text += fmt::format("line {} {}\n", line.line, Quote(line.text));
  }
  for (const Kernel& kernel : module.kernels) {
    Printer printer(kernel);
    printer.PrintKernel();
    text += '\n';
    text += printer.Take();
  }
  return text;
}

}  // namespace choreo::ir
