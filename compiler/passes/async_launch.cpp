#include "passes/async_launch.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "ir/builder.h"
#include "ir/fold.h"
#include "ir/walk.h"

namespace choreo::passes {
namespace {

constexpr int64_t kMostTileExtent = int64_t{1} << 20;
constexpr int kMostTries = 12;  // doublings until the asserts hold

bool IsLaunchVar(const ir::Var& var) {
  return (var.kind == ir::VarKind::Dim || var.kind == ir::VarKind::Param) && !IsFloat(var.type);
}

// Which launch variables are equal, and what their values are multiples of.
class Extents {
 public:
  explicit Extents(const ir::Kernel& kernel) : kernel_(kernel), tile_(kernel.vars.size(), 1) {
    for (size_t i = 0; i < kernel.vars.size(); ++i) same_.push_back(i);
    for (const ir::Op& op : kernel.host.body.ops) {
      const auto* check = std::get_if<ir::Assert>(&op.node);
      if (check == nullptr) continue;
      ir::ForEachConjunct(kernel, check->condition,
                          [&](ir::ExprId condition) { Equal(condition); });
    }
    for (size_t i = 0; i < kernel.exprs.size(); ++i) Divided(kernel.exprs.IdAt(i));
  }

  int64_t TileOf(size_t var) const { return tile_[Root(var)]; }
  // Whether something is divided by it: a number of CTAs, or of parts.
  bool Divides(size_t var) const { return divisors_.contains(Root(var)); }
  bool any_divides() const { return !divisors_.empty(); }
  size_t Root(size_t var) const {
    while (same_[var] != var) var = same_[var];
    return var;
  }

 private:
  std::optional<size_t> LaunchVar(ir::ExprId e) const {
    const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[e].node);
    if (ref == nullptr || !IsLaunchVar(kernel_.vars[ref->var])) return std::nullopt;
    return ref->var.value;
  }

  void Equal(ir::ExprId condition) {
    const auto* binary = std::get_if<ir::Binary>(&kernel_.exprs[condition].node);
    if (binary == nullptr || binary->op != ir::BinaryOp::Eq) return;
    const auto left = LaunchVar(binary->left);
    const auto right = LaunchVar(binary->right);
    if (!left || !right || Root(*left) == Root(*right)) return;
    tile_[Root(*right)] = std::lcm(tile_[Root(*right)], tile_[Root(*left)]);
    same_[Root(*left)] = Root(*right);
  }

  // x / c, x % c and cdiv(x, c): x comes in tiles of c.
  void Divided(ir::ExprId e) {
    const ir::ExprNode& node = kernel_.exprs[e].node;
    ir::ExprId dividend, divisor;
    if (const auto* binary = std::get_if<ir::Binary>(&node)) {
      if (binary->op != ir::BinaryOp::Div && binary->op != ir::BinaryOp::Mod) return;
      dividend = binary->left;
      divisor = binary->right;
    } else if (const auto* call = std::get_if<ir::Call>(&node)) {
      if (call->callee != ir::Intrinsic::CDiv) return;
      dividend = call->args[0];
      divisor = call->args[1];
    } else {
      return;
    }
    const auto c = ir::AsInt(kernel_, divisor);
    if (!c) {
      ir::ForEachSubExpr(kernel_, divisor, [&](ir::ExprId inner) {
        if (const auto var = LaunchVar(inner)) divisors_.insert(Root(*var));
      });
    }
    if (!c || *c < 2 || *c > kMostTileExtent) return;
    ir::ForEachSubExpr(kernel_, dividend, [&](ir::ExprId inner) {
      const auto var = LaunchVar(inner);
      if (!var) return;
      const int64_t both = std::lcm(tile_[Root(*var)], *c);
      if (both <= kMostTileExtent) tile_[Root(*var)] = both;
    });
  }

