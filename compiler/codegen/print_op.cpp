#include "codegen/print_op.h"

#include <algorithm>

#include "codegen/cpp_types.h"
#include "ir/builder.h"
#include "ir/walk.h"

namespace choreo::codegen {
namespace {

using ir::ExprId;

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  text = text.substr(begin);
  // A backslash at the end would continue the comment on the next line.
  return text.substr(0, text.find_last_not_of(" \t\r\\") + 1);
}

// Lives in shared memory for the whole kernel: its declaration prints nothing.
bool HasFixedPlace(const ir::Storage& storage) {
  return storage.kind == ir::StorageKind::Shared || storage.kind == ir::StorageKind::Event;
}

}  // namespace

void OpPrinter::PrintBody(const ir::Region& region) {
  for (const ir::Op& op : region.ops) PrintOp(op);
}

void OpPrinter::PrintScope(const ir::Region& region) {
  names_.Enter();
  const std::string role = role_;
  PrintBody(region);
  role_ = role;
  names_.Leave();
}

void OpPrinter::PrintOp(const ir::Op& op) {
  loc_ = op.loc;
  // What prints nothing needs no comment.
  const auto* decl = std::get_if<ir::Decl>(&op.node);
  const bool silent = decl != nullptr && HasFixedPlace(kernel_.storages[decl->storage]);
  if (!silent) Place(op.loc);
  std::visit([&](const auto& node) { Print(node); }, op.node);
}

void OpPrinter::Place(ir::Loc loc) {
  if (loc.line == 0 || loc.line == comment_line_) return;
  comment_line_ = loc.line;
  const auto& lines = program_.module.lines;
  const auto found = std::lower_bound(
      lines.begin(), lines.end(), loc.line,
      [](const ir::SourceLine& line, uint32_t number) { return line.line < number; });
  if (found == lines.end() || found->line != loc.line) return;
  out_.Line(fmt::format("// {}: {}", loc.line, Trimmed(found->text)));
}

void OpPrinter::Line(std::string_view text) {
  if (program_.line_directives == LineDirectives::Source && loc_.line != 0) {
    out_.Raw(fmt::format("#line {} {}", loc_.line, CppString(program_.module.source_name)));
  }
  out_.Line(text);
}

// ---- scalars and control flow -----------------------------------------------------------------

void OpPrinter::Print(const ir::Let& op) {
  // The value is printed before the name is taken: it may read what the name hides.
  const std::string value = exprs_.Print(op.value);
  const std::string_view type = DeviceType(kernel_.vars[op.var].type);
  Line(fmt::format("const {} {} = {};", type, names_.Define(op.var), value));
}

void OpPrinter::Print(const ir::VarDecl& op) {
  const std::string value = exprs_.Print(op.init);
  const std::string_view type = DeviceType(kernel_.vars[op.var].type);
  Line(fmt::format("{} {} = {};", type, names_.Define(op.var), value));
}

void OpPrinter::Print(const ir::Assign& op) {
  Line(fmt::format("{} = {};", names_.Of(op.var), exprs_.Print(op.value)));
}

bool OpPrinter::IsVolatile(ExprId id) const {
  bool found = false;
  ir::ForEachSubExpr(kernel_, id, [&](ExprId e) {
    const ir::ExprNode& node = kernel_.exprs[e].node;
    const auto* ref = std::get_if<ir::VarRef>(&node);
    found |= ref != nullptr && kernel_.vars[ref->var].kind == ir::VarKind::Mutable;
    found |=
        std::holds_alternative<ir::FragElem>(node) || std::holds_alternative<ir::MemElem>(node);
  });
  return found;
}

