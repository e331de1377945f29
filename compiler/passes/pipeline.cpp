#include "passes/pipeline.h"

#include <array>

#include "ir/verifier.h"

namespace choreo::passes {
namespace {

struct Entry {
  PassInfo info;
  ir::Kernel (*run)(ir::Kernel, PassContext&);
};

constexpr std::array kPasses = {
#define CHOREO_PASS(Function, name, summary) Entry{{name, summary}, Function},
#include "passes/passes.def"
};

constexpr auto kInfos = [] {
  std::array<PassInfo, kPasses.size()> infos{};
  for (size_t i = 0; i < kPasses.size(); ++i) infos[i] = kPasses[i].info;
  return infos;
}();

void CheckVerified(const ir::Module& module, std::string_view after) {
  const std::vector<std::string> faults = ir::Verify(module);
  CHOREO_CHECK(faults.empty(), "IR is not valid after {}: {}", after, faults[0]);
}

}  // namespace

SourceRange PassContext::Where(ir::Loc loc) const {
  if (!file.valid() || loc.line == 0 || loc.line > sources.LineCount(file)) return {};
  return SourceRange(sources.LocAt(file, loc.line, loc.column));
}

std::span<const PassInfo> Pipeline() { return kInfos; }

ir::Module RunPipeline(ir::Module module, PassContext& context, const PipelineOptions& options) {
  CheckVerified(module, "lowering to IR");
  for (const Entry& pass : kPasses) {
    const auto start = std::chrono::steady_clock::now();
    module.state = ir::State::Lowering;
    for (ir::Kernel& kernel : module.kernels) kernel = pass.run(std::move(kernel), context);
    if (context.diags.has_errors()) return module;
    if (&pass == &kPasses.back()) module.state = ir::State::Lowered;
    CheckVerified(module, pass.info.name);
    if (options.after_pass) {
      options.after_pass(pass.info, module, std::chrono::steady_clock::now() - start);
    }
    if (pass.info.name == options.stop_after) break;
  }
  return module;
}

}  // namespace choreo::passes
