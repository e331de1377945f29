// Tiles: declarations, copies, fragments and MMAs of the tile evaluator.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/numeric.h"
#include "sim/tile_cta.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

constexpr int kGroupThreads = 128;

// The thread of a warpgroup that owns an element (of a row: the first of its four owners).
int OwnerOf(int64_t i, int64_t j) {
  const auto row = static_cast<int>(i % 64);
  return row / 16 * 32 + row % 8 * 4 + static_cast<int>(j % 8) / 2;
}

// The next index of a window, row-major.
void Advance(const Window& w, std::vector<int64_t>& index) {
  for (size_t axis = index.size(); axis-- > 0;) {
    if (++index[axis] < w.axes[axis].extent) return;
    index[axis] = 0;
  }
}

}  // namespace

template <class F>
void TileCta::ForEachGroup(Threads threads, F&& f) {
  int last = -1;
  for (const int t : threads) {
    if (t / kGroupThreads == last) continue;
    last = t / kGroupThreads;
    f(last, t);
  }
}

// Row i of a fragment is one of the i/16th warp of its warpgroup.
template <class F>
void TileCta::ForEachWarpRows(Threads threads, ir::StorageId frag, F&& f) {
  constexpr int kWarpThreads = 32;
  constexpr int64_t kWarpRows = 16;
  int last = -1;
  for (const int t : threads) {
    if (t / kWarpThreads == last) continue;
    last = t / kWarpThreads;
    const int64_t first = t % kGroupThreads / kWarpThreads * kWarpRows;
    f(t, first, std::min(first + kWarpRows, rows_[frag.value]));
  }
}

template <class F>
void TileCta::ForEachRow(Threads threads, ir::StorageId frag, F&& f) {
  ForEachWarpRows(threads, frag, [&](int thread, int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) f(thread / kGroupThreads, i);
  });
}

void TileCta::Exec(const ir::Decl& op, Threads threads, int) {
  const ir::Storage& storage = StorageOf(op.storage);
  if (storage.kind == ir::StorageKind::Frag) {
    ForEachRow(threads, op.storage, [&](int group, int64_t i) {
      Value* const row = &FragAt(op.storage, group, i);
      std::fill(row, row + columns_[op.storage.value], Value{-1, NAN});
    });
  } else if (storage.kind == ir::StorageKind::Local) {
    auto& memory = memory_[op.storage.value];
    const size_t bytes = memory.size() / static_cast<size_t>(threads_);
    for (const int t : threads) {
      std::memset(memory.data() + static_cast<size_t>(t) * bytes, 0xff, bytes);
    }
  }
}

void TileCta::Exec(const ir::FragSet& op, Threads threads, int) {
  for (const int t : threads) {
    const Value value = Eval(op.value, t);
    Element(op.frag, op.index, t) = value;
  }
}

void TileCta::Exec(const ir::StoreElem& op, Threads threads, int) {
  const Elem elem = StorageOf(kernel_.views[op.dest].storage).elem;
  // All threads read before one writes, as far as they read the same elements.
  std::vector<Value> values;
  for (const int t : threads) values.push_back(Eval(op.value, t));
  for (size_t i = 0; i < threads.size(); ++i) {
    uint8_t* at = Single(op.dest, threads[i]);
    if (at != nullptr) StoreValue(elem, at, values[i]);
  }
}

void TileCta::Exec(const ir::AtomicElem& op, Threads threads, int) {
  const Elem elem = StorageOf(kernel_.views[op.dest].storage).elem;
  std::vector<Value> values;
  for (const int t : threads) values.push_back(Eval(op.value, t));
  for (size_t i = 0; i < threads.size(); ++i) {
    uint8_t* at = Single(op.dest, threads[i]);
    const Value before = at == nullptr ? Value{} : LoadValue(elem, at);
    const Value args[2] = {before, values[i]};
    const auto after =
        op.how == ir::AtomicKind::Add
            ? EvalBinary(ir::BinaryOp::Add, elem, before, values[i])
            : EvalCall(op.how == ir::AtomicKind::Max ? ir::Intrinsic::Max : ir::Intrinsic::Min,
                       elem, args);
    if (at != nullptr) StoreValue(elem, at, *after);
    if (op.var) Var(op.var, threads[i]) = before;
  }
}

void TileCta::Exec(const ir::Apply& op, Threads threads, int scope) {
  std::vector<char> active(static_cast<size_t>(threads_), 0);
  for (const int t : threads) active[static_cast<size_t>(t)] = 1;
  const size_t id = op.frag.value;
  const bool row = StorageOf(op.frag).layout == ir::FragLayout::Row || op.vars.size() == 1;
  ForEachGroup(threads, [&](int group, int) {
    for (int64_t i = 0; i < rows_[id]; ++i) {
      for (int64_t j = 0; j < (row ? 1 : columns_[id]); ++j) {
        const int owner = group * kGroupThreads + OwnerOf(i, j);
        if (owner >= threads_ || active[static_cast<size_t>(owner)] == 0) continue;
        Var(op.vars[0], owner).i = i;
        if (!row) Var(op.vars[1], owner).i = j;
        Exec(op.body, Threads(&owner, 1), scope);
        flow_[static_cast<size_t>(owner)] = Flow::Running;
      }
    }
  });
  flow_changed_ = false;
}