  const ir::Kernel& kernel_;
  std::vector<int64_t> tile_;
  std::vector<size_t> same_;
  std::set<size_t> divisors_;
};

// Host scalars, then the asserts: false if one of them is known not to hold.
bool HostAccepts(const ir::Kernel& kernel, Evaluator& evaluator) {
  for (const ir::Op& op : kernel.host.body.ops) {
    if (const auto* let = std::get_if<ir::Let>(&op.node)) {
      evaluator.Set(let->var, evaluator.Value(let->value));
    } else if (const auto* check = std::get_if<ir::Assert>(&op.node)) {
      if (evaluator.Value(check->condition) == 0) return false;
    }
  }
  return true;
}

// `assert(TASKS == B * cdiv(S, 128))`: the dimension is what the other side makes it.
void Determine(const ir::Kernel& kernel, Evaluator& evaluator) {
  const auto adopt = [&](ir::ExprId to, ir::ExprId from) {
    while (const auto* cast = std::get_if<ir::Cast>(&kernel.exprs[to].node)) to = cast->operand;
    const auto* ref = std::get_if<ir::VarRef>(&kernel.exprs[to].node);
    if (ref == nullptr || kernel.vars[ref->var].kind != ir::VarKind::Dim) return false;
    const auto value = evaluator.Value(from);
    if (value && *value >= 0) evaluator.Set(ref->var, value);
    return true;
  };
  const auto equate = [&](ir::ExprId condition) {
    const auto* binary = std::get_if<ir::Binary>(&kernel.exprs[condition].node);
    if (binary == nullptr || binary->op != ir::BinaryOp::Eq) return;
    if (!adopt(binary->left, binary->right)) adopt(binary->right, binary->left);
  };
  for (const ir::Op& op : kernel.host.body.ops) {
    if (const auto* let = std::get_if<ir::Let>(&op.node)) {
      evaluator.Set(let->var, evaluator.Value(let->value));
    } else if (const auto* check = std::get_if<ir::Assert>(&op.node)) {
      ir::ForEachConjunct(kernel, check->condition, equate);
    }
  }
}

std::optional<Evaluator> FindLaunch(const ir::Kernel& kernel, const ReadElements& elements,
                                    const Extents& extents, int tiles, bool long_shares) {
  int64_t factor = 1;
  for (int attempt = 0; attempt < kMostTries; ++attempt, factor *= 2) {
    Values values(kernel.vars.size());
    for (size_t i = 0; i < kernel.vars.size(); ++i) {
      const ir::Var& var = kernel.vars[kernel.vars.IdAt(i)];
      const bool one = long_shares && extents.Divides(i);
      if (IsLaunchVar(var)) values[i] = extents.TileOf(i) * (one ? 1 : tiles * factor);
      if (var.type == Elem::kBool && var.kind == ir::VarKind::Param) values[i] = 1;
    }
    Evaluator evaluator(kernel, elements, std::move(values), tiles);
    Determine(kernel, evaluator);
    if (HostAccepts(kernel, evaluator)) return evaluator;
  }
  return std::nullopt;
}

}  // namespace

int LongestRing(const ir::Kernel& kernel) {
  int longest = 1;
  for (const ir::Storage& storage : kernel.storages) {
    if (storage.kind == ir::StorageKind::Event) longest = std::max(longest, storage.array_size);
  }
  return longest;
}

std::vector<Launch> SampleLaunches(const ir::Kernel& kernel, const ReadElements& elements) {
  const int ring = LongestRing(kernel);
  std::vector<int> sizes = {1, 2, 3, ring + 1, 2 * ring + 3, 2 * ring + 4};
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  const Extents extents(kernel);
  std::vector<std::pair<int, bool>> kinds;
  for (const int tiles : sizes) kinds.emplace_back(tiles, false);
  for (const int tiles : sizes) {
    if (extents.any_divides() && tiles > 1) kinds.emplace_back(tiles, true);
  }
  std::vector<Launch> launches;
  for (const auto& [tiles, long_shares] : kinds) {
    const auto host = FindLaunch(kernel, elements, extents, tiles, long_shares);
    if (!host) continue;
    for (const bool first : {false, true}) {
      Launch launch;
      launch.tiles = tiles;
      launch.first = first;
      launch.long_shares = long_shares;
      Evaluator cta = *host;
      for (size_t i = 0; i < kernel.host.block_vars.size(); ++i) {
        const int64_t bound = cta.Value(kernel.host.block_bounds[i]).value_or(1);
        cta.Set(kernel.host.block_vars[i], first ? 0 : std::max<int64_t>(bound - 1, 0));
      }
      for (size_t i = 0; i < kernel.vars.size(); ++i) {
        launch.values.push_back(cta.Get(kernel.vars.IdAt(i)));
      }
      launches.push_back(std::move(launch));
    }
  }
  return launches;
}

// ---- expressions ------------------------------------------------------------------------------