void OpPrinter::Print(const ir::For& op) {
  if (op.unroll == -1) {
    out_.Line("#pragma unroll");
  } else if (op.unroll > 0) {
    out_.Line(fmt::format("#pragma unroll {}", op.unroll));
  }
  const std::string low = exprs_.Print(op.low);
  std::string high = exprs_.Print(op.high, 10);
  std::string step = exprs_.Print(op.step);
  const bool keep_high = IsVolatile(op.high), keep_step = IsVolatile(op.step);
  const auto constant_step = ir::AsInt(kernel_, op.step);
  names_.Enter();
  const std::string& var = names_.Define(op.var);
  std::string init = fmt::format("{} {} = {}", DeviceType(kernel_.vars[op.var].type), var, low);
  if (keep_high) {
    const std::string name = names_.Define(var + "_end");
    init += fmt::format(", {} = {}", name, high);
    high = name;
  }
  if (keep_step) {
    const std::string name = names_.Define(var + "_step");
    init += fmt::format(", {} = {}", name, step);
    step = name;
  }
  std::string condition = fmt::format("{} < {}", var, high);
  std::string advance = fmt::format("{} += {}", var, step);
  if (constant_step && *constant_step < 0) {
    condition = fmt::format("{} > {}", var, high);
    advance = *constant_step == -1 ? fmt::format("--{}", var)
                                   : fmt::format("{} -= {}", var, -*constant_step);
  } else if (constant_step == 1) {
    advance = fmt::format("++{}", var);
  } else if (!constant_step) {
    condition = fmt::format("{} > 0 ? {} < {} : {} > {}", step, var, high, var, high);
  }
  Line(fmt::format("for ({}; {}; {}) {{", init, condition, advance));
  out_.Indent();
  PrintScope(op.body);
  out_.Close();
  names_.Leave();
}

void OpPrinter::Print(const ir::While& op) {
  Line(fmt::format("while ({}) {{", exprs_.Print(op.condition)));
  out_.Indent();
  PrintScope(op.body);
  out_.Close();
}

void OpPrinter::Print(const ir::If& op) {
  Line(fmt::format("if ({}) {{", exprs_.Print(op.condition)));
  out_.Indent();
  PrintScope(op.then_body);
  if (!op.else_body.ops.empty()) {
    out_.Close("} else {");
    out_.Indent();
    PrintScope(op.else_body);
  }
  out_.Close();
}

void OpPrinter::Print(const ir::RawCpp& op) {
  // Mistakes in raw text are the user's, at the user's line.
  if (loc_.line != 0) {
    out_.Raw(fmt::format("#line {} {}", loc_.line, CppString(program_.module.source_name)));
  }
  out_.Raw(op.text);
  if (program_.line_directives == LineDirectives::Generated) {
    out_.Raw(fmt::format("#line {} {}", out_.line() + 1, CppString(program_.output_name)));
  }
}

// 16-bit fragments are packed: the function gets an array of elements, which is packed again after.
void OpPrinter::Print(const ir::OpaqueCall& op) {
  std::string args;
  std::vector<std::pair<std::string, std::string>> unpacked;  // elements, fragment
  size_t value = 0, frag = 0;
  names_.Enter();
  std::vector<std::string> before;
  for (const char kind : op.kinds) {
    if (!args.empty()) args += ", ";
    if (kind == 'f') {
      const ir::StorageId id = op.frags[frag++];
      const ir::Storage& storage = kernel_.storages[id];
      if (!IsHalf(storage.elem)) {
        args += names_.Of(id);
        continue;
      }
      const std::string elements = names_.Define(storage.name + "_elements");
      before.push_back(fmt::format("{} {}[{}];", DeviceType(storage.elem), elements,
                                   (ir::FragElems(kernel_, storage) + 1) / 2 * 2));
      unpacked.emplace_back(elements, names_.Of(id));
      args += elements;
      continue;
    }
    const ExprId e = op.values[value++];
    if (kind != 'v') {
      const auto& element = std::get<ir::MemElem>(kernel_.exprs[e].node);
      args += exprs_.Pointer(element.storage, element.index);
    } else if (std::holds_alternative<ir::VarRef>(kernel_.exprs[e].node)) {
      // A value, also to a function that takes a reference.
      const std::string_view type = DeviceType(kernel_.exprs[e].type);
      args += fmt::format("static_cast<{}>({})", type, exprs_.Print(e));
    } else {
      args += exprs_.Print(e);
    }
  }
  if (!unpacked.empty()) {
    Line("{");
    out_.Indent();
  }
  for (const std::string& line : before) Line(line);
  for (const auto& [elements, name] : unpacked) {
    Line(fmt::format("choreo::to_elements({}, {});", elements, name));
  }
  Line(fmt::format("{}({});", op.callee, args));
  for (const auto& [elements, name] : unpacked) {
    Line(fmt::format("choreo::from_elements({}, {});", name, elements));
  }
  if (!unpacked.empty()) out_.Close();
  names_.Leave();
}

