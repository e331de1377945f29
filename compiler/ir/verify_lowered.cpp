// The verifier's rules for ops of lowered state.
#include "ir/verifier_impl.h"

namespace choreo::ir {
namespace {

bool IsAccessBytes(int32_t bytes, int32_t least) {
  return (bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16) && bytes >= least;
}

}  // namespace

void KernelVerifier::Check(const MemStore& op) {
  if (!op.index) return Report("no index");
  if (!CheckMemory(op.storage, op.index, 1)) return;
  Typed(op.value, kernel_.storages[op.storage].elem, "the value");
}

void KernelVerifier::Check(const AtomicMem& op) {
  if (!op.index) return Report("no index");
  if (CheckMemory(op.storage, op.index, 1)) CheckAtomic(op.var, op.storage, op.value);
}

void KernelVerifier::Check(const StoreVec& op) {
  if (!ValidStorage(op.storage)) return;
  const Storage& storage = kernel_.storages[op.storage];
  const auto count = static_cast<int64_t>(op.values.size());
  const int64_t bytes = count * Bytes(storage.elem);
  if (bytes > 16 || !IsAccessBytes(static_cast<int32_t>(bytes), 4)) {
    Report("{} bytes: an access has 4, 8 or 16", bytes);
    return;
  }
  for (const ExprId value : op.values) Typed(value, storage.elem, "a value");
  if (Typed(op.index, storage.kind == StorageKind::Param ? Elem::kS64 : Elem::kS32, "the index")) {
    CheckMemory(op.storage, op.index, count);
  }
}

void KernelVerifier::Check(const CopyVec& op) {
  if (!ValidStorage(op.dst) || !ValidStorage(op.src) || !op.dst_index || !op.src_index) {
    Report("a side of the copy is missing");
    return;
  }
  const Elem elem = kernel_.storages[op.src].elem;
  if (elem != kernel_.storages[op.dst].elem) Report("a copy between element types");
  if (!IsAccessBytes(op.bytes, Bytes(elem))) {
    Report("{} bytes: an access has 2, 4, 8 or 16", op.bytes);
    return;
  }
  CheckMemory(op.dst, op.dst_index, op.bytes / Bytes(elem));
  CheckMemory(op.src, op.src_index, op.bytes / Bytes(elem));
}

void KernelVerifier::Check(const CpAsync& op) {
  if (!IsShared(op.dst, "the destination") || !ValidStorage(op.src)) return;
  if (kernel_.storages[op.src].kind != StorageKind::Param) Report("the source is no parameter");
  const Elem elem = kernel_.storages[op.src].elem;
  if (elem != kernel_.storages[op.dst].elem) Report("a copy between element types");
  if (!IsAccessBytes(op.bytes, 4) || op.bytes % Bytes(elem) != 0) {
    Report("{} bytes: cp.async copies 4, 8 or 16", op.bytes);
    return;
  }
  if (Typed(op.dst_index, Elem::kS32, "the destination index")) {
    CheckMemory(op.dst, op.dst_index, op.bytes / Bytes(elem));
  }
  if (Typed(op.src_index, Elem::kS64, "the source index")) {
    CheckMemory(op.src, op.src_index, op.bytes / Bytes(elem));
  }
  TypedOrNone(op.valid_bytes, Elem::kS32, "valid_bytes");
}

void KernelVerifier::Check(const CpAsyncWait& op) {
  if (op.pending < 0) Report("{} pending groups", op.pending);
}

void KernelVerifier::CheckBarrier(ExprId id, int32_t threads) {
  if (!Typed(id, Elem::kS32, "the barrier")) return;
  const auto number = Constant(id);
  if (number && (*number < 1 || *number > 15)) {
    Report("barrier {}: named barriers are 1 to 15", *number);
  }
  if (threads < 32 || threads > 1024 || threads % 32 != 0) {
    Report("{} threads: not a multiple of 32 up to 1024", threads);
  }
}

void KernelVerifier::Check(const NamedBarrierSync& op) { CheckBarrier(op.id, op.threads); }
void KernelVerifier::Check(const NamedBarrierArrive& op) { CheckBarrier(op.id, op.threads); }

void KernelVerifier::Check(const NamedBarrierVote& op) {
  CheckVote(op.var, op.value);
  CheckBarrier(op.id, op.threads);
}

void KernelVerifier::Check(const Sleep& op) { Typed(op.nanoseconds, Elem::kS32, "the time"); }

// ---- mbarriers and TMA ----

void KernelVerifier::CheckSlot(StorageId event, ExprId slot) {
  if (!IsEvent(event) || !Typed(slot, Elem::kS32, "the slot")) return;
  const Storage& storage = kernel_.storages[event];
  const auto number = Constant(slot);
  if (number && (*number < 0 || *number >= storage.array_size)) {
    Report("slot {} of `{}`, which has {}", *number, storage.name, storage.array_size);
  }
}

void KernelVerifier::Check(const MbarrierInit& op) {
  constexpr int32_t kMaxArrivals = (1 << 20) - 1;
  IsEvent(op.event);
  if (op.count < 1 || op.count > kMaxArrivals) {
    Report("{} arrivals: 1 to {}", op.count, kMaxArrivals);
  }
}

void KernelVerifier::Check(const MbarrierArrive& op) { CheckSlot(op.event, op.slot); }

void KernelVerifier::NeedCluster() {
  if (kernel_.host.cluster < 2) Report("the kernel has no clusters");
}

void KernelVerifier::Check(const MbarrierArriveCluster& op) {
  NeedCluster();
  CheckSlot(op.event, op.slot);
  if (!Typed(op.rank, Elem::kS32, "the rank")) return;
  const auto rank = Constant(op.rank);
  if (rank && (*rank < 0 || *rank >= kernel_.host.cluster)) {
    Report("rank {} in a cluster of {}", *rank, kernel_.host.cluster);
  }
}

void KernelVerifier::Check(const MbarrierExpectTx& op) {
  constexpr int32_t kMaxBytes = (1 << 20) - 1;
  CheckSlot(op.event, op.slot);
  if (op.bytes < 1 || op.bytes > kMaxBytes) Report("{} bytes: 1 to {}", op.bytes, kMaxBytes);
}

void KernelVerifier::Check(const MbarrierWait& op) {
  CheckSlot(op.event, op.slot);
  Typed(op.parity, Elem::kS32, "the parity");
}

void KernelVerifier::CheckBox(int32_t map, const std::vector<ExprId>& at, StorageId shared,
                              ExprId index) {
  if (map < 0 || static_cast<size_t>(map) >= kernel_.host.maps.size()) {
    Report("tensor map {} does not exist", map);
    return;
  }
  const TensorMap& tensor = kernel_.host.maps[static_cast<size_t>(map)];
  if (at.size() != tensor.box.size()) {
    Report("{} coordinates for a map of {} axes", at.size(), tensor.box.size());
  }
  for (const ExprId coordinate : at) Typed(coordinate, Elem::kS32, "a coordinate");
  int64_t elements = 1;
  for (const int32_t extent : tensor.box) elements *= extent;
  if (IsShared(shared, "the tile") && Typed(index, Elem::kS32, "the tile's index")) {
    CheckMemory(shared, index, elements);
  }
}

void KernelVerifier::Check(const TmaLoadBox& op) {
  CheckBox(op.map, op.at, op.dst, op.dst_index);
  CheckSlot(op.event, op.slot);
  TypedOrNone(op.policy, Elem::kU64, "the policy");
  if (!op.multicast) return;
  NeedCluster();
  if (static_cast<size_t>(op.multicast.axis) >= op.at.size() || op.multicast.rows < 1) {
    Report("parts of {} along axis {} of a box", op.multicast.rows, op.multicast.axis);
  }
}

void KernelVerifier::Check(const TmaStoreBox& op) { CheckBox(op.map, op.at, op.src, op.src_index); }

void KernelVerifier::Check(const TmaStoreWait& op) {
  if (op.pending < 0) Report("{} pending groups", op.pending);
}

void KernelVerifier::Check(const Wgmma& op) {
  if (!IsFrag(op.acc, "the accumulator")) return;
  const Storage& acc = kernel_.storages[op.acc];
  if (op.n < 8 || op.n > 256 || op.n % 8 != 0) Report("n = {}: 8 to 256 by 8", op.n);
  if (acc.elem != Elem::kF32 || FragElems(kernel_, acc) != op.n / 2) {
    Report("accumulator `{}` does not hold {} f32 a lane", acc.name, op.n / 2);
  }
  if (!IsHalf(op.elem)) Report("operands of type {}", Spelling(op.elem));
  if (op.a_desc.valid() == op.a_frag.valid()) {
    Report("A is a descriptor or a fragment, one of the two");
  }
  TypedOrNone(op.a_desc, Elem::kU64, "a_desc");
  if (op.a_frag && IsFrag(op.a_frag, "A")) {
    const Storage& a = kernel_.storages[op.a_frag];
    const int64_t words = FragElems(kernel_, a) / 2;
    if (a.elem != op.elem || op.a_word < 0 || op.a_word + 4 > words) {
      Report("words {} to {} of A `{}`, which has {} of {}", op.a_word, op.a_word + 3, a.name,
             words, Spelling(a.elem));
    }
  }
  Typed(op.b_desc, Elem::kU64, "b_desc");
  if (op.scale_d.value < kernel_.exprs.size() && TypeOf(op.scale_d) == Elem::kBool) return;
  Typed(op.scale_d, Elem::kS32, "scale_d");
}

void KernelVerifier::Check(const WgmmaWait& op) {
  if (op.pending < 0 || op.pending > 7) Report("{} pending groups: 0 to 7", op.pending);
}

void KernelVerifier::Check(const FragTie& op) { IsFrag(op.frag, "`frag`"); }

void KernelVerifier::Check(const FragPack& op) {
  if (!IsFrag(op.frag, "`frag`")) return;
  const Storage& frag = kernel_.storages[op.frag];
  if (!IsHalf(frag.elem)) Report("`{}` has no 16-bit elements", frag.name);
  Typed(op.low, Elem::kF32, "the low value");
  Typed(op.high, Elem::kF32, "the high value");
  if (!Typed(op.word, Elem::kS32, "the word")) return;
  const auto word = Constant(op.word);
  if (word && (*word < 0 || *word >= FragElems(kernel_, frag) / 2)) {
    Report("word {} of `{}`, which has {}", *word, frag.name, FragElems(kernel_, frag) / 2);
  }
}

void KernelVerifier::CheckMatrix(StorageId memory, ExprId index, StorageId frag, ExprId word,
                                 int32_t count) {
  if (!IsShared(memory, "the memory side") || !IsFrag(frag, "`frag`")) return;
  const Storage& storage = kernel_.storages[frag];
  if (!IsHalf(storage.elem) || storage.elem != kernel_.storages[memory].elem) {
    Report("fragment and memory are not of one 16-bit type");
  }
  if (count != 1 && count != 2 && count != 4) Report("{} matrices: 1, 2 or 4", count);
  Typed(index, Elem::kS32, "the index");
  if (!Typed(word, Elem::kS32, "the word")) return;
  const auto first = Constant(word);
  const int64_t words = FragElems(kernel_, storage) / 2;
  if (first && (*first < 0 || *first + count > words)) {
    Report("words {} to {} of `{}`, which has {}", *first, *first + count - 1, storage.name, words);
  }
}

void KernelVerifier::Check(const StMatrix& op) {
  CheckMatrix(op.dst, op.index, op.frag, op.word, op.count);
}
void KernelVerifier::Check(const LdMatrix& op) {
  CheckMatrix(op.src, op.index, op.frag, op.word, op.count);
}

void KernelVerifier::Check(const ErrorLatch& op) {
  if (op.code < 1 || static_cast<size_t>(op.code) > kernel_.errors.size()) {
    Report("code {} has no message", op.code);
  }
}

}  // namespace choreo::ir
