#include "sim/shadow.h"

#include "sim/cta.h"

namespace choreo::sim {
namespace {

enum class Order { Ordered, Unordered, Unfenced, InFlight };

bool IsWrite(Access kind) { return kind == Access::Write || kind == Access::CopyInFlight; }

bool SeenBy(const Warp& w, uint32_t warp, uint32_t epoch) { return w.seen[warp] >= epoch; }

// Whether the recorded access happens before the one that warp `w` makes now.
Order OrderOf(const Warp& w, const AccessInfo& access, const Record& record) {
  const Cta& cta = *w.cta;
  if (record.cta != cta.id) return Order::Unordered;
  if (record.kind == Access::CopyInFlight) return Order::InFlight;
  const auto warps = static_cast<uint32_t>(cta.warps.size());
  if (record.kind == Access::AsyncRead) {
    for (uint32_t part = 0; part < kWarpsPerGroup; ++part) {
      if (((record.lanes >> part) & 1u) == 0) continue;
      const uint32_t warp = record.agent * kWarpsPerGroup + part;
      if (!SeenBy(w, warps + warp, record.epoch)) return Order::Unordered;
    }
    return Order::Ordered;
  }
  if (access.kind == Access::AsyncRead) {
    Order worst = Order::Ordered;
    for (uint32_t part = 0; part < kWarpsPerGroup; ++part) {
      if (((access.group_parts >> part) & 1u) == 0) continue;
      const Warp& reader = cta.warps[access.group * kWarpsPerGroup + part];
      if (reader.seen_fenced[record.agent] >= record.epoch) continue;
      if (!SeenBy(reader, record.agent, record.epoch)) {
        // The writer itself needs no barrier to be ordered before what it issues, only the fence.
        const bool own = record.agent == reader.index;
        if (!own) return Order::Unordered;
      }
      worst = Order::Unfenced;
    }
    return worst;
  }
  if (record.agent == w.index && record.lanes == (1u << access.lane)) return Order::Ordered;
  return SeenBy(w, record.agent, record.epoch) ? Order::Ordered : Order::Unordered;
}

std::string AgentName(const Record& record) {
  if (record.kind == Access::AsyncRead) {
    return fmt::format("the tensor core (warpgroup {})", record.agent);
  }
  std::string name =
      (record.lanes & (record.lanes - 1)) == 0 && record.lanes != 0
          ? LaneName(record.agent, static_cast<uint32_t>(__builtin_ctz(record.lanes)))
          : WarpName(record.agent);
  return name;
}

std::string_view Verb(Access kind) { return IsWrite(kind) ? "write" : "read"; }

void Report(Warp& w, const AccessInfo& access, const Record& record, Order order,
            std::string_view storage) {
  namespace kinds = diag::kinds;
  Cta& cta = *w.cta;
  const ir::Loc loc = cta.Loc(w);
  const ir::Loc other = cta.launch->LocOf(record.op);
  std::string self = access.kind == Access::AsyncRead
                         ? fmt::format("the tensor core (warpgroup {})", access.group)
                         : LaneName(w.index, access.lane);
  std::string agent = AgentName(record);
  if (record.cta != cta.id) {
    self += fmt::format(" of CTA {}", cta.id);
    agent += fmt::format(" of CTA {}", record.cta);
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
  if (order != Order::Unordered) return false;
  if (access.kind == Access::Write) return access.silent && record.kind != Access::AsyncRead;
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
  const bool async = access.kind == Access::AsyncRead;
  const bool write = IsWrite(access.kind);
  Record mine;
  mine.lanes = async ? access.group_parts : 1u << access.lane;
  mine.epoch = async ? access.sequence : w.clock;
  mine.op = w.pc;
  mine.cta = w.cta->id;
  mine.bytes = bytes;
  mine.kind = access.kind;
  mine.agent = static_cast<uint8_t>(async ? access.group : w.index);
  mine.silent = access.silent;

  bool merged = false;
  for (uint32_t* link = &head; *link != 0;) {
    Record& record = pool[*link];
    const auto common = static_cast<uint16_t>(record.bytes & bytes);
    bool superseded = false;
    if (common != 0 && (write || IsWrite(record.kind))) {
      const Order order = OrderOf(w, access, record);
      if (!Harmless(pool, head, w, access, record, order, common)) {
        Report(w, access, record, order, storage);
      }
      superseded = write && order == Order::Ordered;
    } else if (common != 0 && SameAgent(record, mine)) {
      if (!async && record.epoch == mine.epoch && record.bytes == bytes) {
        record.lanes |= mine.lanes;
        merged = true;
      } else {
        superseded = async ? (record.lanes & ~mine.lanes) == 0
                           : OrderOf(w, access, record) == Order::Ordered;
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

}  // namespace choreo::sim
