// The plan of register reallocation: what the warpgroups ask for against what the launch gives
// them.
#include <algorithm>
#include <string>
#include <vector>

#include "ir/walk.h"
#include "passes/async_checks.h"

namespace choreo::passes {
namespace {

constexpr int kLeastCount = 24, kMostCount = 256;  // PTX ISA, setmaxnreg

struct Request {
  const ir::SetMaxNReg* op = nullptr;
  ir::Loc loc;
};

class Plan {
 public:
  Plan(const ir::Kernel& kernel, Findings& findings)
      : kernel_(kernel), findings_(findings), scope_(kernel, kernel.host.threads) {
    const ir::HostPart& host = kernel.host;
    entry_ = kRegistersPerSm / host.threads / std::max(host.min_blocks, 1);
    entry_ = std::min(entry_, host.max_registers != 0 ? host.max_registers : kRegistersPerThread);
    entry_ = entry_ / kRegisterGranule * kRegisterGranule;
    requests_.resize(static_cast<size_t>((host.threads + kWarpgroupSize - 1) / kWarpgroupSize));
  }

  void Run() {
    Visit(kernel_.body);
    const bool any = std::any_of(requests_.begin(), requests_.end(),
                                 [](const Request& r) { return r.op != nullptr; });
    if (any && !findings_.has_errors()) Sum();
  }

 private:
  void Visit(const ir::Region& region) {
    for (const ir::Op& op : region.ops) {
      if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
        scope_.Enter(*parallel);
        Visit(parallel->body);
        scope_.Leave();
      } else if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) {
        scope_.Enter(*narrowed);
        Visit(narrowed->body);
        scope_.Leave();
      } else if (const auto* set = std::get_if<ir::SetMaxNReg>(&op.node)) {
        Note(*set, op.loc);
      } else {
        if (const auto* let = std::get_if<ir::Let>(&op.node)) scope_.Note(*let);
        ir::VisitRegions(op, [&](const ir::Region& inner) { Visit(inner); });
      }
    }
  }

  void Note(const ir::SetMaxNReg& set, ir::Loc loc) {
    const int count = set.count;
    if (set.increase ? count < entry_ : count > entry_) {
      findings_.Add(diag::kinds::RegisterStepWrong, loc, set.increase ? "setreg_inc" : "setreg_dec",
                    count, set.increase ? "below" : "above", entry_,
                    set.increase ? "setreg_dec" : "setreg_inc");
      return;
    }
    for (size_t w = 0; w < requests_.size(); ++w) {
      const ThreadSet own = ThreadRange(static_cast<int>(w) * kWarpgroupSize, kWarpgroupSize);
      if ((scope_.current().active & own).none()) continue;
      Request& request = requests_[w];
      if (request.op != nullptr && request.op->count != count) {
        findings_.Add(diag::kinds::RegisterCountsDiffer, loc, count, request.op->count)
            .Note(request.loc, "the other request of the warpgroup");
        continue;
      }
      if (request.op == nullptr) request = {&set, loc};
    }
  }

  int CountOf(const Request& request) const {
    return request.op != nullptr ? request.op->count : entry_;
  }

  // `40 + 2·232`: the warpgroups' counts, equal neighbours together.
  static std::string Text(const std::vector<int>& counts) {
    std::string text;
    for (size_t i = 0; i < counts.size();) {
      size_t end = i;
      while (end < counts.size() && counts[end] == counts[i]) ++end;
      if (!text.empty()) text += " + ";
      if (end - i > 1) text += fmt::format("{}·", end - i);
      text += std::to_string(counts[i]);
      i = end;
    }
    return text;
  }

  // Counts that use up what there is: increases share what the others leave, and the first that
  // gives registers away keeps the rest. Empty: there is no such plan.
  std::vector<int> Fitting() const {
    int left = entry_ * static_cast<int>(requests_.size());
    int raised = 0;
    for (const Request& request : requests_) {
      if (request.op != nullptr && request.op->increase) {
        ++raised;
      } else {
        left -= CountOf(request);
      }
    }
    if (raised == 0) return {};
    const int each = std::min(left / raised / kRegisterGranule * kRegisterGranule, kMostCount);
    int rest = left - raised * each;
    if (each < std::max(entry_, kLeastCount)) return {};
    std::vector<int> counts;
    for (const Request& request : requests_) {
      const bool raises = request.op != nullptr && request.op->increase;
      int count = raises ? each : CountOf(request);
      if (!raises && request.op != nullptr) {
        const int more = std::min(rest, entry_ - count);
        count += more;
        rest -= more;
      }
      counts.push_back(count);
    }
    return counts;
  }

  void Sum() {
    std::vector<int> counts;
    int sum = 0;
    const Request* place = nullptr;  // the largest increase, or the first request
    for (const Request& request : requests_) {
      counts.push_back(CountOf(request));
      sum += counts.back();
      if (request.op == nullptr) continue;
      const bool better = place == nullptr || (request.op->increase && !place->op->increase) ||
                          (request.op->increase && request.op->count > place->op->count);
      if (better) place = &request;
    }
    const int groups = static_cast<int>(requests_.size());
    const int given = entry_ * groups;
    const std::vector<int> fit = Fitting();
    const std::string fitting =
        fit.empty() || fit == counts ? std::string() : fmt::format("`{}` fits exactly", Text(fit));
    if (sum > given) {
      Finding& finding = findings_.Add(diag::kinds::RegisterPlanTooLarge, place->loc, Text(counts),
                                       sum, groups, entry_, given);
      if (!fitting.empty()) finding.Note({}, fitting);
    } else if (sum < given) {
      Finding& finding = findings_.Add(diag::kinds::RegistersUnused, place->loc, Text(counts), sum,
                                       groups, entry_, given, given - sum);
      if (!fitting.empty()) finding.Note({}, fitting);
    }
  }

  const ir::Kernel& kernel_;
  Findings& findings_;
  ScopeTracker scope_;
  int entry_ = 0;                  // registers a thread that the launch gives
  std::vector<Request> requests_;  // of each warpgroup
};

}  // namespace

void CheckRegisters(const ir::Kernel& kernel, Findings& findings) { Plan(kernel, findings).Run(); }

}  // namespace choreo::passes
