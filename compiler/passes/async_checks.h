// The checks of single traces: futures, fragments under an MMA in flight, orders, and waits that
// serialise. They also number the generations and name the instances that the replay works on.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "passes/async_findings.h"
#include "passes/async_trace.h"

namespace choreo::passes {

// Sites whose obligation was met wherever it was looked at, and sites that could not be judged.
class Obligations {
 public:
  enum class Rule : uint8_t { Future, Fragment, Order, Filled, Released, Triggered };
  void Met(const ir::Op& op, Rule rule) { met_.insert({&op, rule}); }
  void Left(const ir::Op& op, Rule rule) { left_.insert({&op, rule}); }
  int proved() const;
  int left() const { return static_cast<int>(left_.size()); }

 private:
  std::set<std::pair<const ir::Op*, Rule>> met_, left_;
};

// What has a finding in each role already: one mistake makes many operations wrong.
struct Reported {
  std::set<std::pair<std::string, uint32_t>> counters, events, tiles;
};

struct CheckInputs {
  const ir::Kernel& kernel;
  const Agents& agents;
  Findings& findings;
  // Orders that run ahead: the mistake is a wait left out, if the replay finds what it left open.
  Findings& skipped;
  Obligations& obligations;
  Reported& reported;
};

// Futures and fragments of one trace; fills in Step::issues.
void CheckFutures(const CheckInputs& in, size_t agent, Trace& trace);
// Orders of one trace; fills in Step::generation.
void CheckOrders(const CheckInputs& in, size_t agent, Trace& trace);
// MMAs that are waited for before the work they could run beside.
void CheckOverlap(const CheckInputs& in, size_t agent, const Trace& trace);
// Slots of tiles against the sizes of their arrays.
void CheckSlots(const CheckInputs& in, size_t agent, const Trace& trace);
// The plan of register reallocation.
void CheckRegisters(const ir::Kernel& kernel, Findings& findings);

}  // namespace choreo::passes
