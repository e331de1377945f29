// Findings: what an execution did wrong, each a registered diagnostic with the place at fault and
// the other place involved. One finding per kind and pair of places; repetitions are counted.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "diag/diag.h"
#include "ir/ir.h"

namespace choreo::sim {

struct Finding {
  diag::DiagKind kind;
  ir::Loc loc;   // where it happened
  ir::Loc loc2;  // the other access or operation; line 0: none
  std::string message;
  uint64_t count = 1;
};

class Findings {
 public:
  template <class... Args>
  void Add(const diag::DiagDef<Args...>& def, ir::Loc loc, ir::Loc loc2,
           const std::type_identity_t<Args>&... args) {
    if (Finding* known = Find(def.kind, loc, loc2)) {
      ++known->count;
      return;
    }
    Insert({def.kind, loc, loc2, fmt::format(fmt::runtime(diag::Info(def.kind).message), args...)});
  }
  const std::vector<Finding>& list() const { return list_; }
  bool empty() const { return list_.empty(); }
  std::vector<Finding> Take() { return std::move(list_); }

 private:
  using Key = std::tuple<diag::DiagKind, uint32_t, uint32_t, uint32_t, uint32_t>;
  static Key KeyOf(diag::DiagKind kind, ir::Loc a, ir::Loc b) {
    return {kind, a.line, a.column, b.line, b.column};
  }
  Finding* Find(diag::DiagKind kind, ir::Loc loc, ir::Loc loc2) {
    const auto it = index_.find(KeyOf(kind, loc, loc2));
    return it == index_.end() ? nullptr : &list_[it->second];
  }
  void Insert(Finding finding) {
    index_[KeyOf(finding.kind, finding.loc, finding.loc2)] = list_.size();
    list_.push_back(std::move(finding));
  }

  std::map<Key, size_t> index_;
  std::vector<Finding> list_;
};

}  // namespace choreo::sim
