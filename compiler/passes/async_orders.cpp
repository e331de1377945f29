// Orders along one trace: each is the number of the path's earlier waits, or triggers, on the ring.
#include <algorithm>
#include <map>
#include <set>

#include "ir/walk.h"
#include "passes/async_checks.h"

namespace choreo::passes {
namespace {

using Rule = Obligations::Rule;

class Orders {
 public:
  Orders(const CheckInputs& in, size_t agent, Trace& trace)
      : in_(in), role_(in.agents.all()[agent].name), trace_(trace) {}

  void Run() {
    for (Step& step : trace_.steps) {
      if (const auto* wait = std::get_if<ir::EventWait>(&step.op->node)) {
        Ledger& ledger = waits_[wait->event];
        step.generation = ledger.count++;
        Check(step, wait->event, wait->order, ledger, "wait");
        ledger.count = step.generation + 1;
      } else if (const auto* trigger = std::get_if<ir::EventTrigger>(&step.op->node)) {
        Trigger(step, *trigger);
      }
    }
  }

 private:
  struct Ledger {
    int64_t count = 0;
    const Step* last = nullptr;
    std::optional<int64_t> last_order;
    bool wrong = false;  // no order can be trusted any more
  };

  void Trigger(Step& step, const ir::EventTrigger& trigger) {
    Ledger& ledger = triggers_[trigger.event];
    // Triggers of loads in one block with one order complete one generation together, and so does a
    // plain one behind them.
    const Step* last = ledger.last;
    const bool joins = last != nullptr && last->op != step.op && last->block == step.block &&
                       Joined(std::get<ir::EventTrigger>(last->op->node), trigger) &&
                       ledger.last_order == step.order;
    if (joins) {
      ledger.last = &step;
      step.generation = ledger.count - 1;
      return;
    }
    step.generation = ledger.count++;
    Check(step, trigger.event, trigger.order, ledger, "trigger");
  }

  static bool Joined(const ir::EventTrigger& a, const ir::EventTrigger& b) {
    return !a.futures.empty() && (b.order || !b.futures.empty());
  }

  void Check(Step& step, ir::StorageId event, ir::ExprId order, Ledger& ledger,
             std::string_view word) {
    const ir::Storage& ring = in_.kernel.storages[event];
    if (!order) return;
    const auto before = std::exchange(ledger.last_order, step.order);
    const Step* last = std::exchange(ledger.last, &step);
    if (!step.order) {
      in_.obligations.Left(*step.op, Rule::Order);
      return;
    }
    const int64_t turn = 2 * int64_t{ring.array_size};
    const int64_t expected = step.generation;
    if ((*step.order - expected) % turn == 0) {
      in_.obligations.Met(*step.op, Rule::Order);
      return;
    }
    // Ahead: waits have been left out, and the others are right.
    int64_t ahead = *step.order - expected;
    if (ahead < 0 && (ahead % turn + turn) % turn < ring.array_size) ahead = ahead % turn + turn;
    const bool skips = word == "wait" && ahead > 0 && !ledger.wrong;
    if (skips) step.generation += ahead;
    ledger.wrong = ledger.wrong || !skips;
    if (!FirstOfCounter(event, order)) return;
    Finding& finding = (skips ? in_.skipped : in_.findings)
                           .Add(diag::kinds::OrderMismatch, step.op->loc, word, ring.name,
                                *step.order, expected, word, role_);
    finding.Note({}, Hint(*step.order, expected, before, ring.array_size));
    if (last != nullptr && last->op != step.op) {
      finding.Note(last->op->loc, fmt::format("the {} before it", word));
    }
    finding.Note(ring.loc, fmt::format("`{}` is a ring of {}", ring.name, ring.array_size));
  }

  // A wrong counter makes every order wrong that is taken from it: it is reported once a path.
  bool FirstOfCounter(ir::StorageId event, ir::ExprId order) {
    if (!in_.reported.events.insert({role_, event.value}).second) return false;
    std::set<uint32_t> counters;
    ir::ForEachSubExpr(in_.kernel, order, [&](ir::ExprId e) {
      const auto* ref = std::get_if<ir::VarRef>(&in_.kernel.exprs[e].node);
      if (ref != nullptr) counters.insert(ref->var.value);
    });
    bool first = true;
    for (const uint32_t counter : counters) {
      first = in_.reported.counters.insert({role_, counter}).second && first;
    }
    return first;
  }

  static std::string Hint(int64_t order, int64_t expected, std::optional<int64_t> before,
                          int64_t slots) {
    if (expected == 0) return "the first order of a path is 0";
    const bool again = order == 0 && expected > 1;
    if (before == order && !again) return "it has not advanced since the operation before";
    if (order == 0) {
      return "it starts again at 0: a counter that paces a ring lives as long as the ring";
    }
    if (order == expected % slots) {
      return fmt::format("modulo {} the generation is lost; modulo {} is allowed", slots,
                         2 * slots);
    }
    if (before && order - *before > 1) return "it advances by more than 1 from one to the next";
    return "it advances by 1 with each of them";
  }

  const CheckInputs& in_;
  const std::string& role_;
  Trace& trace_;
  std::map<ir::StorageId, Ledger> waits_, triggers_;
};

}  // namespace

void CheckOrders(const CheckInputs& in, size_t agent, Trace& trace) {
  Orders(in, agent, trace).Run();
}

void CheckSlots(const CheckInputs& in, size_t agent, const Trace& trace) {
  for (const Step& step : trace.steps) {
    for (const TileUse& use : step.tiles) {
      const ir::Storage& tile = in.kernel.storages[use.storage];
      const auto slots = static_cast<int32_t>(in.agents.SlotsOf(use.storage));
      if (!use.slot || (*use.slot >= 0 && *use.slot < slots)) continue;
      in.findings.Add(diag::kinds::TileSlotOutside, use.loc, *use.slot, tile.name, slots,
                      in.agents.all()[agent].name);
    }
  }
}

}  // namespace choreo::passes
