// analyze-async: futures, events and the tiles they guard, before anything is lowered. The kernel
// is not changed; mistakes are errors. See docs/en/internals/passes/analyze-async.md for the rules.
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "ir/walk.h"
#include "passes/async_checks.h"
#include "passes/async_replay.h"

namespace choreo::passes {
namespace {

constexpr size_t kMostAgents = 64;
constexpr int kMostRounds = 6;
constexpr size_t kMostSteps = 40000;  // of all traces together

struct Features {
  bool async = false;   // futures, events or roles
  bool opaque = false;  // text, or barriers of the source, that the replay does not follow
};

Features FeaturesOf(const ir::Kernel& kernel) {
  Features features;
  for (const ir::Storage& storage : kernel.storages) {
    features.async = features.async || storage.kind == ir::StorageKind::Event;
  }
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    const auto* mma = std::get_if<ir::Mma>(&op.node);
    features.async = features.async || (mma != nullptr && mma->future) ||
                     std::holds_alternative<ir::TmaLoad>(op.node) ||
                     std::holds_alternative<ir::TmaStore>(op.node) ||
                     std::holds_alternative<ir::CopyAsync>(op.node);
    features.opaque = features.opaque || std::holds_alternative<ir::RawCpp>(op.node) ||
                      std::holds_alternative<ir::NamedBarrierSync>(op.node) ||
                      std::holds_alternative<ir::NamedBarrierArrive>(op.node);
  });
  return features;
}

// How often each event is waited for or triggered, by the agent that does so most.
using Turns = std::map<ir::StorageId, int>;

Turns TurnsOf(const std::vector<Trace>& traces) {
  Turns most;
  for (const Trace& trace : traces) {
    std::unordered_map<const ir::Op*, int> times;
    for (const Step& step : trace.steps) {
      const auto* wait = std::get_if<ir::EventWait>(&step.op->node);
      const auto* trigger = std::get_if<ir::EventTrigger>(&step.op->node);
      if (wait == nullptr && trigger == nullptr) continue;
      int& turns = most[wait != nullptr ? wait->event : trigger->event];
      turns = std::max(turns, ++times[step.op]);
    }
  }
  return most;
}

// Whether all events whose turns grow with the launch come to two turns of their rings, and beyond.
bool AllTurn(const ir::Kernel& kernel, const Turns& shorter, const Turns& turns) {
  return std::all_of(turns.begin(), turns.end(), [&](const auto& entry) {
    const auto& [event, times] = entry;
    const auto before = shorter.find(event);
    const bool grows = before == shorter.end() || before->second != times;
    return !grows || times >= 2 * std::max(kernel.storages[event].array_size, 1) + 3;
  });
}

class Analysis {
 public:
  Analysis(const ir::Kernel& kernel, const Agents& agents, Findings& findings,
           Obligations& obligations, bool opaque)
      : in_{kernel, agents, findings, skipped_, obligations, reported_},
        elements_(kernel),
        builder_(kernel, agents, elements_),
        opaque_(opaque),
        hands_over_(HandsOver(kernel)) {}

  void Run() {
    Judge();
    if (skipped_.empty()) return;
    // Behind a wait that was left out the replay shows what it left open; other findings follow.
    const bool open = std::any_of(
        in_.findings.all().begin(), in_.findings.all().end(),
        [](const Finding& finding) { return finding.kind == diag::DiagKind::ReadBeforeFilled; });
    if (open) {
      in_.findings.KeepOnly(diag::DiagKind::ReadBeforeFilled);
    } else {
      in_.findings.DropErrors();
      for (const Finding& finding : skipped_.all()) in_.findings.Take(finding);
    }
  }

