#include "passes/load_barriers.h"

#include "ir/walk.h"

namespace choreo::passes {
namespace {

class Finder {
 public:
  explicit Finder(const ir::Kernel& kernel) : kernel_(kernel) {}

  void Visit(const ir::Region& region) {
    for (const ir::Op& op : region.ops) VisitOp(op);
  }
  std::set<const ir::Op*> found;

 private:
  struct Touched {
    std::set<ir::StorageId> used, written;
    void Add(const ir::StorageUse& use) {
      used.insert(use.reads.begin(), use.reads.end());
      used.insert(use.writes.begin(), use.writes.end());
      written.insert(use.writes.begin(), use.writes.end());
    }
  };

  void VisitOp(const ir::Op& op) {
    if (const auto* load = std::get_if<ir::TmaLoad>(&op.node); load != nullptr && load->future) {
      if (touched_.used.contains(Of(load->dst))) found.insert(&op);
      return;  // the tile is the load's until it is waited for
    }
    if (const auto* copy = std::get_if<ir::CopyAsync>(&op.node)) {
      const bool behind =
          touched_.used.contains(Of(copy->dst)) || touched_.written.contains(Of(copy->src));
      if (behind) found.insert(&op);
    }
    touched_.Add(ir::DirectStorageUse(kernel_, op));
    if (std::holds_alternative<ir::For>(op.node) || std::holds_alternative<ir::While>(op.node)) {
      // What a turn leaves, the next one meets.
      ir::VisitRegions(op, [&](const ir::Region& body) { AddAll(body); });
    }
    const Touched before = touched_;
    ir::VisitRegions(op, [&](const ir::Region& inner) { Visit(inner); });
    const auto* narrowed = std::get_if<ir::InThreads>(&op.node);
    if (narrowed != nullptr && narrowed->async) touched_ = before;  // others' threads
  }

  void AddAll(const ir::Region& body) {
    ir::ForEachOp(body, [&](const ir::Op& op) {
      const auto* load = std::get_if<ir::TmaLoad>(&op.node);
      if (load == nullptr || !load->future) touched_.Add(ir::DirectStorageUse(kernel_, op));
    });
  }

  ir::StorageId Of(ir::ViewId view) const { return kernel_.views[view].storage; }

  const ir::Kernel& kernel_;
  Touched touched_;
};

}  // namespace

std::set<const ir::Op*> LoadsBehindBarriers(const ir::Kernel& kernel) {
  Finder finder(kernel);
  finder.Visit(kernel.body);
  return std::move(finder.found);
}

}  // namespace choreo::passes
