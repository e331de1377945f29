// Futures and the fragments of MMAs in flight, along one trace.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "passes/async_checks.h"

namespace choreo::passes {
namespace {

using Rule = Obligations::Rule;

struct Instance {
  int step = 0;
  ir::VarId future;
  enum class State : uint8_t { Pending, Waited, Bound } state = State::Pending;
  ir::Loc completed;      // where it was waited for or bound
  bool reported = false;  // one mistake, one message
};

class Futures {
 public:
  Futures(const CheckInputs& in, size_t agent, Trace& trace)
      : in_(in), role_(in.agents.all()[agent].name), trace_(trace) {}

  void Run() {
    for (size_t i = 0; i < trace_.steps.size(); ++i) {
      Step& step = trace_.steps[i];
      if (step.frags != nullptr) Fragments(step);
      switch (step.kind) {
        case StepKind::Mma:
          Issue(static_cast<int>(i), std::get<ir::Mma>(step.op->node).future);
          break;
        case StepKind::Load:
          Issue(static_cast<int>(i), FutureOfLoad(*step.op));
          break;
        case StepKind::FutureWait:
          for (const ir::VarId future : std::get<ir::FutureWait>(step.op->node).futures) {
            Complete(step, future, Instance::State::Waited);
          }
          break;
        case StepKind::EventTrigger:
          for (const ir::VarId future : std::get<ir::EventTrigger>(step.op->node).futures) {
            Complete(step, future, Instance::State::Bound);
          }
          break;
        case StepKind::FutureMove:
          Move(static_cast<int>(i));
          break;
        default:
          break;
      }
    }
    if (!trace_.whole) return;
    for (const auto& [future, instance] : holds_) NeverCompleted(instance, trace_.steps.size());
  }

 private:
  static ir::VarId FutureOfLoad(const ir::Op& op) {
    if (const auto* load = std::get_if<ir::TmaLoad>(&op.node)) return load->future;
    return std::get<ir::CopyAsync>(op.node).future;
  }

  const Step& IssueOf(const Instance& instance) const {
    return trace_.steps[static_cast<size_t>(instance.step)];
  }
  // One mistake with a tile or an accumulator makes several futures wrong: it is reported once.
  bool First(const Instance& instance) {
    const ir::OpNode& node = IssueOf(instance).op->node;
    ir::StorageId subject;
    if (const auto* mma = std::get_if<ir::Mma>(&node)) {
      subject = mma->acc;
    } else if (const auto* load = std::get_if<ir::TmaLoad>(&node)) {
      subject = in_.kernel.views[load->dst].storage;
    } else {
      subject = in_.kernel.views[std::get<ir::CopyAsync>(node).dst].storage;
    }
    return in_.reported.tiles.insert({role_, subject.value}).second;
  }

  const std::string& Name(ir::VarId future) const { return in_.kernel.vars[future].name; }
  const std::string& Name(ir::StorageId storage) const { return in_.kernel.storages[storage].name; }

  void Issue(int step, ir::VarId future) {
    if (!future) return;
    if (const auto held = holds_.find(future); held != holds_.end()) {
      NeverCompleted(held->second, static_cast<size_t>(step));
    }
    const size_t instance = instances_.size();
    instances_.push_back({step, future, Instance::State::Pending, {}, false});
    holds_[future] = instance;
    if (trace_.steps[static_cast<size_t>(step)].kind == StepKind::Mma)
      in_flight_.push_back(instance);
  }

  void Complete(Step& step, ir::VarId future, Instance::State state) {
    const auto held = holds_.find(future);
    if (held == holds_.end()) {
      in_.findings.Add(diag::kinds::FutureEmpty, step.op->loc, Name(future), role_);
      return;
    }
    Instance& instance = instances_[held->second];
    if (instance.state != Instance::State::Pending) {
      if (!First(instance)) return;
      const auto word = [](Instance::State s) {
        return s == Instance::State::Bound ? "bound" : "waited for";
      };
      in_.findings
          .Add(diag::kinds::FutureCompletedTwice, step.op->loc, Name(future), word(state),
               word(instance.state), role_)
          .Note(instance.completed, "completed here")
          .Note(IssueOf(instance).op->loc, "issued here");
      return;
    }
    instance.state = state;
    instance.completed = step.op->loc;
    step.issues.push_back(instance.step);
    std::erase(in_flight_, held->second);
    in_.obligations.Met(*IssueOf(instance).op, Rule::Future);
  }