void TileCta::CopyTile(const Window& from, const Window& to, Elem elem) {
  const int64_t bytes = Bytes(elem);
  const size_t rank = to.axes.size();
  CHOREO_CHECK(from.axes.size() == rank, "a copy between ranks {} and {}", from.axes.size(), rank);
  int64_t count = 1;
  for (const Window::Axis& axis : to.axes) count *= std::max<int64_t>(axis.extent, 0);
  std::vector<int64_t> index(rank, 0);
  bool outside = false;
  for (int64_t n = 0; n < count; ++n) {
    bool beyond = false;
    const uint8_t* source = from.At(index, bytes, beyond);
    outside = outside || beyond;
    uint8_t* target = to.At(index, bytes, beyond);
    outside = outside || beyond;
    if (target != nullptr && source != nullptr) {
      std::memmove(target, source, static_cast<size_t>(bytes));
    } else if (target != nullptr) {
      std::memset(target, 0, static_cast<size_t>(bytes));
    }
    Advance(to, index);
  }
  if (!outside) return;
  const ir::Storage& storage = StorageOf(from.storage);
  launch_.findings.Add(diag::kinds::SimOutOfBounds, loc_, storage.loc, from.high, storage.name,
                       from.low, from.high - 1);
}

// Groups whose sources differ get a tile each; else there is one for all.
void TileCta::ChooseInstances(const void* node, ir::ViewId src, ir::ViewId dst, Threads threads) {
  std::vector<int>& instances = instances_[kernel_.views[dst].storage.value];
  if (instances.empty()) return;
  // The groups of other strands have tiles of their own.
  const TilePlan::OpPlan* plan = concurrent() ? launch_.plan->Find(node) : nullptr;
  const bool each = plan != nullptr && plan->unit != kMaxCtaThreads;
  const int first = each ? threads[0] / 32 : 0;
  std::vector<Window> sources;
  int last = -1;
  for (const int t : threads) {
    if (t / 32 == last) continue;
    last = t / 32;
    Window source = Open(src, t);
    auto at = std::find(sources.begin(), sources.end(), source);
    if (at == sources.end()) at = sources.insert(at, std::move(source));
    instances[static_cast<size_t>(last)] = first + static_cast<int>(at - sources.begin());
  }
}

// Done once for each pair of tiles that the executing threads name.
void TileCta::Copy(const void* node, ir::ViewId src, ir::ViewId dst, Threads threads) {
  ChooseInstances(node, src, dst, threads);
  std::vector<std::pair<Window, Window>> done;
  for (const int t : threads) {
    std::pair<Window, Window> copy{Open(src, t), Open(dst, t)};
    if (std::find(done.begin(), done.end(), copy) != done.end()) continue;
    if (copy.first.data != nullptr && copy.second.data != nullptr) {
      CopyTile(copy.first, copy.second, StorageOf(copy.first.storage).elem);
    }
    done.push_back(std::move(copy));
  }
}
void TileCta::Exec(const ir::CopySync& op, Threads threads, int) {
  Copy(&op, op.src, op.dst, threads);
}
void TileCta::Exec(const ir::CopyAsync& op, Threads threads, int) {
  Copy(&op, op.src, op.dst, threads);
}
void TileCta::Exec(const ir::TmaLoad& op, Threads threads, int) {
  Copy(&op, op.src, op.dst, threads);
}
void TileCta::Exec(const ir::TmaStore& op, Threads threads, int) {
  Copy(&op, op.src, op.dst, threads);
}

void TileCta::Exec(const ir::FillTile& op, Threads threads, int) {
  std::vector<Window> done;
  for (const int t : threads) {
    Window w = Open(op.dst, t);
    if (std::find(done.begin(), done.end(), w) != done.end()) continue;
    const Elem elem = StorageOf(w.storage).elem;
    const Value value = Eval(op.value, t);
    std::vector<int64_t> index(w.axes.size(), 0);
    int64_t count = 1;
    for (const Window::Axis& axis : w.axes) count *= std::max<int64_t>(axis.extent, 0);
    for (int64_t n = 0; n < count; ++n) {
      bool outside = false;
      uint8_t* at = w.At(index, Bytes(elem), outside);
      if (at != nullptr) StoreValue(elem, at, value);
      Advance(w, index);
    }
    done.push_back(std::move(w));
  }
}

