#include "sim/sync.h"

#include "sim/cta.h"

namespace choreo::sim {
namespace {

Knowledge& OfLane(Warp& w, uint32_t lane) {
  if (w.lane_known.empty()) w.lane_known.resize(kLanes);
  return w.lane_known[lane];
}

uint32_t Lookup(const Warp& w, uint32_t lane, uint32_t component, Clock Knowledge::* clock) {
  const uint32_t all = (w.known.*clock)[component];
  const bool whole = lane == kWholeWarp || w.lane_known.empty();
  return whole ? all : std::max(all, (w.lane_known[lane].*clock)[component]);
}

}  // namespace

uint32_t ThreadAgent(Warp& w, AgentKind kind, uint32_t lane) {
  auto& ids = kind == AgentKind::Thread      ? w.thread_agent
              : kind == AgentKind::StoreRead ? w.store_read_agent
                                             : w.store_write_agent;
  if (ids[lane] == 0) ids[lane] = w.cta->agents.NewOfThread(kind, w.index, lane);
  return ids[lane];
}

Knowledge Release(Warp& w) {
  const Agents& agents = w.cta->agents;
  Knowledge out = w.known;
  for (uint32_t l = 0; l < kLanes && !w.lane_known.empty(); ++l) {
    if ((w.active >> l) & 1u) out.Join(w.lane_known[l]);
  }
  out.seen.Raise(agents.Progress(w.index), w.clock);
  if (w.active == w.valid) {
    out.seen.Raise(agents.Warp(w.index), w.clock);
    out.fenced.Raise(agents.Warp(w.index), w.fenced);
  } else {
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (((w.active >> l) & 1u) == 0) continue;
      const uint32_t agent = ThreadAgent(w, AgentKind::Thread, l);
      out.seen.Raise(agent, w.clock);
      out.fenced.Raise(agent, w.lane_fenced[l]);
    }
  }
  ++w.clock;
  return out;
}

void Acquire(Warp& w, uint32_t lanes, const Knowledge& what) {
  if (lanes == w.valid) {
    w.known.Join(what);
    return;
  }
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((lanes >> l) & 1u) OfLane(w, l).Join(what);
  }
}

void Learn(Warp& w, uint32_t lane, uint32_t component, uint32_t count) {
  OfLane(w, lane).seen.Raise(component, count);
}

void SynchroniseLanes(Warp& w) {
  for (const Knowledge& lane : w.lane_known) w.known.Join(lane);
  w.lane_known.clear();
  const uint32_t self = w.cta->agents.Warp(w.index);
  w.known.seen.Raise(self, w.clock);
  w.known.seen.Raise(w.cta->agents.Progress(w.index), w.clock);
  w.known.fenced.Raise(self, w.fenced);
  ++w.clock;
}

void Join(Cta& cta, uint32_t warps, uint32_t to, const Knowledge& more) {
  Knowledge all = more;
  for (Warp& w : cta.warps) {
    if (((warps >> w.index) & 1u) == 0) continue;
    SynchroniseLanes(w);
    all.Join(w.known);
  }
  for (Warp& w : cta.warps) {
    if ((to >> w.index) & 1u) w.known = all;
  }
}

uint32_t Seen(const Warp& w, uint32_t lane, uint32_t component) {
  return Lookup(w, lane, component, &Knowledge::seen);
}

bool OrderedAfter(const Warp& w, uint32_t lane, const Warp& other, uint32_t lanes, uint32_t epoch,
                  bool fenced) {
  const auto clock = fenced ? &Knowledge::fenced : &Knowledge::seen;
  if (Lookup(w, lane, other.cta->agents.Warp(other.index), clock) >= epoch) return true;
  // What the warp issues together is ordered after its own accesses once they are fenced.
  if (lane == kWholeWarp && &other == &w) return !fenced || w.fenced >= epoch;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto l = static_cast<uint32_t>(__builtin_ctz(left));
    if (&other == &w && l == lane) {  // its own
      if (fenced && w.lane_fenced[l] < epoch) return false;
      continue;
    }
    const uint32_t agent = other.thread_agent[l];
    if (agent == 0 || Lookup(w, lane, agent, clock) < epoch) return false;
  }
  return true;
}

}  // namespace choreo::sim
