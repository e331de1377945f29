// Scalar expressions.
#include <limits>
#include <utility>

#include "lower/context.h"

namespace choreo::lower {
namespace {

ir::BinaryOp IrOp(ast::BinaryOp op) {
  using A = ast::BinaryOp;
  using I = ir::BinaryOp;
  switch (op) {
    case A::Add:
      return I::Add;
    case A::Sub:
      return I::Sub;
    case A::Mul:
      return I::Mul;
    case A::Div:
      return I::Div;
    case A::Mod:
      return I::Mod;
    case A::Shl:
      return I::Shl;
    case A::Shr:
      return I::Shr;
    case A::BitAnd:
      return I::BitAnd;
    case A::BitOr:
      return I::BitOr;
    case A::BitXor:
      return I::BitXor;
    case A::And:
      return I::And;
    case A::Or:
      return I::Or;
    case A::Less:
      return I::Lt;
    case A::LessEqual:
      return I::Le;
    case A::Greater:
      return I::Gt;
    case A::GreaterEqual:
      return I::Ge;
    case A::Equal:
      return I::Eq;
    case A::NotEqual:
      return I::Ne;
    case A::Compose:
      break;
  }
  CHOREO_UNREACHABLE("`#` has its own lowering");
}

struct BuiltIn {
  std::string_view name;
  ir::Intrinsic intrinsic;
};

constexpr BuiltIn kBuiltIns[] = {
    {"__max", ir::Intrinsic::Max},      {"__min", ir::Intrinsic::Min},
    {"__exp2f", ir::Intrinsic::Exp2},   {"__expf", ir::Intrinsic::Exp},
    {"__logf", ir::Intrinsic::Log},     {"__log2f", ir::Intrinsic::Log2},
    {"__rsqrtf", ir::Intrinsic::Rsqrt}, {"__abs", ir::Intrinsic::Abs},
    {"__fma", ir::Intrinsic::Fma},      {"cdiv", ir::Intrinsic::CDiv},
};

}  // namespace

ir::ExprId Lowering::Convert(ir::ExprId e, Elem type) {
  return kernel_.exprs[e].type == type ? e : build_.Cast(e, type);
}

ir::ExprId Lowering::ScalarAs(ast::ExprId id, Elem type) { return Convert(Scalar(id), type); }

ir::ExprId Lowering::Condition(ast::ExprId id) {
  const ir::ExprId e = Scalar(id);
  const Elem type = kernel_.exprs[e].type;
  if (type == Elem::kBool) return e;
  return build_.Ne(e, IsFloat(type) ? build_.Float(0.0, type) : build_.Int(0, type));
}

ir::ExprId Lowering::Arithmetic(ast::BinaryOp op, ir::ExprId left, ir::ExprId right) {
  const Elem left_type = kernel_.exprs[left].type;
  const Elem right_type = kernel_.exprs[right].type;
  if (op == ast::BinaryOp::Shl || op == ast::BinaryOp::Shr) {
    const Elem promoted = sema::CommonType(left_type, Elem::kS32);
    const Elem type = Bits(left_type) >= 32 ? left_type : promoted;
    return build_.Bin(IrOp(op), Convert(left, type), Convert(right, type));
  }
  const Elem common = sema::CommonType(left_type, right_type);
  return build_.Bin(IrOp(op), Convert(left, common), Convert(right, common));
}

Lowering::Part Lowering::PartOf(const std::function<ir::ExprId()>& lower) {
  Part part;
  std::vector<ir::Op>* const outer = std::exchange(out_, &part.ops);
  part.value = lower();
  out_ = outer;
  return part;
}

// The value of one of two parts of an expression; what the other does is not done.
ir::ExprId Lowering::Choose(ir::ExprId condition, Part then_part, Part else_part) {
  const Elem type = kernel_.exprs[then_part.value].type;
  const ir::VarId chosen = build_.NewVar("chosen", type, ir::VarKind::Mutable, loc_);
  const ir::ExprId nothing = type == Elem::kBool ? build_.Bool(false)
                             : IsFloat(type)     ? build_.Float(0.0, type)
                                                 : build_.Int(0, type);
  Emit(ir::VarDecl{chosen, nothing});
  ir::If op{condition, {std::move(then_part.ops)}, {std::move(else_part.ops)}};
  op.then_body.ops.push_back({loc_, ir::Assign{chosen, then_part.value}});
  op.else_body.ops.push_back({loc_, ir::Assign{chosen, else_part.value}});
  Emit(std::move(op));
  return build_.Var(chosen);
}

ir::ExprId Lowering::ScalarBinary(ast::ExprId id, const ast::Binary& node) {
  switch (node.op) {
    case ast::BinaryOp::And:
    case ast::BinaryOp::Or: {
      const bool both = node.op == ast::BinaryOp::And;
      const ir::ExprId left = Condition(node.left);
      Part right = PartOf([&] { return Condition(node.right); });
      if (right.ops.empty()) return build_.Bin(IrOp(node.op), left, right.value);
      Part known{{}, build_.Bool(!both)};
      return both ? Choose(left, std::move(right), std::move(known))
                  : Choose(left, std::move(known), std::move(right));
    }
    case ast::BinaryOp::Compose: {
      const ir::ExprId left = ScalarAs(node.left, Elem::kS32);
      const ir::ExprId bound = BoundOf(node.right);
      const ir::ExprId right = ScalarAs(node.right, Elem::kS32);
      return build_.Add(build_.Mul(left, bound), right);
    }
    default:
      break;
  }
  (void)id;
  const ir::ExprId left = Scalar(node.left);
  return Arithmetic(node.op, left, Scalar(node.right));
}

ir::ExprId Lowering::ScalarUnary(const ast::Unary& node) {
  switch (node.op) {
    case ast::UnaryOp::BoundOf:
      return BoundOf(node.operand);
    case ast::UnaryOp::Not:
      return build_.Not(Condition(node.operand));
    case ast::UnaryOp::Plus:
    case ast::UnaryOp::Minus:
    case ast::UnaryOp::BitNot: {
      const ir::ExprId e = Scalar(node.operand);
      const Elem type = kernel_.exprs[e].type;
      // Integer promotion, and f32 for the 16-bit floats.
      const ir::ExprId promoted =
          Convert(e, sema::CommonType(type, IsFloat(type) ? type : Elem::kS32));
      if (node.op == ast::UnaryOp::Plus) return promoted;
      return node.op == ast::UnaryOp::Minus ? build_.Neg(promoted) : build_.BitNot(promoted);
    }
  }
  CHOREO_UNREACHABLE();
}

ir::ExprId Lowering::ScalarCall(ast::ExprId id, const ast::Call& node) {
  const Elem type = T(id).elem;
  if (node.callee.text == "__to") return Convert(Scalar(node.args[0]), *node.type_arg);
  for (const BuiltIn& built_in : kBuiltIns) {
    if (built_in.name != node.callee.text) continue;
    std::vector<ir::ExprId> args;
    for (const ast::ExprId arg : node.args) args.push_back(ScalarAs(arg, type));
    return build_.Call(built_in.intrinsic, args);
  }
  CHOREO_UNREACHABLE("call of `{}`", node.callee.text);
}

ir::ExprId Lowering::Increment(const ast::IncDec& node) {
  const ir::ExprId old_value = Scalar(node.operand);
  const Elem type = kernel_.exprs[old_value].type;
  const ir::ExprId before = node.prefix ? old_value : Freeze(old_value, "before");
  const ir::ExprId one = IsFloat(type) ? build_.Float(1.0, type) : build_.Int(1, type);
  const ir::ExprId after = node.increment ? build_.Add(old_value, one) : build_.Sub(old_value, one);
  Store(node.operand, after);
  return node.prefix ? Scalar(node.operand) : before;
}

// `before`, unless invalid, becomes what the element was.
void Lowering::Atomic(const ast::Atomic& node, ir::VarId before) {
  constexpr ir::AtomicKind kKinds[] = {ir::AtomicKind::Add, ir::AtomicKind::Max,
                                       ir::AtomicKind::Min};
  const ir::View view = ViewOf(node.element);
  const ir::ExprId value = ScalarAs(node.value, kernel_.storages[view.storage].elem);
  Emit(ir::AtomicElem{before, kKinds[static_cast<size_t>(node.op)], AddView(view), value});
}

ir::ExprId Lowering::Scalar(ast::ExprId id) {
  const ast::Expr& expr = E(id);
  const sema::Type& type = T(id);
  if (const auto* node = std::get_if<ast::IntLiteral>(&expr.node)) {
    return build_.Int(static_cast<int64_t>(node->value), node->type);
  }
  if (const auto* node = std::get_if<ast::FloatLiteral>(&expr.node)) {
    return build_.Float(node->value, node->type);
  }
  if (const auto* node = std::get_if<ast::BoolLiteral>(&expr.node)) return build_.Bool(node->value);
  if (const auto* node = std::get_if<ast::NameRef>(&expr.node)) {
    const auto ref = in_.sema.refs.find(id);
    if (ref == in_.sema.refs.end()) {
      CHOREO_CHECK(node->name == "inf", "unresolved name `{}`", node->name);
      return build_.Float(std::numeric_limits<double>::infinity(), Elem::kF32);
    }
    const Binding& binding = bindings_.at(ref->second);
    if (const auto* var = std::get_if<ir::VarId>(&binding)) return build_.Var(*var);
    return build_.ViewElem(AddView(ViewOf(id)));
  }
  if (const auto* node = std::get_if<ast::Unary>(&expr.node)) return ScalarUnary(*node);
  if (const auto* node = std::get_if<ast::Binary>(&expr.node)) return ScalarBinary(id, *node);
  if (const auto* node = std::get_if<ast::Conditional>(&expr.node)) {
    const ir::ExprId condition = Condition(node->condition);
    Part then_part = PartOf([&] { return ScalarAs(node->then_value, type.elem); });
    Part else_part = PartOf([&] { return ScalarAs(node->else_value, type.elem); });
    if (then_part.ops.empty() && else_part.ops.empty()) {
      return build_.Select(condition, then_part.value, else_part.value);
    }
    return Choose(condition, std::move(then_part), std::move(else_part));
  }
  if (const auto* node = std::get_if<ast::IncDec>(&expr.node)) return Increment(*node);
  if (const auto* node = std::get_if<ast::Call>(&expr.node)) return ScalarCall(id, *node);
  if (const auto* node = std::get_if<ast::SpanSize>(&expr.node)) {
    ir::ExprId product = build_.Int(1);
    for (const ir::ExprId extent : Elements(node->operand)) product = build_.Mul(product, extent);
    return product;
  }
  if (const auto* node = std::get_if<ast::MethodCall>(&expr.node)) {
    const sema::TypeKind base = T(node->base).kind;
    if (base == sema::TypeKind::Fragment && node->name.text == "at") {
      std::vector<ir::ExprId> index;
      for (const ast::ExprId arg : node->args) index.push_back(ScalarAs(arg, Elem::kS32));
      return build_.FragElem(Fragment(node->base), index);
    }
    if (base == sema::TypeKind::Tuple || base == sema::TypeKind::Shape ||
        node->name.text == "span") {
      const std::vector<ir::ExprId> elements =
          node->name.text == "span" ? ExtentsOf(node->base) : Elements(node->base);
      const auto index = in_.sema.constants[node->args[0]];
      CHOREO_CHECK(index && static_cast<size_t>(*index) < elements.size());
      return elements[static_cast<size_t>(*index)];
    }
    return build_.ViewElem(AddView(ViewOf(id)));
  }
  if (const auto* node = std::get_if<ast::AnyOf>(&expr.node)) return AnyOf(id, *node);
  if (const auto* node = std::get_if<ast::Atomic>(&expr.node)) {
    const ir::VarId before = build_.NewVar("before", type.elem, ir::VarKind::Let, loc_);
    Atomic(*node, before);
    return build_.Var(before);
  }
  if (type.kind == sema::TypeKind::Tuple) return Elements(id)[0];
  CHOREO_UNREACHABLE("{} is not a scalar", ast::Describe(expr));
}

ir::ExprId Lowering::BoundOfEntity(sema::EntityId id) {
  const Binding& binding = bindings_.at(id);
  const auto* var = std::get_if<ir::VarId>(&binding);
  CHOREO_CHECK(var != nullptr && kernel_.vars[*var].bound.valid(), "`{}` has no bound",
               Ent(id).name);
  return kernel_.vars[*var].bound;
}

ir::ExprId Lowering::BoundOf(ast::ExprId id) {
  if (in_.file.As<ast::NameRef>(id)) {
    const sema::EntityId entity = in_.sema.refs.at(id);
    const Binding& binding = bindings_.at(entity);
    const auto* var = std::get_if<ir::VarId>(&binding);
    if (var != nullptr && kernel_.vars[*var].bound) return kernel_.vars[*var].bound;
  }
  if (const auto* node = in_.file.As<ast::Binary>(id)) {
    if (node->op == ast::BinaryOp::Compose) {
      return build_.Mul(BoundOf(node->left), BoundOf(node->right));
    }
  }
  const sema::Type& type = T(id);
  CHOREO_CHECK(type.bound.has_value(), "{} has no bound", ast::Describe(E(id)));
  return Constant(*type.bound);
}

std::vector<ir::ExprId> Lowering::ExtentsOf(ast::ExprId id) {
  if (T(id).kind == sema::TypeKind::Fragment) return kernel_.storages[Fragment(id)].dims;
  std::vector<ir::ExprId> extents;
  for (const ir::View::Axis& axis : ViewOf(id).axes) extents.push_back(axis.extent);
  return extents;
}

std::vector<ir::ExprId> Lowering::Elements(ast::ExprId id) {
  const ast::Expr& expr = E(id);
  const auto each = [&](const std::vector<ast::ExprId>& from) {
    std::vector<ir::ExprId> out;
    for (const ast::ExprId e : from) {
      const sema::TypeKind kind = T(e).kind;
      if (kind == sema::TypeKind::Tuple || kind == sema::TypeKind::Shape) {
        for (const ir::ExprId inner : Elements(e)) out.push_back(inner);
      } else {
        out.push_back(ScalarAs(e, Elem::kS32));
      }
    }
    return out;
  };
  if (const auto* node = std::get_if<ast::TupleLiteral>(&expr.node)) return each(node->elements);
  if (const auto* node = std::get_if<ast::ShapeLiteral>(&expr.node)) return each(node->extents);
  if (const auto* node = std::get_if<ast::Member>(&expr.node)) {
    if (node->name.text == "span") return ExtentsOf(node->base);
  }
  if (std::holds_alternative<ast::NameRef>(expr.node)) {
    const Binding& binding = bindings_.at(in_.sema.refs.at(id));
    if (const auto* tuple = std::get_if<std::vector<ir::ExprId>>(&binding)) return *tuple;
  }
  if (const auto* node = std::get_if<ast::Binary>(&expr.node)) {
    const bool left_many =
        T(node->left).kind == sema::TypeKind::Tuple || T(node->left).kind == sema::TypeKind::Shape;
    const bool right_many = T(node->right).kind == sema::TypeKind::Tuple ||
                            T(node->right).kind == sema::TypeKind::Shape;
    const std::vector<ir::ExprId> left =
        left_many ? Elements(node->left) : std::vector{ScalarAs(node->left, Elem::kS32)};
    const std::vector<ir::ExprId> right =
        right_many ? Elements(node->right) : std::vector{ScalarAs(node->right, Elem::kS32)};
    std::vector<ir::ExprId> out;
    for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      out.push_back(
          Arithmetic(node->op, left[left.size() == 1 ? 0 : i], right[right.size() == 1 ? 0 : i]));
    }
    return out;
  }
  return {ScalarAs(id, Elem::kS32)};
}

