// What the analysis finds, kept back until it is known to be worth saying: one finding a kind and
// place.
#pragma once

#include <fmt/format.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "passes/pass.h"

namespace choreo::passes {

struct Finding {
  diag::DiagKind kind;
  ir::Loc loc;
  std::string message;
  std::vector<std::pair<ir::Loc, std::string>> notes;

  Finding& Note(ir::Loc at, std::string text) {
    notes.emplace_back(at, std::move(text));
    return *this;
  }
};

class Findings {
 public:
  // The arguments are those of the registered message. A repetition of kind and place is dropped,
  // with its notes.
  template <class... Args>
  Finding& Add(const diag::DiagDef<Args...>& def, ir::Loc loc,
               const std::type_identity_t<Args>&... args) {
    return AddText(def.kind, loc, fmt::format(fmt::runtime(diag::Info(def.kind).message), args...));
  }
  const std::vector<Finding>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  bool Contains(const Finding& finding) const;
  // Adds a finding made elsewhere.
  void Take(const Finding& finding);
  bool has_errors() const;
  void DropErrors();
  // Drops errors of other kinds.
  void KeepOnly(diag::DiagKind kind);
  // In the order of places.
  void Emit(PassContext& context) const;

 private:
  Finding& AddText(diag::DiagKind kind, ir::Loc loc, std::string message);

  std::vector<Finding> all_;
  Finding repeated_;  // where notes of a repetition go
};

}  // namespace choreo::passes
