// stream-fragments: a fragment that need not exist as a whole (streamed.h) is made a block at a
// time: one unrolled loop over blocks of it, in which the loop that makes it does its part of a
// block and then each loop that reads it. Left as whole loops, the assembler may keep all elements,
// and spill. What stands between the loops goes in front of them or behind; the order within each
// loop stays, and with it every sum. Where that is not possible the loops stay as they are.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "ir/walk.h"
#include "passes/fragment.h"
#include "passes/loop_blocks.h"
#include "passes/op_effects.h"
#include "passes/pass.h"
#include "passes/streamed.h"

namespace choreo::passes {
namespace {

// Of a block, if it can be: a column block of an accumulator, what stmatrix_x4 stores at once.
constexpr int kBlockElements = 8;
constexpr int kLeastElements = 4;  // 8 columns: no fragment is narrower

// A streamed fragment from the loop that makes it to those that read it, by place in the region.
struct Stream {
  ir::StorageId frag;
  std::set<size_t> loops;
};

// Loops that become one, and which ops between them stand in front of it and behind.
struct Fusion {
  std::set<size_t> loops;
  std::set<ir::StorageId> frags;
  int blocks = 0;
  std::vector<size_t> ahead, behind;
};

class FragmentStreaming {
 public:
  explicit FragmentStreaming(ir::Kernel& kernel)
      : kernel_(kernel), build_(kernel), streamed_(kernel) {}

  void Visit(ir::Region& region) {
    for (ir::Op& op : region.ops) {
      ir::VisitRegions(op, [&](ir::Region& inner) { Visit(inner); });
    }
    while (const auto fusion = FirstFusion(region)) region = Fused(region, *fusion);
  }

 private:
  // ---- which loops ----
  std::vector<Stream> StreamsOf(const ir::Region& region) const {
    std::vector<Stream> streams;
    for (size_t i = 0; i < region.ops.size(); ++i) {
      const ir::StorageId made = FullyWritten(kernel_, region.ops[i]);
      if (!made || !IsUnrolled(region.ops[i]) || !streamed_.Has(made) ||
          kernel_.storages[made].layout != ir::FragLayout::Accumulator) {
        continue;
      }
      const std::vector<size_t> readers = StreamedReaders(kernel_, region, i, made);
      if (readers.empty()) continue;
      Stream stream{made, {readers.begin(), readers.end()}};
      stream.loops.insert(i);
      streams.push_back(std::move(stream));
    }
    return streams;
  }

  // Joins what streams have in common as far as that is possible: a loop that reads one fragment
  // and makes the next, or that reads two.
  std::optional<Fusion> FirstFusion(const ir::Region& region) {
    const std::vector<Stream> streams = StreamsOf(region);
    if (streams.empty()) return std::nullopt;
    effects_.clear();
    for (const ir::Op& op : region.ops) effects_.push_back(EffectsOf(kernel_, op));
    std::vector<Fusion> fusions;
    for (const Stream& stream : streams) {
      Fusion joined{stream.loops, {stream.frag}};
      const auto meets = [&](const Fusion& other) {
        return std::any_of(stream.loops.begin(), stream.loops.end(),
                           [&](size_t loop) { return other.loops.contains(loop); });
      };
      for (const Fusion& other : fusions) {
        if (!meets(other)) continue;
        joined.loops.insert(other.loops.begin(), other.loops.end());
        joined.frags.insert(other.frags.begin(), other.frags.end());
      }
      if (!Place(joined) || !ChooseBlocks(region, joined)) continue;
      std::erase_if(fusions, meets);
      fusions.push_back(std::move(joined));
    }
    return fusions.empty() ? std::nullopt : std::optional(fusions[0]);
  }