  void Move(int index) {
    const auto& move = std::get<ir::FutureMove>(trace_.steps[static_cast<size_t>(index)].op->node);
    if (const auto held = holds_.find(move.dst); held != holds_.end()) {
      NeverCompleted(held->second, static_cast<size_t>(index));
    }
    const auto from = holds_.find(move.src);
    if (from == holds_.end()) {
      in_.findings.Add(diag::kinds::FutureEmpty, trace_.steps[static_cast<size_t>(index)].op->loc,
                       Name(move.src), role_);
      return;
    }
    const size_t instance = from->second;
    holds_.erase(from);
    holds_[move.dst] = instance;
    instances_[instance].future = move.dst;
  }

  // The instance goes out of reach at step `end` without being waited for or bound.
  void NeverCompleted(size_t index, size_t end) {
    Instance& instance = instances_[index];
    if (instance.state != Instance::State::Pending || instance.reported) return;
    instance.reported = true;
    std::erase(in_flight_, index);
    const Step& issue = IssueOf(instance);
    if (!First(instance)) return;
    if (issue.kind == StepKind::Load) {
      // A full event triggered behind the load, and meant to carry it.
      for (size_t i = static_cast<size_t>(instance.step) + 1; i < end; ++i) {
        const auto* trigger = std::get_if<ir::EventTrigger>(&trace_.steps[i].op->node);
        if (trigger == nullptr || !trigger->futures.empty()) continue;
        const ir::Storage& event = in_.kernel.storages[trigger->event];
        if (event.ready) continue;
        Finding& finding =
            in_.findings.Add(diag::kinds::TriggerWithoutLoad, trace_.steps[i].op->loc, event.name,
                             Name(instance.future), role_);
        finding.Note(issue.op->loc, "the load is issued here and is still on its way");
        if (std::holds_alternative<ir::TmaLoad>(issue.op->node)) {
          finding.Note({}, fmt::format("bind it: `trigger … after {};`", Name(instance.future)));
        } else {
          finding.Note({}, fmt::format("wait for it first: `wait {};`", Name(instance.future)));
        }
        return;
      }
    }
    Finding& finding = in_.findings.Add(diag::kinds::FutureNeverWaited, issue.op->loc,
                                        Name(instance.future), role_);
    if (end < trace_.steps.size()) {
      finding.Note(trace_.steps[end].op->loc, "here the future takes another operation");
    }
  }

  // Fragments that the step touches against MMAs in flight.
  void Fragments(const Step& step) {
    const auto* own = std::get_if<ir::Mma>(&step.op->node);
    for (const FragUse& use : *step.frags) {
      bool relevant = false;
      for (const size_t index : in_flight_) {
        Instance& instance = instances_[index];
        const auto& mma = std::get<ir::Mma>(IssueOf(instance).op->node);
        const bool acc = mma.acc == use.frag;
        if (!acc && mma.a_frag != use.frag) continue;
        relevant = true;
        // MMAs on one accumulator chain in order.
        if (instance.reported || (acc && own != nullptr && own->acc == use.frag)) continue;
        if (!acc && !use.write) continue;
        instance.reported = true;
        if (!First(instance)) continue;
        Finding& finding =
            acc ? in_.findings.Add(diag::kinds::AccumulatorInFlight, use.loc, Name(use.frag),
                                   use.write && !Reads(step, use) ? "written" : "read",
                                   Name(instance.future), role_)
                : in_.findings.Add(diag::kinds::OperandInFlight, use.loc, Name(use.frag),
                                   Name(instance.future), role_);
        finding.Note(IssueOf(instance).op->loc, "the MMA is issued here");
      }
      if (relevant) in_.obligations.Met(*step.op, Rule::Fragment);
    }
  }

  static bool Reads(const Step& step, const FragUse& written) {
    return std::any_of(step.frags->begin(), step.frags->end(), [&](const FragUse& use) {
      return !use.write && use.frag == written.frag && use.loc == written.loc;
    });
  }

  const CheckInputs& in_;
  const std::string& role_;
  Trace& trace_;
  std::vector<Instance> instances_;
  std::map<ir::VarId, size_t> holds_;  // the instance of each future variable
  std::vector<size_t> in_flight_;      // MMAs, in issue order
};

}  // namespace

int Obligations::proved() const {
  int count = 0;
  for (const auto& site : met_) count += left_.contains(site) ? 0 : 1;
  return count;
}

void CheckFutures(const CheckInputs& in, size_t agent, Trace& trace) {
  Futures(in, agent, trace).Run();
}

}  // namespace choreo::passes
