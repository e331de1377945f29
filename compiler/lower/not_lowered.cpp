// What the language has and this compiler does not lower yet: parsed, typed, and refused by name.
#include "lower/context.h"

namespace choreo::lower {

void Lowering::NotLowered(SourceRange range, std::string_view construct) {
  in_.diags.Emit(diag::kinds::NotLoweredYet, range, construct);
}

void Lowering::Node(ast::StmtId id, const ast::Wait&) {
  NotLowered(in_.file.stmts[id].range, "`wait`");
}
void Lowering::Node(ast::StmtId id, const ast::Trigger&) {
  NotLowered(in_.file.stmts[id].range, "`trigger`");
}
void Lowering::Node(ast::StmtId id, const ast::CallStmt&) {
  NotLowered(in_.file.stmts[id].range, "`call`");
}

}  // namespace choreo::lower
