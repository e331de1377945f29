// Children of nodes, for analyses that only care about some kinds of nodes.
#pragma once

#include <variant>

#include "ast/ast.h"

namespace choreo::sema {

// Calls `visit` with every valid direct operand of `node`, in source order.
template <class Visit>
void ForEachOperand(const ast::ExprNode& node, Visit visit) {
  const auto one = [&](ast::ExprId id) {
    if (id.valid()) visit(id);
  };
  const auto all = [&](const std::vector<ast::ExprId>& ids) {
    for (const ast::ExprId id : ids) one(id);
  };
  if (const auto* x = std::get_if<ast::Unary>(&node)) {
    one(x->operand);
  } else if (const auto* x = std::get_if<ast::Binary>(&node)) {
    one(x->left), one(x->right);
  } else if (const auto* x = std::get_if<ast::Conditional>(&node)) {
    one(x->condition), one(x->then_value), one(x->else_value);
  } else if (const auto* x = std::get_if<ast::IncDec>(&node)) {
    one(x->operand);
  } else if (const auto* x = std::get_if<ast::Call>(&node)) {
    all(x->args);
  } else if (const auto* x = std::get_if<ast::Member>(&node)) {
    one(x->base);
  } else if (const auto* x = std::get_if<ast::MethodCall>(&node)) {
    one(x->base), all(x->args), all(x->strides);
  } else if (const auto* x = std::get_if<ast::Index>(&node)) {
    one(x->base), one(x->index);
  } else if (const auto* x = std::get_if<ast::TupleLiteral>(&node)) {
    all(x->elements);
  } else if (const auto* x = std::get_if<ast::ShapeLiteral>(&node)) {
    all(x->extents);
  } else if (const auto* x = std::get_if<ast::SpanSize>(&node)) {
    one(x->operand);
  } else if (const auto* x = std::get_if<ast::AnyOf>(&node)) {
    one(x->span), one(x->condition);
  } else if (const auto* x = std::get_if<ast::DmaCopy>(&node)) {
    one(x->source), one(x->target.view);
  } else if (const auto* x = std::get_if<ast::TmaCopy>(&node)) {
    one(x->source), one(x->target.view);
  } else if (const auto* x = std::get_if<ast::MmaFill>(&node)) {
    one(x->value);
  } else if (const auto* x = std::get_if<ast::Mma>(&node)) {
    one(x->acc), one(x->a), one(x->b);
  } else if (const auto* x = std::get_if<ast::MmaLoad>(&node)) {
    one(x->source);
  } else if (const auto* x = std::get_if<ast::Atomic>(&node)) {
    one(x->element), one(x->value);
  }
}

// Calls `visit` with every statement directly inside `node`.
template <class Visit>
void ForEachInner(const ast::StmtNode& node, Visit visit) {
  const auto one = [&](ast::StmtId id) {
    if (id.valid()) visit(id);
  };
  if (const auto* x = std::get_if<ast::Block>(&node)) {
    for (const ast::StmtId id : x->statements) one(id);
  } else if (const auto* x = std::get_if<ast::Parallel>(&node)) {
    one(x->body);
  } else if (const auto* x = std::get_if<ast::InThreads>(&node)) {
    one(x->body);
  } else if (const auto* x = std::get_if<ast::Foreach>(&node)) {
    one(x->body);
  } else if (const auto* x = std::get_if<ast::With>(&node)) {
    one(x->body);
  } else if (const auto* x = std::get_if<ast::If>(&node)) {
    one(x->then_body), one(x->else_body);
  } else if (const auto* x = std::get_if<ast::While>(&node)) {
    one(x->body);
  } else if (const auto* x = std::get_if<ast::Apply>(&node)) {
    one(x->body);
  }
}

}  // namespace choreo::sema
