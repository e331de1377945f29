#include "passes/load_events.h"

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/walk.h"

namespace choreo::passes {

void GiveLoadsTheirEvents(ir::Kernel& kernel) {
  std::map<ir::VarId, ir::StorageId> events;
  std::set<ir::VarId> loads;
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    if (const auto* load = std::get_if<ir::TmaLoad>(&op.node)) loads.insert(load->future);
  });
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    const auto* wait = std::get_if<ir::FutureWait>(&op.node);
    if (wait == nullptr) return;
    for (const ir::VarId future : wait->futures) {
      if (!loads.contains(future) || events.contains(future)) continue;
      ir::Storage event;
      event.name = kernel.vars[future].name + "_done";
      event.kind = ir::StorageKind::Event;
      event.elem = Elem::kU64;
      event.array_size = 0;
      event.loc = kernel.vars[future].loc;
      events[future] = kernel.storages.Add(std::move(event));
    }
  });
  const std::function<void(ir::Region&)> rewrite = [&](ir::Region& region) {
    std::vector<ir::Op> out;
    for (ir::Op& op : region.ops) {
      ir::VisitRegions(op, rewrite);
      if (const auto* load = std::get_if<ir::TmaLoad>(&op.node)) {
        const ir::VarId future = load->future;
        const ir::Loc loc = op.loc;
        out.push_back(std::move(op));
        if (const auto it = events.find(future); it != events.end()) {
          out.emplace_back(loc, ir::EventTrigger{it->second, {}, {future}});
        }
      } else if (const auto* wait = std::get_if<ir::FutureWait>(&op.node)) {
        for (const ir::VarId future : wait->futures) {
          if (const auto it = events.find(future); it != events.end()) {
            out.emplace_back(op.loc, ir::EventWait{it->second, {}});
          }
        }
      } else {
        out.push_back(std::move(op));
      }
    }
    region.ops = std::move(out);
  };
  rewrite(kernel.body);
}

}  // namespace choreo::passes
