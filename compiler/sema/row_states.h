// The walk behind CheckRowStates: states of rows at a place (row_states.cpp) and what elements and
// scalars computed from them are (row_values.cpp). Internal to sema.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sema/sema.h"

namespace choreo::sema {

enum class RowState : uint8_t {
  Unfilled,    // no value yet
  Zero,        // 0 in every lane: a whole and a part alike
  Agreed,      // one value in all lanes of a row
  PartialSum,  // each lane has its own part
  PartialMax,
  Unusable,  // agreed on one way here, partial on another
  Opaque,    // set by C++, or reported already
};
RowState Join(RowState a, RowState b);

class RowStates {
 public:
  RowStates(const ast::File& file, const Result& result, diag::Emitter& diags)
      : file_(file), result_(result), diags_(diags) {}
  void Run(ast::StmtId body) { Visit(body); }

 private:
  // What a value computed for one element is, over the lanes of its row.
  // Opaque: made from a row that C++ has set; it goes with everything.
  enum class Part : uint8_t { Zero, Agreed, Sum, Max, Lane, Opaque };
  struct State {
    std::map<EntityId, RowState> rows;
    std::map<EntityId, Part> scalars;  // those that are not agreed
    bool dead = false;                 // no way leads here
    void Merge(const State& other);
  };

  bool IsRow(EntityId id) const;
  std::optional<EntityId> RowOf(ast::ExprId id) const;      // a row by name
  std::optional<EntityId> ElementOf(ast::ExprId id) const;  // `row.at(i)`
  std::string NameOf(EntityId row) const;
  RowState Read(EntityId row, SourceRange range);

  void Visit(ast::StmtId id);
  void Loop(ast::StmtId body);
  void VisitIf(const ast::If& node);
  void VisitApply(ast::StmtId id, const ast::Apply& node);
  void VisitStorage(ast::StmtId id, const ast::StorageDecl& node);
  void VisitExpr(ast::ExprId id);
  void VisitCall(ast::ExprId id, const ast::Call& call);

  // row_values.cpp
  void VisitScalars(ast::StmtId id, const ast::ScalarDecl& node);
  void VisitAssign(ast::StmtId id, const ast::Assign& node);
  void AssignRow(EntityId row, const ast::Assign& node);
  bool Accumulates(EntityId row, const ast::Assign& node);
  void Accumulate(EntityId row, SourceRange range, bool sum);
  void SetScalar(EntityId scalar, Part part);
  Part Evaluate(ast::ExprId id);
  static Part Mixed(Part a, Part b);
  Part EvaluateElement(ast::ExprId id, EntityId row);
  Part EvaluateBinary(const ast::Binary& node);
  Part EvaluateCall(const ast::Call& node);
  Part EvaluateConditional(const ast::Conditional& node);
  Part Condition(ast::ExprId id);
  Part AddParts(ast::ExprId at, Part a, ast::ExprId a_expr, Part b, ast::ExprId b_expr);
  Part MulParts(Part a, ast::ExprId a_expr, Part b, ast::ExprId b_expr);
  Part MaxParts(Part a, ast::ExprId a_expr, Part b, ast::ExprId b_expr);
  Part Other(Part part, ast::ExprId expr, std::string_view use);
  void ReportPart(ast::ExprId expr, Part part, std::string_view use);
  std::optional<EntityId> RowIn(ast::ExprId expr) const;  // the partial row a value comes from
  bool IsZero(ast::ExprId id) const;
  bool SelfTerms(ast::ExprId id, EntityId row, std::vector<ast::ExprId>* others) const;

  const ast::File& file_;
  const Result& result_;
  diag::Emitter& diags_;
  State state_;
  std::vector<State> breaks_, continues_;
  std::set<EntityId> columns_;  // the column variable of the apply
  bool parts_count_ = false;    // in a vote that each lane takes part in with its own parts
  int apply_rank_ = 0;          // 0: outside
  int lane_control_ = 0;        // branches around that lanes of a row may take differently
  bool report_ = true;
};

}  // namespace choreo::sema
