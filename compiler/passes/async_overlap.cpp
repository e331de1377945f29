// Waits that serialise: an MMA is retired before work that could have run beside it. Not where
// others multiply meanwhile: behind its MMAs the path gave the turn to somebody who issues MMAs
// too.
#include <algorithm>
#include <set>
#include <vector>

#include "ir/walk.h"
#include "passes/async_checks.h"

namespace choreo::passes {
namespace {

class Overlaps {
 public:
  Overlaps(const CheckInputs& in, size_t agent, const Trace& trace)
      : in_(in), role_(in.agents.all()[agent].name), trace_(trace) {
    for (const Agent& other : in.agents.all()) {
      if (other.role != nullptr) FindTurns(*other.role);
    }
  }

  void Run() {
    for (size_t i = 0; i < trace_.steps.size(); ++i) {
      const Step& step = trace_.steps[i];
      if (step.kind == StepKind::Mma) {
        Issue(static_cast<int>(i), std::get<ir::Mma>(step.op->node));
      } else if (step.kind == StepKind::FutureWait) {
        for (const int issue : step.issues) Retire(issue, step);
      } else if (step.kind == StepKind::EventTrigger) {
        if (turns_.contains(std::get<ir::EventTrigger>(step.op->node).event)) PassTurn();
      } else if (step.frags != nullptr) {
        Work(step);
      }
    }
  }

 private:
  struct Flight {
    int step = 0;
    const ir::Mma* mma = nullptr;
    bool beside = false;         // another one was in flight at the same time
    bool turn_passed = false;    // others issue MMAs since
    const Step* wait = nullptr;  // that retired it; null: in flight
    int asked = -1;              // the MMA that this wait names
  };

  void Issue(int step, const ir::Mma& mma) {
    Touch(mma.acc);
    if (mma.a_frag) Touch(mma.a_frag);
    // Only what a program keeps apart can run beside something else.
    const bool apart = mma.future.valid();
    bool beside = false;
    for (Flight& other : flights_) {
      if (other.wait != nullptr || other.mma->acc == mma.acc) continue;
      other.beside = beside = true;
    }
    if (apart) flights_.push_back({step, &mma, beside, false, nullptr, -1});
  }

  // Events that roles which multiply wait for.
  void FindTurns(const ir::Op& role) {
    std::set<ir::StorageId> waited;
    bool multiplies = false;
    ir::VisitRegions(role, [&](const ir::Region& body) {
      ir::ForEachOp(body, [&](const ir::Op& op) {
        multiplies |= std::holds_alternative<ir::Mma>(op.node);
        if (const auto* wait = std::get_if<ir::EventWait>(&op.node)) waited.insert(wait->event);
      });
    });
    if (multiplies) turns_.merge(waited);
  }

  void PassTurn() {
    for (Flight& flight : flights_) flight.turn_passed |= flight.wait == nullptr;
  }

  // The tensor core works in order: what was issued before is retired too.
  void Retire(int issue, const Step& wait) {
    if (trace_.steps[static_cast<size_t>(issue)].kind != StepKind::Mma) return;
    for (Flight& flight : flights_) {
      if (flight.wait != nullptr || flight.step > issue) continue;
      flight.wait = &wait;
      flight.asked = issue;
    }
  }

  void Touch(ir::StorageId frag) {
    std::erase_if(flights_, [&](const Flight& flight) {
      return flight.wait != nullptr && (flight.mma->acc == frag || flight.mma->a_frag == frag);
    });
  }

  void Work(const Step& step) {
    const bool in_flight = std::any_of(flights_.begin(), flights_.end(),
                                       [](const Flight& f) { return f.wait == nullptr; });
    const bool heavy = std::holds_alternative<ir::Apply>(step.op->node) ||
                       std::holds_alternative<ir::FragReduce>(step.op->node);
    const auto uses = [&](ir::StorageId frag) {
      return frag && std::any_of(step.frags->begin(), step.frags->end(),
                                 [&](const FragUse& use) { return use.frag == frag; });
    };
    if (heavy && !in_flight) {
      for (const Flight& needed : flights_) {
        if (uses(needed.mma->acc)) Idle(step, needed, uses);
      }
    }
    for (const FragUse& use : *step.frags) Touch(use.frag);
  }

  template <class Uses>
  void Idle(const Step& step, const Flight& needed, const Uses& uses) {
    for (const Flight& other : flights_) {
      if (other.step == needed.step || !other.beside || !needed.beside) continue;
      if (other.turn_passed || uses(other.mma->acc) || uses(other.mma->a_frag)) continue;
      // A steady loop only: both were issued before.
      const auto steady = [&](const Flight& flight) {
        return trace_.steps[static_cast<size_t>(flight.step)].occurrence > 0;
      };
      if (!steady(other) || !steady(needed)) continue;
      const std::string& name = in_.kernel.vars[other.mma->future].name;
      Finding& finding =
          in_.findings.Add(diag::kinds::WaitSerialises, other.wait->op->loc, name, role_);
      finding.Note(step.op->loc,
                   fmt::format("this work does not need `{}`, and runs with no MMA in "
                               "flight",
                               name));
      if (other.asked != other.step) {
        finding.Note(trace_.steps[static_cast<size_t>(other.step)].op->loc,
                     "it was issued before the MMA that is waited for, so it is retired too");
      }
    }
  }

  const CheckInputs& in_;
  const std::string& role_;
  const Trace& trace_;
  std::set<ir::StorageId> turns_;
  std::vector<Flight> flights_;  // in flight, or retired and not touched since
};

}  // namespace

void CheckOverlap(const CheckInputs& in, size_t agent, const Trace& trace) {
  Overlaps(in, agent, trace).Run();
}

}  // namespace choreo::passes