void TileCta::Exec(const ir::FragFill& op, Threads threads, int) {
  ForEachGroup(threads, [&](int group, int first) {
    auto& tile = frags_[op.frag.value][static_cast<size_t>(group)];
    std::fill(tile.begin(), tile.end(), Eval(op.value, first));
  });
}

void TileCta::Exec(const ir::FragCopy& op, Threads threads, int) {
  const Elem from = StorageOf(op.src).elem;
  const Elem to = StorageOf(op.dst).elem;
  const int64_t columns = columns_[op.src.value];
  CHOREO_CHECK(columns == columns_[op.dst.value], "a copy between fragments of two shapes");
  ForEachRow(threads, op.src, [&](int group, int64_t i) {
    for (int64_t j = 0; j < columns; ++j) {
      FragAt(op.dst, group, i, j) = EvalCast(from, to, FragAt(op.src, group, i, j));
    }
  });
}

void TileCta::Exec(const ir::FragReduce& op, Threads threads, int) {
  const Elem elem = StorageOf(op.row).elem;
  const ir::Intrinsic max = ir::Intrinsic::Max;
  ForEachRow(threads, op.src, [&](int group, int64_t i) {
    Value& row = FragAt(op.row, group, i);
    if (op.reduce == ir::ReduceKind::Sum) row = {};
    for (int64_t j = 0; j < columns_[op.src.value]; ++j) {
      const Value args[2] = {row, FragAt(op.src, group, i, j)};
      row = op.reduce == ir::ReduceKind::Max
                ? *EvalCall(max, elem, args)
                : *EvalBinary(ir::BinaryOp::Add, elem, args[0], args[1]);
    }
  });
}

std::vector<float> TileCta::Operand(ir::ViewId view, int thread, int64_t rows, int64_t columns) {
  const Window w = Open(view, thread);
  const Elem elem = StorageOf(w.storage).elem;
  std::vector<float> tile(static_cast<size_t>(rows * columns), 0.0f);
  bool outside = false;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t index[2] = {i, j};
      const uint8_t* at = w.At(index, Bytes(elem), outside);
      if (at != nullptr) {
        tile[static_cast<size_t>(i * columns + j)] = static_cast<float>(LoadValue(elem, at).f);
      }
    }
  }
  return tile;
}

void TileCta::Exec(const ir::Mma& op, Threads threads, int) {
  ForEachGroup(threads, [&](int group, int first) {
    const Window b_view = Open(op.b, first);
    const int64_t rows = rows_[op.acc.value];
    const int64_t n = columns_[op.acc.value];
    const int64_t depth = b_view.axes[op.b_row ? 1 : 0].extent;
    std::vector<float> a(static_cast<size_t>(rows * depth));
    if (op.a.valid()) {
      a = Operand(op.a, first, rows, depth);
    } else {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t k = 0; k < depth; ++k) {
          a[static_cast<size_t>(i * depth + k)] =
              static_cast<float>(FragAt(op.a_frag, group, i, k).f);
        }
      }
    }
    const std::vector<float> b =
        op.b_row ? Operand(op.b, first, n, depth) : Operand(op.b, first, depth, n);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        auto sum = static_cast<float>(FragAt(op.acc, group, i, j).f);
        for (int64_t k = 0; k < depth; ++k) {
          sum += a[static_cast<size_t>(i * depth + k)] *
                 b[static_cast<size_t>(op.b_row ? j * depth + k : k * n + j)];
        }
        FragAt(op.acc, group, i, j).f = sum;
      }
    }
  });
}

void TileCta::Exec(const ir::MmaLoad& op, Threads threads, int) {
  ForEachGroup(threads, [&](int group, int first) {
    const std::vector<float> tile =
        Operand(op.src, first, rows_[op.frag.value], columns_[op.frag.value]);
    for (size_t i = 0; i < tile.size(); ++i) {
      frags_[op.frag.value][static_cast<size_t>(group)][i].f = tile[i];
    }
  });
}

void TileCta::Exec(const ir::MmaStore& op, Threads threads, int) {
  ForEachWarpRows(threads, op.frag, [&](int thread, int64_t first, int64_t end) {
    const Window w = Open(op.dst, thread);
    const Elem from = StorageOf(op.frag).elem;
    const Elem to = StorageOf(w.storage).elem;
    bool outside = false;
    for (int64_t i = first; i < end; ++i) {
      for (int64_t j = 0; j < columns_[op.frag.value]; ++j) {
        const int64_t index[2] = {i, j};
        uint8_t* at = w.At(std::span(index, w.axes.size()), Bytes(to), outside);
        if (at == nullptr) continue;
        StoreValue(to, at, EvalCast(from, to, FragAt(op.frag, thread / kGroupThreads, i, j)));
      }
    }
  });
}

}  // namespace choreo::sim
