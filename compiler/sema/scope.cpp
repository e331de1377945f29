#include "sema/scope.h"

namespace choreo::sema {

void Scopes::Push(bool is_loop) {
  const int parent = open_.empty() ? -1 : open_.back().block;
  blocks_.push_back({parent, ++tick_, 0, is_loop});
  open_.push_back({static_cast<int>(blocks_.size()) - 1, {}, {}});
}

void Scopes::Pop() {
  blocks_[open_.back().block].end = ++tick_;
  open_.pop_back();
}

std::optional<EntityId> Scopes::Find(const std::string& name) const {
  for (auto scope = open_.rbegin(); scope != open_.rend(); ++scope) {
    if (const auto it = scope->names.find(name); it != scope->names.end()) return it->second;
  }
  return std::nullopt;
}

std::optional<EntityId> Scopes::FindInnermost(const std::string& name) const {
  const auto& names = open_.back().names;
  const auto it = names.find(name);
  return it == names.end() ? std::nullopt : std::optional(it->second);
}

void Scopes::Declare(const std::string& name, EntityId entity) {
  Open& scope = open_.back();
  if (scope.names.insert_or_assign(name, entity).second) scope.order.push_back(name);
  declared_in_[entity] = scope.block;
}

void Scopes::DeclareOutermost(const std::string& name, EntityId entity) {
  open_.front().names.try_emplace(name, entity);
  declared_in_[entity] = open_.front().block;
}

std::vector<std::string_view> Scopes::VisibleNames() const {
  std::vector<std::string_view> names;
  for (auto scope = open_.rbegin(); scope != open_.rend(); ++scope) {
    names.insert(names.end(), scope->order.begin(), scope->order.end());
  }
  return names;
}

void Scopes::RecordRead(EntityId entity, SourceRange range) {
  reads_[entity].push_back({++tick_, range});
}

void Scopes::RecordHiding(EntityId outer, SourceRange range) {
  hidings_.push_back({outer, open_.back().block, range});
}

std::vector<Scopes::Violation> Scopes::Violations() const {
  std::vector<Violation> violations;
  for (const Hiding& hiding : hidings_) {
    const auto reads = reads_.find(hiding.outer);
    if (reads == reads_.end()) continue;
    // The earliest tick that counts: the block itself or, as iterations follow each other, the
    // outermost loop around it that does not hold the outer declaration too.
    uint32_t from = blocks_[hiding.block].begin;
    const int home = declared_in_.at(hiding.outer);
    for (int block = hiding.block; block != -1 && block != home; block = blocks_[block].parent) {
      if (blocks_[block].is_loop) from = blocks_[block].begin;
    }
    for (const Read& read : reads->second) {
      if (read.tick < from) continue;
      violations.push_back({hiding.outer, hiding.range, read.range});
      break;
    }
  }
  return violations;
}

}  // namespace choreo::sema