  // Sorts what stands between the loops. False: it stands in the way.
  bool Place(Fusion& fusion) const {
    std::vector<size_t> before;  // loops and what is to stand behind them
    const auto conflicts = [&](const std::vector<size_t>& others, size_t i) {
      return std::any_of(others.begin(), others.end(),
                         [&](size_t other) { return Conflict(effects_[other], effects_[i]); });
    };
    for (size_t i = *fusion.loops.begin(); i <= *fusion.loops.rbegin(); ++i) {
      if (!effects_[i].may_move) return false;
      const bool is_loop = fusion.loops.contains(i);
      if (is_loop && conflicts(fusion.behind, i)) return false;
      if (!is_loop && !conflicts(before, i)) {
        fusion.ahead.push_back(i);
        continue;
      }
      if (!is_loop) fusion.behind.push_back(i);
      before.push_back(i);
    }
    return true;
  }

  // As many blocks as there can be of kBlockElements or more; else of fewer.
  bool ChooseBlocks(const ir::Region& region, Fusion& fusion) const {
    std::vector<LoopBlocks> loops;
    int most = 0, elements = 0;
    for (const size_t i : fusion.loops) {
      const auto loop = LoopBlocks::Of(kernel_, region.ops[i]);
      if (!loop) return false;
      most = std::gcd(most, loop->count());
      loops.push_back(*loop);
    }
    for (const ir::StorageId frag : fusion.frags) elements = std::gcd(elements, Elements(frag));
    for (const int least : {kBlockElements, kLeastElements}) {
      for (int blocks = most; blocks > 1; --blocks) {
        if (most % blocks != 0 || elements % (blocks * kLeastElements) != 0 ||
            elements / blocks < least || !RunsBlockwise(fusion, loops, blocks)) {
          continue;
        }
        fusion.blocks = blocks;
        return true;
      }
    }
    return false;
  }

  int Elements(ir::StorageId frag) const { return LaneElements(kernel_, kernel_.storages[frag]); }

  // Whether no block of a loop needs or disturbs what another block of another loop does.
  bool RunsBlockwise(const Fusion& fusion, const std::vector<LoopBlocks>& loops, int blocks) const {
    const std::vector<size_t> places(fusion.loops.begin(), fusion.loops.end());
    const auto own_block = [&](size_t loop, ir::StorageId id) {
      const ir::Storage& storage = kernel_.storages[id];
      return storage.kind == ir::StorageKind::Frag && Elements(id) % blocks == 0 &&
             loops[loop].AccessesOwnBlock(id, Elements(id), blocks, fusion.frags.contains(id));
    };
    for (size_t i = 0; i < places.size(); ++i) {
      const OpEffects& first = effects_[places[i]];
      for (size_t j = i + 1; j < places.size(); ++j) {
        const OpEffects& second = effects_[places[j]];
        if (ShareScalars(first, second)) return false;
        for (const ir::StorageId id : SharedStorage(first, second)) {
          if (!own_block(i, id) || !own_block(j, id)) return false;
        }
      }
    }
    return true;
  }

  // ---- the loop ----
  ir::Region Fused(const ir::Region& region, const Fusion& fusion) {
    const size_t first = *fusion.loops.begin(), last = *fusion.loops.rbegin();
    ir::Region out;
    out.ops.assign(region.ops.begin(), region.ops.begin() + static_cast<std::ptrdiff_t>(first));
    ir::Op loop = FusedLoop(region, fusion);
    for (const size_t i : fusion.ahead) {
      out.ops.push_back(region.ops[i]);
      // A place that is computed for a loop does not stand for its statement.
      if (std::holds_alternative<ir::Let>(region.ops[i].node) && effects_[i].reads.empty() &&
          std::any_of(fusion.loops.begin(), fusion.loops.end(), [&](size_t other) {
            return region.ops[other].loc.line == region.ops[i].loc.line;
          })) {
        out.ops.back().loc = loop.loc;
      }
    }
    out.ops.push_back(std::move(loop));
    for (const size_t i : fusion.behind) out.ops.push_back(region.ops[i]);
    out.ops.insert(out.ops.end(), region.ops.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                   region.ops.end());
    return out;
  }

