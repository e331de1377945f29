// Futures and events: what may be waited for, triggered and bound. Generations and instances are
// the business of the asynchronous analysis; here it is a matter of types and of old spellings.
#include <fmt/format.h>

#include <algorithm>

#include "sema/checker.h"

namespace choreo::sema {

FutureOrigin Checker::OriginOf(ast::ExprId id) const {
  if (const auto* dma = file_.As<ast::DmaCopy>(id)) {
    return dma->async ? FutureOrigin::AsyncCopy : FutureOrigin::Complete;
  }
  if (const auto* tma = file_.As<ast::TmaCopy>(id)) {
    return tma->async ? FutureOrigin::TmaLoad : FutureOrigin::Complete;
  }
  if (file_.As<ast::Mma>(id)) return FutureOrigin::Mma;
  const auto entity = EntityOf(id);
  const auto it = entity ? origins_.find(*entity) : origins_.end();
  return it == origins_.end() ? FutureOrigin::Complete : it->second;
}

Value Checker::CheckEventAt(ast::ExprId id, const ast::MethodCall& node, const Value& base) {
  const SourceRange range = file_.exprs[id].range;
  const std::vector<Argument> args = Arguments(node.args);
  if (!base.type.array_size) {
    Report(diag::kinds::OrderOfScalarEvent, range, Spelled(node.base));
    return ErrorValue();
  }
  if (!NeedRank(node.name.range, "`.at` of an event ring", args.size(), 1)) return ErrorValue();
  if (!NeedInteger(args[0].expr, args[0].value, "an order")) return ErrorValue();
  CheckOrder(args[0].expr, args[0].value, base.type);
  Value event = base;
  event.type.array_size.reset();
  return event;
}

// An order reduced modulo the ring's size has lost its generation.
void Checker::CheckOrder(ast::ExprId order, const Value& value, const Type& ring) {
  const SourceRange range = file_.exprs[order].range;
  if (value.constant && *value.constant < 0) {
    Report(diag::kinds::IndexOutside, range, Spelled(order), "is", std::to_string(*value.constant),
           0, "2^32");
    return;
  }
  ast::ExprId expr = order;
  for (int steps = 0; steps < 16; ++steps) {  // through immutable scalars such as `slot = o % N`
    const auto entity = EntityOf(expr);
    if (!entity || !file_.As<ast::NameRef>(expr)) break;
    const ast::ExprId from = entity_values_[*entity].value_of;
    if (!from.valid()) break;
    expr = from;
  }
  const auto* binary = file_.As<ast::Binary>(expr);
  const auto size = ring.array_size->value;
  if (!binary || !size) return;
  const Value& right = values_[binary->right.value];
  if (!right.constant) return;
  int64_t modulus = 0;
  if (binary->op == ast::BinaryOp::Mod) modulus = *right.constant;
  if (binary->op == ast::BinaryOp::BitAnd && (*right.constant & (*right.constant + 1)) == 0) {
    modulus = *right.constant + 1;
  }
  if (modulus <= 0 || modulus % (2 * *size) == 0) return;
  diag::Builder builder = Report(diag::kinds::RingIndexedBySlot, range, Spelled(order), *size);
  if (SpelledInPlace(order) && SpelledInPlace(binary->left)) {
    builder.Fix(range, std::string(sources_.Text(file_.exprs[binary->left].range)));
  }
}

// Whether the operand names one event.
bool Checker::CheckEventOperand(ast::ExprId id, std::string_view word) {
  const Value value = values_[id.value];
  if (value.is_error()) return false;
  const SourceRange range = file_.exprs[id].range;
  if (value.type.kind != TypeKind::Event) {
    Report(word == "wait" ? diag::kinds::WaitOperand : diag::kinds::TriggerOperand, range,
           Spelled(id), Describe(value.type));
    return false;
  }
  const auto* index = file_.As<ast::Index>(id);
  if (!value.type.array_size && !index) return true;
  diag::Builder builder = Report(diag::kinds::RingNeedsOrder, range, Spelled(id), word);
  builder.Hint(range, fmt::format("{}.at(order)",
                                  sources_.Text(file_.exprs[index ? index->base : id].range)));
  return false;
}

void Checker::CheckWait(ast::StmtId, const ast::Wait& node) {
  for (const ast::ExprId operand : node.operands) {
    const Value value = Check(operand);
    if (value.is_error() || value.type.kind == TypeKind::OpFuture) continue;
    if (value.type.kind != TypeKind::DataFuture) {
      CheckEventOperand(operand, "wait");
      continue;
    }
    if (OriginOf(operand) == FutureOrigin::Complete) {
      Report(diag::kinds::WaitComplete, file_.exprs[operand].range, Spelled(operand));
    }
  }
}

// `trigger e[i];` hands out the first tokens of a ring by hand.
void Checker::CheckPriming(ast::StmtId id, const ast::Trigger& node, EntityId event) {
  const StorageInfo info = events_[event];
  const Entity& entity = result_.entities[event];
  const SourceRange range = file_.exprs[node.event].range;
  if (info.ready) {
    Report(diag::kinds::ReadyRingPrimed, range, entity.name)
        .Note(entity.declared, "it is declared `= ready` here");
    return;
  }
  diag::Builder builder = Report(diag::kinds::RingPrimedByHand, range, entity.name);
  // `= ready` behind the `]`, and the priming goes: the whole loop where it does nothing else.
  const std::string_view text = sources_.Text(info.after_name.begin.file);
  const size_t close = text.find(']', info.after_name.end);
  SourceRange gone = file_.stmts[id].range;
  const auto inside = [&](size_t up) {
    return enclosing_.size() > up ? enclosing_[enclosing_.size() - 1 - up] : ast::StmtId();
  };
  const ast::StmtId block = inside(1), loop = inside(2);
  const auto* statements = block.valid() ? file_.As<ast::Block>(block) : nullptr;
  const bool alone = statements && statements->statements.size() == 1;
  if (alone && loop.valid() && file_.As<ast::Foreach>(loop)) gone = file_.stmts[loop].range;
  if (close == std::string_view::npos || gone.end <= gone.begin.offset) return;
  const auto at = static_cast<uint32_t>(close) + 1;
  builder.Fix(SourceRange({info.after_name.begin.file, at}, at), " = ready");
  builder.Fix(gone, "");
}

void Checker::CheckTrigger(ast::StmtId id, const ast::Trigger& node) {
  const Value event = Check(node.event);
  const auto* index = file_.As<ast::Index>(node.event);
  const auto ring = index ? EntityOf(index->base) : std::nullopt;
  const bool primes = !event.is_error() && node.after.empty() && ring && events_.contains(*ring);
  if (primes) {
    CheckPriming(id, node, *ring);
  } else {
    CheckEventOperand(node.event, "trigger");
  }
  if (!event.is_error() && !node.after.empty() && event.root.valid() &&
      events_.contains(event.root) && events_[event.root].cluster) {
    Report(diag::kinds::ClusterEventAfter, file_.exprs[node.event].range,
           result_.entities[event.root].name);
  }
  std::vector<ast::ExprId> loads, operations;
  for (const ast::ExprId operand : node.after) {
    const Value value = Check(operand);
    const SourceRange range = file_.exprs[operand].range;
    if (value.is_error()) continue;
    if (value.type.kind == TypeKind::OpFuture) {
      operations.push_back(operand);
    } else if (value.type.kind != TypeKind::DataFuture) {
      Report(diag::kinds::TriggerAfterOperand, range, Spelled(operand), Describe(value.type));
    } else if (OriginOf(operand) != FutureOrigin::TmaLoad) {
      const bool copy = OriginOf(operand) == FutureOrigin::AsyncCopy;
      Report(diag::kinds::TriggerAfterCopy, range, Spelled(operand),
             copy ? "a `dma.copy.async`" : "a copy that is complete already")
          .Note({}, copy ? "wait for it, then trigger: `wait f; trigger e;`"
                         : "trigger without `after`: `trigger e;`");
    } else {
      loads.push_back(operand);
    }
  }
  if (operations.empty()) return;
  const auto list = [&](const std::vector<ast::ExprId>& exprs) {
    std::string text;
    for (const ast::ExprId expr : exprs) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", sources_.Text(file_.exprs[expr].range));
    }
    return text;
  };
  const SourceRange range = file_.stmts[id].range;
  diag::Builder builder = Report(diag::kinds::TriggerAfterMma, file_.exprs[operations[0]].range,
                                 Spelled(operations[0]));
  const std::string_view text = sources_.Text(range);
  if (event.is_error() || text.substr(0, 7) != "trigger") return;
  std::string fixed = fmt::format("wait {}; trigger {}", list(operations),
                                  sources_.Text(file_.exprs[node.event].range));
  if (!loads.empty()) fixed += fmt::format(" after {}", list(loads));
  if (text.back() == ';') fixed += ";";
  const ast::StmtId block =
      enclosing_.size() > 1 ? enclosing_[enclosing_.size() - 2] : ast::StmtId();
  const bool braces = block.valid() && sources_.Text(file_.stmts[block].range).substr(0, 1) == "{";
  builder.Fix(range, braces ? fixed : fmt::format("{{ {} }}", fixed));
}

}  // namespace choreo::sema
