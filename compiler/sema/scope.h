// Names in scope while a function is walked, and the hiding rule: `name = value;` may declare a
// name that hides an outer scalar or view only if the outer one is read neither in the block of the
// new one nor after it. Reads and blocks are stamped with a running tick; the rule is judged at the
// end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sema/sema.h"

namespace choreo::sema {

class Scopes {
 public:
  void Push(bool is_loop = false);
  void Pop();

  std::optional<EntityId> Find(const std::string& name) const;
  std::optional<EntityId> FindInnermost(const std::string& name) const;
  void Declare(const std::string& name, EntityId entity);  // hides what has the name
  // In the outermost block: a name that is nowhere declared is reported once.
  void DeclareOutermost(const std::string& name, EntityId entity);
  std::vector<std::string_view> VisibleNames() const;
  size_t depth() const { return open_.size(); }

  void RecordRead(EntityId entity, SourceRange range);
  // The innermost block now declares a name that hides `outer`.
  void RecordHiding(EntityId outer, SourceRange range);

  struct Violation {
    EntityId outer;
    SourceRange hiding, read;
  };
  // After everything was walked: hidings whose outer name is read where it must not be.
  std::vector<Violation> Violations() const;

 private:
  struct Block {
    int parent = -1;
    uint32_t begin = 0, end = 0;
    bool is_loop = false;
  };
  struct Read {
    uint32_t tick;
    SourceRange range;
  };
  struct Hiding {
    EntityId outer;
    int block;
    SourceRange range;
  };
  struct Open {
    int block;
    std::unordered_map<std::string, EntityId> names;
    std::vector<std::string> order;
  };

  uint32_t tick_ = 0;
  std::vector<Block> blocks_;
  std::vector<Open> open_;
  std::unordered_map<EntityId, std::vector<Read>> reads_;
  std::unordered_map<EntityId, int> declared_in_;
  std::vector<Hiding> hidings_;
};

}  // namespace choreo::sema