// ---- fragments --------------------------------------------------------------------------------

void OpPrinter::Print(const ir::Decl& op) {
  const ir::Storage& storage = kernel_.storages[op.storage];
  if (HasFixedPlace(storage)) return;
  std::string shape;
  int64_t count = storage.array_size;
  for (const ExprId dim : storage.dims) {
    const int64_t extent = *ir::AsInt(kernel_, dim);
    count *= extent;
    shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
  }
  const std::string name = names_.Define(op.storage);
  if (storage.kind == ir::StorageKind::Local) {
    Line(fmt::format("{} {}[{}];", DeviceType(storage.elem), name, count));
    return;
  }
  const int64_t elements = ir::FragElems(kernel_, storage);
  const bool packed = IsHalf(storage.elem);
  Line(fmt::format("{} {}[{}];  // {} [{}]{}", packed ? "uint32_t" : DeviceType(storage.elem), name,
                   packed ? (elements + 1) / 2 : elements, Spelling(storage.elem), shape,
                   packed ? ", two a word" : ""));
}

void OpPrinter::Print(const ir::FragSet& op) {
  const Elem elem = ElemOf(op.frag);
  if (IsHalf(elem)) {
    Line(fmt::format("choreo::set<{}>({}, {}, {});", DeviceType(elem), names_.Of(op.frag),
                     exprs_.Print(op.index[0]), exprs_.Unrounded(op.value)));
  } else {
    Line(fmt::format("{} = {};", exprs_.Element(op.frag, op.index[0]), exprs_.Print(op.value)));
  }
}

void OpPrinter::Print(const ir::FragTie& op) {
  Line(fmt::format("ptx::tie({});", names_.Of(op.frag)));
}

void OpPrinter::Print(const ir::FragPack& op) {
  Line(fmt::format("{} = choreo::pack<{}>({}, {});", exprs_.Element(op.frag, op.word),
                   DeviceType(ElemOf(op.frag)), exprs_.Print(op.low), exprs_.Print(op.high)));
}

std::string OpPrinter::Words(ir::StorageId frag, ExprId word, int count) const {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("{}{}[{}]", i == 0 ? "" : ", ", names_.Of(frag), exprs_.Plus(word, i));
  }
  return text;
}

// ---- matrices ---------------------------------------------------------------------------------

void OpPrinter::Print(const ir::Wgmma& op) {
  const std::string shape =
      fmt::format("ptx::wgmma_m64n{}k16_f32_{}", op.n, op.elem == Elem::kBf16 ? "bf16" : "f16");
  const int trans_b = op.trans_b ? 1 : 0;
  if (op.a_frag) {
    std::string words;
    for (int i = 0; i < 4; ++i) {
      words += fmt::format("{}[{}], ", names_.Of(op.a_frag), op.a_word + i);
    }
    Line(fmt::format("{}_rs<{}>({}, {}{}, {});", shape, trans_b, names_.Of(op.acc), words,
                     exprs_.Print(op.b_desc), exprs_.Print(op.scale_d)));
  } else {
    Line(fmt::format("{}<0, {}>({}, {}, {}, {});", shape, trans_b, names_.Of(op.acc),
                     exprs_.Print(op.a_desc), exprs_.Print(op.b_desc), exprs_.Print(op.scale_d)));
  }
}

void OpPrinter::Print(const ir::WgmmaWait& op) {
  Line(fmt::format("ptx::wgmma_wait_group<{}>();", op.pending));
}

void OpPrinter::Print(const ir::StMatrix& op) {
  Line(fmt::format("ptx::stmatrix_x{}({}, {});", op.count, exprs_.SharedAddress(op.dst, op.index),
                   Words(op.frag, op.word, op.count)));
}

void OpPrinter::Print(const ir::LdMatrix& op) {
  Line(fmt::format("ptx::ldmatrix_x{}({}, {});", op.count, Words(op.frag, op.word, op.count),
                   exprs_.SharedAddress(op.src, op.index)));
}

}  // namespace choreo::codegen