  ir::Op FusedLoop(const ir::Region& region, const Fusion& fusion) {
    const ir::Loc loc = region.ops[*fusion.loops.begin()].loc;
    ir::For fused = UnrolledLoop("e", fusion.blocks, loc);
    std::map<ir::StorageId, ir::StorageId> parts;
    for (const size_t i : fusion.loops) {
      const ir::StorageId made = FullyWritten(kernel_, region.ops[i]);
      if (made && fusion.frags.contains(made) && !parts.contains(made)) {
        ir::Storage part = kernel_.storages[made];
        part.dims[1] = build_.Int(2 * Elements(made) / fusion.blocks);
        parts[made] = kernel_.storages.Add(std::move(part));
        fused.body.ops.push_back({region.ops[i].loc, ir::Decl{parts[made]}});
      }
      AppendBlock(region.ops[i], fusion.blocks, parts, fused);
    }
    return {loc, std::move(fused)};
  }

  ir::For UnrolledLoop(std::string name, int count, ir::Loc loc) {
    ir::For loop;
    loop.var =
        build_.NewVar(std::move(name), Elem::kS32, ir::VarKind::Loop, loc, build_.Int(count));
    loop.low = build_.Int(0);
    loop.high = build_.Int(count);
    loop.step = build_.Int(1);
    loop.unroll = -1;
    return loop;
  }

  // What the loop does in a block, to `parts` in place of the fragments.
  void AppendBlock(const ir::Op& op, int blocks,
                   const std::map<ir::StorageId, ir::StorageId>& parts, ir::For& fused) {
    const LoopBlocks loop = *LoopBlocks::Of(kernel_, op);
    const int turns = loop.count() / blocks;
    ir::For block;
    if (turns > 1) block = UnrolledLoop("q", turns, op.loc);
    const ir::ExprId at = build_.Var(fused.var);
    const ir::ExprId place = turns > 1 ? build_.Var(block.var) : build_.Int(0);
    block.body = std::get<ir::For>(op.node).body;
    const auto in_part = [&](ir::StorageId& frag, ir::ExprId& index) {
      const auto part = parts.find(frag);
      if (part == parts.end()) return;
      frag = part->second;
      index = loop.With(build_, index, place);
    };
    ir::ForEachOp(block.body, [&](ir::Op& inner) {
      if (auto* set = std::get_if<ir::FragSet>(&inner.node)) in_part(set->frag, set->index[0]);
      if (auto* pack = std::get_if<ir::FragPack>(&inner.node)) in_part(pack->frag, pack->word);
      if (auto* store = std::get_if<ir::StMatrix>(&inner.node)) in_part(store->frag, store->word);
      if (auto* load = std::get_if<ir::LdMatrix>(&inner.node)) in_part(load->frag, load->word);
    });
    ir::RewriteExprs(build_, block.body, [&](ir::ExprId e) -> ir::ExprId {
      if (const auto* elem = std::get_if<ir::FragElem>(&kernel_.exprs[e].node)) {
        const auto part = parts.find(elem->frag);
        if (part == parts.end()) return {};
        const ir::ExprId index = elem->index[0];  // building moves the expressions
        return build_.FragElem(part->second, {loop.With(build_, index, place)});
      }
      return loop.Split(build_, e, blocks, at, place);
    });
    if (turns == 1) {
      std::move(block.body.ops.begin(), block.body.ops.end(), std::back_inserter(fused.body.ops));
    } else {
      fused.body.ops.push_back({op.loc, std::move(block)});
    }
  }

  ir::Kernel& kernel_;
  ir::ExprBuilder build_;
  Streamed streamed_;
  std::vector<OpEffects> effects_;  // of the ops of the region at hand
};

}  // namespace

ir::Kernel StreamFragments(ir::Kernel kernel, PassContext&) {
  ir::Region body = kernel.body;
  FragmentStreaming(kernel).Visit(body);
  kernel.body = std::move(body);
  return kernel;
}

}  // namespace choreo::passes
