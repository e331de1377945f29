#include "lower/lower.h"

#include <set>

#include "ir/raw_text.h"
#include "ir/walk.h"
#include "lower/context.h"

namespace choreo::lower {
namespace {

// The lines that ops are placed at, for the comments of generated code.
void CollectLines(const ir::Region& region, std::set<uint32_t>& lines) {
  ir::ForEachOp(region, [&](const ir::Op& op) {
    if (op.loc.line != 0) lines.insert(op.loc.line);
  });
}

// Parameters that the body writes: the launcher takes the others as views of const.
void MarkWritten(ir::Kernel& kernel) {
  const auto written = [&](ir::ViewId view) {
    const ir::Storage& storage = kernel.storages[kernel.views[view].storage];
    if (storage.kind != ir::StorageKind::Param) return;
    kernel.params[static_cast<size_t>(storage.param_index)].written = true;
  };
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    if (const auto* store = std::get_if<ir::StoreElem>(&op.node)) written(store->dest);
    if (const auto* atomic = std::get_if<ir::AtomicElem>(&op.node)) written(atomic->dest);
    if (const auto* copy = std::get_if<ir::CopySync>(&op.node)) written(copy->dst);
    if (const auto* copy = std::get_if<ir::CopyAsync>(&op.node)) written(copy->dst);
    if (const auto* store = std::get_if<ir::TmaStore>(&op.node)) written(store->dst);
    if (const auto* store = std::get_if<ir::MmaStore>(&op.node)) written(store->dst);
    if (const auto* raw = std::get_if<ir::RawCpp>(&op.node)) {
      for (ir::Param& param : kernel.params) {
        param.written = param.written || (param.shaped && ir::Mentions(raw->text, param.name));
      }
    }
    if (const auto* call = std::get_if<ir::OpaqueCall>(&op.node)) {
      ir::ForEachAddress(*call, [&](ir::ExprId element, bool writes) {
        if (writes) written(std::get<ir::ViewElem>(kernel.exprs[element].node).view);
      });
    }
  });
}

std::string Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  const size_t last = text.find_last_not_of(" \t");
  return std::string(text.substr(first, last - first + 1));
}

}  // namespace

ir::Module Lower(const lex::Unit& unit, const ast::File& file, const sema::Result& sema,
                 const SourceManager& sources, diag::Emitter& diags) {
  const Inputs in{unit, file, sema, sources, diags};
  ir::Module module;
  module.source_name = std::string(sources.Name(unit.file));
  std::set<uint32_t> lines;
  for (size_t i = 0; i < file.functions.size(); ++i) {
    const ast::FunctionId id = file.functions.IdAt(i);
    ir::Kernel& kernel = module.kernels.emplace_back();
    Lowering(in, id, kernel).Run();
    MarkWritten(kernel);
    CollectLines(kernel.body, lines);
    CollectLines(kernel.host.body, lines);
  }
  for (const uint32_t line : lines) {
    module.lines.push_back({line, Trimmed(sources.Line(unit.file, line))});
  }
  return module;
}

}  // namespace choreo::lower