void Lowering::Store(ast::ExprId target, ir::ExprId value) {
  if (in_.file.As<ast::NameRef>(target)) {
    const Binding& binding = bindings_.at(in_.sema.refs.at(target));
    if (const auto* var = std::get_if<ir::VarId>(&binding)) {
      Emit(ir::Assign{*var, Convert(value, kernel_.vars[*var].type)});
      return;
    }
  }
  if (const auto* node = in_.file.As<ast::MethodCall>(target)) {
    if (T(node->base).kind == sema::TypeKind::Fragment) {
      const ir::StorageId frag = Fragment(node->base);
      std::vector<ir::ExprId> index;
      for (const ast::ExprId arg : node->args) index.push_back(ScalarAs(arg, Elem::kS32));
      Emit(ir::FragSet{frag, index, Convert(value, kernel_.storages[frag].elem)});
      return;
    }
  }
  const ir::View view = ViewOf(target);
  const Elem elem = kernel_.storages[view.storage].elem;
  Emit(ir::StoreElem{AddView(view), Convert(value, elem)});
}

bool Lowering::MayChange(ir::ExprId e) const {
  const ir::ExprNode& node = kernel_.exprs[e].node;
  if (const auto* ref = std::get_if<ir::VarRef>(&node)) {
    return kernel_.vars[ref->var].kind == ir::VarKind::Mutable;
  }
  if (std::holds_alternative<ir::FragElem>(node) || std::holds_alternative<ir::ViewElem>(node)) {
    return true;
  }
  if (const auto* n = std::get_if<ir::Unary>(&node)) return MayChange(n->operand);
  if (const auto* n = std::get_if<ir::Binary>(&node))
    return MayChange(n->left) || MayChange(n->right);
  if (const auto* n = std::get_if<ir::Cast>(&node)) return MayChange(n->operand);
  if (const auto* n = std::get_if<ir::Select>(&node)) {
    return MayChange(n->condition) || MayChange(n->then_value) || MayChange(n->else_value);
  }
  if (const auto* n = std::get_if<ir::Call>(&node)) {
    for (const ir::ExprId arg : n->args) {
      if (MayChange(arg)) return true;
    }
  }
  return false;
}

ir::ExprId Lowering::Freeze(ir::ExprId e, std::string_view name) {
  if (!MayChange(e)) return e;
  const ir::VarId var =
      build_.NewVar(std::string(name), kernel_.exprs[e].type, ir::VarKind::Let, loc_);
  Emit(ir::Let{var, e});
  return build_.Var(var);
}

}  // namespace choreo::lower
