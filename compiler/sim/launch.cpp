// The entry of programs built with --target=sim.
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "choreo/host/sim_launch.h"
#include "diag/diag.h"
#include "ir/reader.h"
#include "sim/run.h"
#include "support/source.h"

namespace choreo::sim {
namespace {

// A module read from text with its kernels compiled on demand. Never moves: programs point into it.
struct LoadedModule {
  ir::Module module;
  std::map<std::string, CompiledKernel, std::less<>> kernels;
};

class ModuleCache {
 public:
  // The program of a kernel; stays valid as long as the process.
  const CompiledKernel& Find(const char* text, const char* kernel, const ir::Module*& module) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& loaded = modules_[text];
    if (loaded == nullptr) loaded = Load(text);
    module = &loaded->module;
    const auto it = loaded->kernels.find(kernel);
    if (it != loaded->kernels.end()) return it->second;
    return loaded->kernels.emplace(kernel, Compile(FindKernel(loaded->module, kernel)))
        .first->second;
  }

 private:
  static std::unique_ptr<LoadedModule> Load(const char* text) {
    SourceManager sources;
    diag::Emitter diags;
    const FileId file = sources.Add("<embedded IR>", text);
    std::optional<ir::Module> module = ir::ReadModule(sources, file, diags);
    if (!module.has_value()) {
      const std::string why = diags.diagnostics().empty() ? "" : diags.diagnostics()[0].message;
      throw error(status::internal, "the embedded kernel cannot be read: " + why);
    }
    auto loaded = std::make_unique<LoadedModule>();
    loaded->module = std::move(*module);
    return loaded;
  }

  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<LoadedModule>, std::less<>> modules_;
};

ModuleCache& Cache() {
  static ModuleCache cache;
  return cache;
}

}  // namespace

void LaunchWith(const char* lowered_ir, const char* kernel, const Argument* arguments, int count) {
  const ir::Module* module = nullptr;
  const CompiledKernel& compiled = Cache().Find(lowered_ir, kernel, module);
  const Report report =
      RunCompiled(*module, compiled, {arguments, static_cast<size_t>(count)}, RunOptions{});
  if (!report.findings.empty()) {
    const std::string text = RenderFindings(*module, report.findings);
    std::fputs(text.c_str(), stderr);
    const Finding& first = report.findings[0];
    throw error(status::kernel_fault,
                fmt::format("{}: {} ({}:{}) [{}]", kernel, first.message, module->source_name,
                            first.loc.line, diag::Info(first.kind).name));
  }
  if (!report.failed_assert.empty()) {
    throw error(status::assertion_failed, fmt::format("{}: assertion failed in the kernel: {}",
                                                      kernel, report.failed_assert));
  }
}

}  // namespace choreo::sim