 private:
  void Judge() {
    const std::vector<Launch> launches = SampleLaunches(in_.kernel, elements_);
    std::vector<std::vector<Trace>> runs;
    size_t steps = 0;
    int turned = 0;
    Turns turns;
    for (const Launch& launch : launches) {
      if (steps > kMostSteps) break;
      // Shares grow with the product of the extents; beyond two launches in which all rings turn
      // there is nothing new.
      if (launch.long_shares && !launch.first && turned == 2) break;
      runs.push_back(TracesOf(launch));
      for (const Trace& trace : runs.back()) steps += trace.steps.size();
      if (launch.long_shares && launch.first) {
        Turns shorter = std::exchange(turns, TurnsOf(runs.back()));
        turned += AllTurn(in_.kernel, shorter, turns) ? 1 : 0;
      }
    }
    // The longest first: there every loop turns, and what is wrong is met where it is written.
    for (size_t i = runs.size(); i-- > 0;) CheckTraces(runs[i]);
    if (in_.findings.has_errors()) {
      skipped_ = {};
      return;
    }
    if (opaque_) {
      for (const std::vector<Trace>& traces : runs) LeaveTiles(traces);
      return;
    }
    // What does not end must not end in the two longest of the first CTA, whose trip counts are
    // one apart.
    std::array<std::vector<Findings>, 2> endings;
    Blamed blamed;
    for (size_t i = runs.size(); i-- > 0;) {
      const bool guessed = std::any_of(runs[i].begin(), runs[i].end(),
                                       [](const Trace& t) { return t.guessed || !t.whole; });
      if (guessed) {
        if (!launches[i].long_shares) LeaveTiles(runs[i]);
        continue;
      }
      Replay replay(in_, runs[i], blamed);
      replay.Run();
      if (launches[i].first) endings[launches[i].long_shares].push_back(replay.endings());
    }
    if (in_.findings.has_errors() || !skipped_.empty()) return;
    for (const std::vector<Findings>& longest : endings) {
      if (longest.size() < 2 || in_.findings.has_errors()) continue;
      for (const Finding& finding : longest[0].all()) {
        if (longest[1].Contains(finding)) in_.findings.Take(finding);
      }
    }
  }

  // Values that traces hand to each other are known a round later.
  std::vector<Trace> TracesOf(const Launch& launch) {
    HandOvers told;
    for (int round = 0;; ++round) {
      std::vector<Trace> traces;
      HandOvers tells;
      for (size_t agent = 0; agent < in_.agents.all().size(); ++agent) {
        traces.push_back(builder_.Build(agent, launch, told, tells));
      }
      if (!hands_over_ || tells == told || round == kMostRounds) return traces;
      told = std::move(tells);
    }
  }

  void CheckTraces(std::vector<Trace>& traces) {
    for (size_t agent = 0; agent < traces.size(); ++agent) {
      const size_t before = in_.findings.all().size();
      CheckFutures(in_, agent, traces[agent]);
      // A future that is wrong often comes of a line that is missing, and the counter's step with
      // it.
      Findings dropped;
      const bool clean = before == in_.findings.all().size();
      const CheckInputs orders{
          in_.kernel,      in_.agents,  clean ? in_.findings : dropped, clean ? skipped_ : dropped,
          in_.obligations, in_.reported};
      CheckOrders(orders, agent, traces[agent]);
      CheckOverlap(in_, agent, traces[agent]);
      CheckSlots(in_, agent, traces[agent]);
    }
  }

  // Nothing is known of how these traces meet.
  void LeaveTiles(const std::vector<Trace>& traces) {
    for (const Trace& trace : traces) {
      for (const Step& step : trace.steps) {
        for (const TileUse& use : step.tiles) {
          using Rule = Obligations::Rule;
          in_.obligations.Left(*step.op, use.write ? Rule::Released : Rule::Filled);
        }
      }
    }
  }

  Findings skipped_;
  Reported reported_;
  CheckInputs in_;
  ReadElements elements_;
  TraceBuilder builder_;
  bool opaque_, hands_over_;
};

// Rings that no CTA can hold are another pass's error, and too many slots to follow.
bool FitsSharedMemory(const ir::Kernel& kernel) {
  constexpr int64_t kEventBytes = 8;
  int64_t bytes = 0;
  for (const ir::Storage& storage : kernel.storages) {
    if (storage.kind != ir::StorageKind::Shared && storage.kind != ir::StorageKind::Event) continue;
    int64_t size = storage.kind == ir::StorageKind::Event ? kEventBytes : Bytes(storage.elem);
    for (const ir::ExprId dim : storage.dims) {
      size = std::min(size, kSharedLimit) * ir::AsInt(kernel, dim).value_or(1);
    }
    bytes += std::min(size, kSharedLimit) * std::max(storage.array_size, 1);
    if (bytes > kSharedLimit) return false;
  }
  return true;
}

}  // namespace

ir::Kernel AnalyzeAsync(ir::Kernel kernel, PassContext& context) {
  const Features features = FeaturesOf(kernel);
  Findings findings;
  CheckRegisters(kernel, findings);
  if (features.async && FitsSharedMemory(kernel)) {
    const Agents agents(kernel, context);
    if (agents.all().size() <= kMostAgents) {
      Obligations obligations;
      Analysis(kernel, agents, findings, obligations, features.opaque).Run();
      context.obligations.proved += obligations.proved();
      context.obligations.left += obligations.left();
    }
  }
  findings.Emit(context);
  return kernel;
}

}  // namespace choreo::passes
