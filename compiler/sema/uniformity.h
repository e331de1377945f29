// The walk behind CheckUniformity: what values depend on, and the reports (uniformity.cpp), and the
// statements and operations it visits (uniformity_walk.cpp). Internal to sema.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "sema/sema.h"
#include "sema/thread_set.h"

namespace choreo::sema {

struct Dependence {
  std::set<EntityId> on;  // parallel variables and mutable scalars
  uint8_t differs = 0;    // whatever they are
  void Add(const Dependence& other) {
    on.insert(other.on.begin(), other.on.end());
    differs |= other.differs;
  }
};

// How a message names the threads between which a value differs.
std::string_view Between(uint8_t bits);

class Uniformity {
 public:
  Uniformity(const ast::File& file, const Result& result, diag::Emitter& diags)
      : file_(file), result_(result), diags_(diags) {}

  void Run(ast::StmtId body) {
    for (const bool report : {false, true}) {
      report_ = report;
      controls_.clear();
      active_.set();
      if (report && named_.any()) active_ = named_;
      Visit(body);
    }
  }

 private:
  // A branch, loop or apply around the place that is visited. Its id is that of its statement; in
  // an expression (`&&`, `||`, `?:`, `any_of`) `part` is what decides.
  struct Control {
    ast::StmtId id;
    Dependence dependence;
    enum class Kind : uint8_t { Branch, Loop, Apply, InThreads } kind;
    ast::ExprId part = {};
  };
  struct Assignment {
    Dependence value;
    std::vector<Control> controls;
  };

  // ---- what values depend on ----
  Dependence OfEntity(EntityId id) const;
  Dependence Of(ast::ExprId id) const;
  bool IsLoad(ast::ExprId id) const;
  bool IsOneForAll(ast::ExprId id) const;

  // ---- for the threads that execute here ----
  uint8_t Possible() const;
  uint8_t Differs(const Dependence& dependence) const;
  uint8_t Differs(const Dependence& dependence, std::set<EntityId>& seen) const;
  std::optional<int64_t> ValueIn(ast::ExprId id, int thread) const;
  bool DiffersInWarp(ast::ExprId id) const;
  bool Encloses(const Control& control) const;
  uint8_t ScopeMask() const;

  // ---- reports ----
  bool CheckControl(SourceRange range, std::string_view op, uint8_t mask);
  bool CheckOperand(std::string_view op, ast::ExprId operand, std::string_view what);
  SourceRange HeaderOf(const Control& control) const;
  void CheckOfWarps(SourceRange range, std::string_view op);
  void CheckWhole(SourceRange range, std::string_view op, bool warp);
  void CheckFragmentElement(ast::ExprId target);
  void CheckCopy(ast::ExprId id, std::string_view op, ast::ExprId source, ast::ExprId target);

  // ---- the walk (uniformity_walk.cpp) ----
  void VisitExpr(ast::ExprId id);
  void VisitUnder(Control control, ast::ExprId id);
  void VisitVote(ast::ExprId id, const ast::AnyOf& vote);
  void Assigned(ast::ExprId target, const Dependence& value);
  void Visit(ast::StmtId id);
  void VisitStorage(const ast::StorageDecl& node);
  void VisitLoop(ast::StmtId id, const std::vector<ast::ExprId>& bounds, ast::StmtId body);
  void VisitInThreads(ast::StmtId id, const ast::InThreads& node);
  void VisitParallel(ast::StmtId id, const ast::Parallel& node);
  void VisitDeclared(ast::StmtId id);
  void VisitJump(ast::StmtId id, std::string_view word, bool leaves_function);

  const ast::File& file_;
  const Result& result_;
  diag::Emitter& diags_;
  bool report_ = false;
  ThreadSpace space_;
  ThreadSet active_;
  ThreadSet named_;  // by any parallel: those that the CTA has
  std::vector<Control> controls_;
  std::map<EntityId, Dependence> of_;
  std::map<EntityId, ast::ExprId> aliases_;
  std::map<EntityId, ast::ExprId> scalars_;  // what those that do not change were set to
  std::map<EntityId, std::vector<Assignment>> assignments_;
  std::map<EntityId, size_t> home_;          // control depth of a scalar's declaration
  std::map<ast::StmtId, Dependence> jumps_;  // what the jumps out of a loop depend on
};

}  // namespace choreo::sema
