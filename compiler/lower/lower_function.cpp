// Parameters, the host part before `parallel`, and the grid.
#include "lower/context.h"

namespace choreo::lower {

const std::vector<sema::EntityId>& Lowering::Declared(ast::StmtId id) const {
  const auto it = in_.sema.declared.find(id);
  CHOREO_CHECK(it != in_.sema.declared.end(), "statement declares nothing");
  return it->second;
}

ir::Loc Lowering::LocOf(SourceRange range) const {
  // Text of a macro from another file has no place in the main file: the statement around it has.
  if (!range.valid() || range.begin.file != in_.unit.file) return loc_;
  const LineColumn at = in_.sources.Position(range.begin);
  return {at.line, at.column};
}

ir::VarId Lowering::DeclareVar(sema::EntityId id, ir::VarKind kind) {
  const sema::Entity& entity = Ent(id);
  const ir::VarId var = build_.NewVar(entity.name, entity.type.elem, kind, LocOf(entity.declared));
  bindings_[id] = var;
  return var;
}

ir::ExprId Lowering::Constant(const sema::Extent& extent) {
  CHOREO_CHECK(extent.value.has_value(), "extent `{}` is not a constant", extent.text);
  return build_.Int(*extent.value);
}

void Lowering::LowerParams() {
  const ast::Function& function = in_.file.functions[function_];
  const auto dims = in_.sema.dims.find(function_);
  if (dims != in_.sema.dims.end()) {
    for (const sema::EntityId dim : dims->second) DeclareVar(dim, ir::VarKind::Dim);
  }
  const std::vector<sema::EntityId>& entities = in_.sema.params.at(function_);
  for (size_t i = 0; i < function.params.size(); ++i) {
    const ast::Param& param = function.params[i];
    ir::Param out;
    out.name = param.name.text;
    out.elem = param.type;
    if (!param.is_shaped) {
      out.var = DeclareVar(entities[i], ir::VarKind::Param);
      kernel_.params.push_back(out);
      continue;
    }
    ir::Storage storage;
    storage.name = param.name.text;
    storage.kind = ir::StorageKind::Param;
    storage.elem = param.type;
    storage.param_index = static_cast<int32_t>(i);
    storage.loc = LocOf(param.name.range);
    for (size_t axis = 0; axis < param.dims.size(); ++axis) {
      storage.dims.push_back(Scalar(param.dims[axis]));
      if (axis + 1 == param.dims.size()) {
        storage.strides.push_back(build_.Int(1, Elem::kS64));
      } else {
        const ir::VarId stride = build_.NewVar(fmt::format("{}_stride{}", param.name.text, axis),
                                               Elem::kS64, ir::VarKind::Stride, storage.loc);
        storage.strides.push_back(build_.Var(stride));
      }
    }
    out.shaped = true;
    out.host_memory = !param.is_global;
    out.storage = kernel_.storages.Add(std::move(storage));
    bindings_[entities[i]] = out.storage;
    kernel_.params.push_back(out);
  }
}

void Lowering::LaunchAttributes(const std::vector<ast::Attribute>& attributes) {
  for (const ast::Attribute& attribute : attributes) {
    const auto value = [&](size_t i) -> std::optional<int64_t> {
      if (i >= attribute.args.size() || IsWildcard(attribute.args[i])) return std::nullopt;
      return in_.sema.constants[attribute.args[i]];
    };
    if (attribute.name.text == "launch_bounds") {
      kernel_.host.max_threads_bound = static_cast<int32_t>(value(0).value_or(0));
      kernel_.host.min_blocks = static_cast<int32_t>(value(1).value_or(1));
    } else if (attribute.name.text == "maxnreg") {
      kernel_.host.max_registers = static_cast<int32_t>(value(0).value_or(0));
    } else if (attribute.name.text == "cluster") {
      kernel_.host.cluster = static_cast<int32_t>(value(0).value_or(1));
    } else if (attribute.name.text == "covers") {
      const ir::Loc loc = LocOf(attribute.name.range);
      for (const ast::ExprId arg : attribute.args) {
        const auto storage = std::get<ir::StorageId>(bindings_.at(in_.sema.refs.at(arg)));
        kernel_.host.covers.push_back({kernel_.storages[storage].param_index,
                                       static_cast<int32_t>(loc.line),
                                       static_cast<int32_t>(loc.column)});
      }
    } else {
      CHOREO_UNREACHABLE("attribute `{}`", attribute.name.text);
    }
  }
}

void Lowering::Run() {
  const ast::Function& function = in_.file.functions[function_];
  loc_ = {};
  if (function.name.range.valid()) {
    const SourceRange place = function.name.range.begin.file == in_.unit.file
                                  ? function.name.range
                                  : in_.unit.functions[function.unit_index].text;
    loc_ = LocOf(place);
  }
  kernel_.name = function.name.text;
  kernel_.loc = loc_;
  LowerParams();

  const ast::Block* body = in_.file.As<ast::Block>(function.body);
  CHOREO_CHECK(body != nullptr);
  WatchFutures(function.body);
  for (const ast::StmtId id : body->statements) {
    const ast::Stmt& stmt = in_.file.stmts[id];
    const ir::Loc outer = loc_;
    loc_ = LocOf(stmt.range);
    if (const auto* parallel = in_.file.As<ast::Parallel>(id)) {
      out_ = &kernel_.body.ops;
      // Host scalars are computed again on the device: they are cheap and pure.
      for (const ir::Op& op : kernel_.host.body.ops) {
        if (std::holds_alternative<ir::Let>(op.node)) out_->push_back(op);
      }
      LaunchAttributes(parallel->attributes);
      LaunchAttributes(stmt.attributes);
      kernel_.host.async = parallel->async;
      ParallelFrom(0, 0, *parallel, Declared(id));
    } else {
      out_ = &kernel_.host.body.ops;
      Statement(id);
    }
    loc_ = outer;
  }
  CheckCalls();
  CheckFutureTiles();
}

}  // namespace choreo::lower
