// Happens-before between warps: what a release point gives away and what an acquiring warp or lane
// learns. A release or wait by a whole warp concerns all its lanes; one by some lanes (an elected
// thread) concerns those lanes only, until the warp synchronises.
#pragma once

#include "sim/clock.h"
#include "sim/warp.h"

namespace choreo::sim {

struct Cta;
struct Record;

// What the active lanes did and know until now, for whoever acquires it.
Knowledge Release(Warp& w);
// `lanes` are ordered after `what` from now on.
void Acquire(Warp& w, uint32_t lanes, const Knowledge& what);
// The lane learns that `component` has reached `count`.
void Learn(Warp& w, uint32_t lane, uint32_t component, uint32_t count);
// All lanes of the warp know what each of them did and knew.
void SynchroniseLanes(Warp& w);
// Everything that any of `warps` (bit set) did or knows, and `more`, is known to all of `to`.
void Join(Cta& cta, uint32_t warps, uint32_t to, const Knowledge& more);

// For `lane`: what the warp as a whole acts on, an MMA's operands say.
inline constexpr uint32_t kWholeWarp = kLanes;

uint32_t Seen(const Warp& w, uint32_t lane, uint32_t component);
// Whether lane `lane` of `w` is ordered after ordinary accesses of `lanes` of `other` at `epoch`;
// with `fenced`: also for accesses through the async proxy.
bool OrderedAfter(const Warp& w, uint32_t lane, const Warp& other, uint32_t lanes, uint32_t epoch,
                  bool fenced);

// The component of a thread's stores (or of its own accesses).
uint32_t ThreadAgent(Warp& w, AgentKind kind, uint32_t lane);

}  // namespace choreo::sim