std::optional<int64_t> Evaluator::Value(ir::ExprId e) const {
  if (!e) return std::nullopt;
  const ir::Expr& expr = kernel_.exprs[e];
  if (const auto* c = std::get_if<ir::IntConst>(&expr.node)) return c->value;
  if (const auto* ref = std::get_if<ir::VarRef>(&expr.node)) return values_[ref->var.value];
  if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) return ValueOfBinary(*binary);
  if (const auto* call = std::get_if<ir::Call>(&expr.node)) return ValueOfCall(*call, expr.type);
  if (const auto* element = std::get_if<ir::ViewElem>(&expr.node)) {
    return IsFloat(expr.type) ? std::nullopt : Element(kernel_.views[element->view]);
  }
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) {
    const auto value = Value(cast->operand);
    if (!value || IsFloat(expr.type) || IsFloat(kernel_.exprs[cast->operand].type)) return {};
    return ir::WrapToElem(*value, expr.type);
  }
  if (const auto* select = std::get_if<ir::Select>(&expr.node)) {
    const auto condition = Value(select->condition);
    if (!condition) return std::nullopt;
    return Value(*condition != 0 ? select->then_value : select->else_value);
  }
  if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
    const auto value = Value(unary->operand);
    if (!value) return value;
    switch (unary->op) {
      case ir::UnaryOp::Neg:
        return ir::WrapToElem(-*value, expr.type);
      case ir::UnaryOp::Not:
        return *value == 0;
      case ir::UnaryOp::BitNot:
        return ir::WrapToElem(~*value, expr.type);
    }
  }
  return std::nullopt;
}

std::optional<int64_t> Evaluator::ValueOfBinary(const ir::Binary& node) const {
  const auto left = Value(node.left);
  // One side of a condition may decide it.
  if (node.op == ir::BinaryOp::And || node.op == ir::BinaryOp::Or) {
    const int64_t decides = node.op == ir::BinaryOp::And ? 0 : 1;
    if (left && (*left != 0) == (decides != 0)) return decides;
    const auto right = Value(node.right);
    if (right && (*right != 0) == (decides != 0)) return decides;
    if (!left || !right) return std::nullopt;
    return 1 - decides;
  }
  const auto right = Value(node.right);
  const Elem type = kernel_.exprs[node.left].type;
  if (!left || !right || IsFloat(type)) return std::nullopt;
  return ir::FoldInt(node.op, type, *left, *right);
}

std::optional<int64_t> Evaluator::ValueOfCall(const ir::Call& node, Elem type) const {
  if (IsFloat(type) || node.args.empty()) return std::nullopt;
  const auto first = Value(node.args[0]);
  if (!first) return std::nullopt;
  if (node.callee == ir::Intrinsic::Abs) return *first < 0 ? -*first : *first;
  const auto second = node.args.size() == 2 ? Value(node.args[1]) : std::nullopt;
  if (!second) return std::nullopt;
  const bool less = IsUnsigned(type)
                        ? static_cast<uint64_t>(*first) < static_cast<uint64_t>(*second)
                        : *first < *second;
  if (node.callee == ir::Intrinsic::CDiv) return ir::FoldCDiv(type, *first, *second);
  if (node.callee == ir::Intrinsic::Min) return less ? *first : *second;
  if (node.callee == ir::Intrinsic::Max) return less ? *second : *first;
  return std::nullopt;
}

std::optional<int64_t> Evaluator::Element(const ir::View& view) const {
  const ir::StorageKind kind = kernel_.storages[view.storage].kind;
  const bool shared = kind == ir::StorageKind::Shared && shared_ != nullptr;
  if (!shared && kind != ir::StorageKind::Param) return std::nullopt;
  const auto place = PlaceOf(view);
  if (!place) return std::nullopt;
  return shared ? shared_->Load(*place) : elements_->Value(view.storage, place->second, tiles_);
}

std::optional<ElementPlace> Evaluator::PlaceOf(const ir::View& view) const {
  const auto slot = view.slot ? Value(view.slot) : std::optional<int64_t>(0);
  if (!slot) return std::nullopt;
  // Of a reshaped tile the indices are those of another shape.
  if (view.base_offset && kernel_.storages[view.storage].kind != ir::StorageKind::Param) {
    return std::nullopt;
  }
  ElementPlace place{{view.storage, *slot}, {}};
  for (const ir::ExprId start : view.start) {
    const auto at = Value(start);
    if (!at) return std::nullopt;
    place.second.push_back(*at);
  }
  return place;
}

}  // namespace choreo::passes
