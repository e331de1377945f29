#include "passes/streamed.h"

#include <algorithm>

#include "ir/walk.h"
#include "passes/fragment.h"

namespace choreo::passes {
namespace {

bool Contains(const std::vector<ir::StorageId>& ids, ir::StorageId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Reads of `id` in the op and all in it, counted as DirectStorageUse has them.
int Reads(const ir::Kernel& kernel, const ir::Op& op, ir::StorageId id) {
  int reads = 0;
  ir::ForEachOp(op, [&](const ir::Op& inner) {
    reads += Contains(ir::DirectStorageUse(kernel, inner).reads, id) ? 1 : 0;
  });
  return reads;
}

}  // namespace

bool IsUnrolled(const ir::Op& op) {
  const auto* loop = std::get_if<ir::For>(&op.node);
  return loop != nullptr && loop->unroll == -1;
}

ir::StorageId FullyWritten(const ir::Kernel& kernel, const ir::Op& op) {
  if (const auto* mma = std::get_if<ir::Wgmma>(&op.node)) {
    return ir::AsInt(kernel, mma->scale_d) == 0 ? mma->acc : ir::StorageId();
  }
  const auto* loop = std::get_if<ir::For>(&op.node);
  if (loop == nullptr || loop->unroll != -1 || loop->body.ops.size() != 1) return {};
  ir::StorageId frag;
  int elements = 0;
  ir::ExprId index;
  if (const auto* set = std::get_if<ir::FragSet>(&loop->body.ops[0].node)) {
    frag = set->frag;
    index = set->index[0];
    elements = 1;
  } else if (const auto* pack = std::get_if<ir::FragPack>(&loop->body.ops[0].node)) {
    frag = pack->frag;
    index = pack->word;
    elements = 2;
  } else {
    return {};
  }
  const auto* ref = std::get_if<ir::VarRef>(&kernel.exprs[index].node);
  const auto high = ir::AsInt(kernel, loop->high);
  if (ref == nullptr || ref->var != loop->var || !high ||
      *high * elements != LaneElements(kernel, kernel.storages[frag])) {
    return {};
  }
  return Contains(ir::AllStorageUse(kernel, loop->body).reads, frag) ? ir::StorageId() : frag;
}

std::vector<size_t> StreamedReaders(const ir::Kernel& kernel, const ir::Region& region,
                                    size_t start, ir::StorageId made) {
  std::vector<size_t> readers;
  const std::vector<ir::StorageId> sources = ir::AllStorageUse(kernel, region.ops[start]).reads;
  for (size_t i = start + 1; i < region.ops.size(); ++i) {
    const ir::StorageUse use = ir::AllStorageUse(kernel, region.ops[i]);
    const bool changed = std::any_of(use.writes.begin(), use.writes.end(), [&](ir::StorageId id) {
      return id == made || Contains(sources, id);
    });
    if (changed) break;
    if (IsUnrolled(region.ops[i]) && Contains(use.reads, made)) readers.push_back(i);
  }
  return readers;
}

Streamed::Streamed(const ir::Kernel& kernel) : kernel_(kernel) {
  Visit(kernel.body);
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    for (const ir::StorageId id : ir::DirectStorageUse(kernel_, op).reads) --reads_[id];
  });
  std::erase_if(made_, [&](ir::StorageId id) { return reads_[id] != 0; });
}

void Streamed::Visit(const ir::Region& region) {
  for (size_t i = 0; i < region.ops.size(); ++i) {
    const ir::StorageId made = FullyWritten(kernel_, region.ops[i]);
    if (made && IsUnrolled(region.ops[i])) {
      made_.insert(made);
      for (const size_t reader : StreamedReaders(kernel_, region, i, made)) {
        reads_[made] += Reads(kernel_, region.ops[reader], made);
      }
    }
    ir::VisitRegions(region.ops[i], [&](const ir::Region& inner) { Visit(inner); });
  }
}

}  // namespace choreo::passes
