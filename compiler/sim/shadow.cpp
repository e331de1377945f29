#include "sim/shadow.h"

#include "sim/cta.h"
#include "sim/sync.h"

namespace choreo::sim {
namespace {

enum class Order { Ordered, Unordered, Unfenced, InFlight };

bool IsWrite(Access kind) { return kind != Access::Read && kind != Access::AsyncRead; }
// Goes through the async proxy.
bool ThroughAsyncProxy(Access kind) { return kind == Access::LoadInFlight || IsAsync(kind); }

// Whether `lane` of `w` (or the whole warp) is ordered after the recorded access, as far as an
// access of this kind has to be.
Order OrderFor(const Warp& w, uint32_t lane, Access kind, const Record& record) {
  if (IsAsync(record.kind)) {
    return Seen(w, lane, record.agent) >= record.epoch ? Order::Ordered : Order::Unordered;
  }
  const Warp& other = w.cta->cluster->Of(record.cta).warps[record.agent];
  const auto after = [&](bool fenced) {
    return OrderedAfter(w, lane, other, record.lanes, record.epoch, fenced);
  };
  if (!ThroughAsyncProxy(kind)) return after(false) ? Order::Ordered : Order::Unordered;
  if (after(true)) return Order::Ordered;
  return after(false) ? Order::Unfenced : Order::Unordered;
}

// Whether the recorded access happens before the one that warp `w` makes now.
Order OrderOf(const Warp& w, const AccessInfo& access, const Record& record) {
  const Cta& cta = *w.cta;
  if (!cta.cluster->Has(record.cta)) return Order::Unordered;
  if (record.kind == Access::CopyInFlight || record.kind == Access::LoadInFlight) {
    return Order::InFlight;
  }
  if (!access.mma) return OrderFor(w, access.lane, access.kind, record);
  Order worst = Order::Ordered;
  for (uint32_t part = 0; part < kWarpsPerGroup; ++part) {
    if (((access.group_parts >> part) & 1u) == 0) continue;
    const Warp& reader = cta.warps[access.group * kWarpsPerGroup + part];
    const Order order = OrderFor(reader, kWholeWarp, access.kind, record);
    if (order == Order::Unordered) return order;
    if (order != Order::Ordered) worst = order;
  }
  return worst;
}

std::string AgentName(const Cta& cta, const Record& record) {
  const bool tma = record.kind == Access::LoadInFlight || IsAsync(record.kind);
  if (!tma) {
    const Warp& w = cta.warps[record.agent];
    const bool one = record.lanes != 0 && (record.lanes & (record.lanes - 1)) == 0;
    return one ? LaneName(w, static_cast<uint32_t>(__builtin_ctz(record.lanes))) : WarpName(w);
  }
  const Agent& agent = cta.agents[record.agent];
  if (agent.kind == AgentKind::Mma) {
    return fmt::format("the tensor core (warpgroup {}){}", agent.index, RankName(cta));
  }
  return fmt::format("TMA for {}", LaneName(cta.warps[record.warp],
                                            static_cast<uint32_t>(__builtin_ctz(record.lanes))));
}

std::string AgentName(const Warp& w, const AccessInfo& access) {
  if (access.mma) {
    return fmt::format("the tensor core (warpgroup {}){}", access.group, RankName(*w.cta));
  }
  const std::string lane = LaneName(w, access.lane);
  return ThroughAsyncProxy(access.kind) ? "TMA for " + lane : lane;
}

std::string_view Verb(Access kind) {
  if (kind == Access::Atomic) return "atomic update";
  return IsWrite(kind) ? "write" : "read";
}

void Report(Warp& w, const AccessInfo& access, const Record& record, Order order,
            std::string_view storage) {
  namespace kinds = diag::kinds;
  Cta& cta = *w.cta;
  const ir::Loc loc = cta.Loc(w);
  const ir::Loc other = cta.launch->LocOf(record.op);
  std::string self = AgentName(w, access);
  std::string agent;
  if (cta.cluster->Has(record.cta)) {
    agent = AgentName(cta.cluster->Of(record.cta), record);
  } else {
    // Its components are no longer known.
    self += fmt::format(" of CTA {}", cta.id);
    agent = fmt::format("{} of CTA {}",
                        ThroughAsyncProxy(record.kind) ? "an asynchronous engine"
                                                       : fmt::format("warp {}", record.agent),
                        record.cta);
  }
  const std::string name(storage);
  const std::string verb(Verb(access.kind));
  switch (order) {
    case Order::Ordered:
      return;
    case Order::InFlight:
      cta.findings().Add(kinds::SimCopyInFlight, loc, other, verb, name, self, agent);
      return;
    case Order::Unfenced:
      cta.findings().Add(kinds::SimMissingProxyFence, loc, other, verb, name, self,
                         std::string(Verb(record.kind)), agent);
      return;
    case Order::Unordered:
      cta.findings().Add(kinds::SimRace, loc, other, verb, name, self,
                         std::string(Verb(record.kind)), agent);
      return;
  }
}

// Whether this lane wrote the bytes itself; `silent`: with a value that stood there already.
bool OwnWrite(RecordPool& pool, uint32_t head, const Warp& w, uint32_t lane, uint16_t bytes,
              bool& silent) {
  for (uint32_t id = head; id != 0; id = pool[id].next) {
    const Record& r = pool[id];
    if (r.kind == Access::Write && r.cta == w.cta->id && r.agent == w.index &&
        r.lanes == (1u << lane) && (r.bytes & bytes) == bytes) {
      silent = r.silent;
      return true;
    }
  }
  return false;
}

// Storing the value that stands there already is allowed to any thread, and so is reading it back
// for a thread that stored it.
bool Harmless(RecordPool& pool, uint32_t head, const Warp& w, const AccessInfo& access,
              const Record& record, Order order, uint16_t common) {
  if (order == Order::Ordered) return true;
  if (order != Order::Unordered || record.kind == Access::Atomic) return false;
  if (access.kind == Access::Write) return access.silent && !IsAsync(record.kind);
  if (access.kind != Access::Read) return false;
  bool own_silent = false;
  return OwnWrite(pool, head, w, access.lane, common, own_silent) && (own_silent || record.silent);
}

bool SameAgent(const Record& a, const Record& b) {
  return a.cta == b.cta && a.kind == b.kind && a.agent == b.agent;
}

}  // namespace

void CheckCell(Warp& w, const AccessInfo& access, uint32_t& head, uint16_t bytes,
               std::string_view storage) {
  RecordPool& pool = w.cta->launch->records;
  const bool async = ThroughAsyncProxy(access.kind);
  const bool write = IsWrite(access.kind);
  Record mine;
  mine.lanes = access.mma ? access.group_parts : 1u << access.lane;
  mine.epoch = async ? access.epoch : w.clock;
  mine.op = w.pc;
  mine.cta = w.cta->id;
  mine.bytes = bytes;
  mine.kind = access.kind;
  mine.agent = static_cast<uint16_t>(async ? access.agent : w.index);
  mine.warp = static_cast<uint8_t>(w.index);
  mine.silent = access.silent;

  bool merged = false;
  for (uint32_t* link = &head; *link != 0;) {
    Record& record = pool[*link];
    const auto common = static_cast<uint16_t>(record.bytes & bytes);
    bool superseded = false;
    const bool atomic = access.kind == Access::Atomic;
    const bool both_atomic = atomic && record.kind == Access::Atomic;
    if (common != 0 && !both_atomic && (write || IsWrite(record.kind))) {
      const Order order = OrderOf(w, access, record);
      if (!Harmless(pool, head, w, access, record, order, common)) {
        Report(w, access, record, order, storage);
      }
      // Other atomic accesses come without an order: they are compared with what was before, too.
      superseded = write && !atomic && order == Order::Ordered;
    } else if (common != 0 && SameAgent(record, mine)) {
      if (!async && record.epoch == mine.epoch && record.bytes == bytes) {
        record.lanes |= mine.lanes;
        merged = true;
      } else {
        // Components of async accesses reach their counts in order.
        superseded = async || OrderOf(w, access, record) == Order::Ordered;
      }
    }
    if (superseded) record.bytes &= static_cast<uint16_t>(~bytes);
    if (record.bytes == 0) {
      const uint32_t id = *link;
      *link = record.next;
      pool.Free(id);
    } else {
      link = &record.next;
    }
  }
  if (merged) return;
  mine.next = head;
  head = pool.New(mine);
}

void LandCopy(Warp& w, uint32_t lane, uint32_t op, uint32_t& head, uint16_t bytes) {
  RecordPool& pool = w.cta->launch->records;
  for (uint32_t id = head; id != 0; id = pool[id].next) {
    Record& record = pool[id];
    if (record.kind == Access::CopyInFlight && record.cta == w.cta->id && record.agent == w.index &&
        record.lanes == (1u << lane) && record.op == op && record.bytes == bytes) {
      record.kind = Access::Write;
      record.epoch = w.clock;
      return;
    }
  }
}

void LandLoad(const Cta& cta, uint32_t number, uint32_t agent, uint32_t epoch, uint32_t& head) {
  RecordPool& pool = cta.launch->records;
  for (uint32_t id = head; id != 0; id = pool[id].next) {
    Record& record = pool[id];
    if (record.kind != Access::LoadInFlight || record.cta != cta.id || record.epoch != number) {
      continue;
    }
    record.kind = Access::AsyncWrite;
    record.agent = static_cast<uint16_t>(agent);
    record.epoch = epoch;
    return;
  }
}

}  // namespace choreo::sim
