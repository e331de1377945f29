// `call` of functions of the host text, and the raw named barriers.
#include <algorithm>
#include <set>

#include "ir/walk.h"
#include "lex/device_functions.h"
#include "lower/context.h"
#include "support/edit_distance.h"

namespace choreo::lower {
namespace {

std::string_view LastName(std::string_view name) {
  const size_t colon = name.rfind(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

bool Takes(const lex::HostFunction& function, size_t count) {
  const auto args = static_cast<int>(count);
  return args >= function.least_args && (function.most_args < 0 || args <= function.most_args);
}

}  // namespace

const std::vector<lex::HostFunction>& Lowering::HostFunctions() {
  if (!host_functions_) host_functions_ = lex::FindHostFunctions(in_.sources, in_.unit);
  return *host_functions_;
}

// Whether argument `i` of every function that may be meant is a pointer to const.
bool Lowering::OnlyReads(const ast::CallStmt& node, size_t i) {
  bool known = false;
  for (const lex::HostFunction& function : HostFunctions()) {
    if (function.name != LastName(node.callee.text) || !Takes(function, node.args.size())) continue;
    known = true;
    if (i >= function.to_const.size() || !function.to_const[i]) return false;
  }
  return known;
}

void Lowering::CallFunction(SourceRange range, const ast::CallStmt& node) {
  ir::OpaqueCall op;
  op.callee = node.callee.text;
  for (size_t i = 0; i < node.args.size(); ++i) {
    const ast::ExprId arg = node.args[i];
    switch (T(arg).kind) {
      case sema::TypeKind::Fragment:
        op.kinds += 'f';
        op.frags.push_back(Fragment(arg));
        break;
      case sema::TypeKind::View:
      case sema::TypeKind::DataFuture: {
        // The address of a tile is that of its first element.
        ir::View first = ViewOf(arg);
        first.axes.clear();
        op.kinds += OnlyReads(node, i) ? 'c' : 'p';
        op.values.push_back(build_.ViewElem(AddView(std::move(first))));
        break;
      }
      default:
        op.kinds += 'v';
        op.values.push_back(Scalar(arg));
    }
  }
  Emit(std::move(op));
  calls_.push_back({range, node.callee, node.args.size()});
}

// What the function must be is known when the whole kernel is: one with MMAs takes inlined ones
// alone.
void Lowering::CheckCalls() {
  if (calls_.empty()) return;
  bool has_mma = false;
  ir::ForEachOp(kernel_.body,
                [&](const ir::Op& op) { has_mma |= std::holds_alternative<ir::Mma>(op.node); });
  for (const FunctionCall& call : calls_) CheckCall(call, has_mma);
}

void Lowering::CheckCall(const FunctionCall& call, bool has_mma) {
  const std::vector<lex::HostFunction>& functions = HostFunctions();
  const std::string& name = call.callee.text;
  std::vector<const lex::HostFunction*> named;
  for (const lex::HostFunction& function : functions) {
    if (function.name == LastName(name)) named.push_back(&function);
  }
  const auto fail = [&](std::string_view why) {
    return in_.diags.Emit(diag::kinds::CalledFunction, call.callee.range, name, why);
  };
  if (named.empty()) {
    if (has_mma) {
      fail("its declaration must stand in this file, for the kernel has MMAs");
    } else if (!name.starts_with("__") && !lex::IncludesOtherHeaders(in_.sources, in_.unit)) {
      diag::Builder builder = fail("this file declares no such function");
      std::vector<std::string_view> candidates;
      for (const lex::HostFunction& f : functions) {
        if (f.device) candidates.push_back(f.name);
      }
      const std::vector<std::string_view> close = ClosestNames(name, candidates, 1);
      if (!close.empty()) builder.Hint(call.callee.range, std::string(close[0]));
    }
    return;
  }
  const uint32_t here =
      in_.unit.functions[in_.file.functions[function_].unit_index].text.begin.offset;
  const auto drop = [&](const auto& unfit, std::string_view why) {
    const lex::HostFunction& first = *named.front();
    std::erase_if(named, unfit);
    if (named.empty()) fail(why).Note(first.range, "it is declared here");
    return named.empty();
  };
  if (drop([](const lex::HostFunction* f) { return !f->device; },
           "it is no `__device__` function")) {
    return;
  }
  const auto later = [&](const lex::HostFunction* f) {
    return f->range.begin.file == in_.unit.file && f->range.begin.offset >= here;
  };
  if (drop(later, "it is declared only after this tile function")) return;
  const lex::HostFunction& known = *named.front();
  if (std::none_of(named.begin(), named.end(),
                   [&](const auto* f) { return Takes(*f, call.args); })) {
    const int wanted =
        static_cast<int>(call.args) < known.least_args ? known.least_args : known.most_args;
    in_.diags
        .Emit(diag::kinds::ArgumentCount, call.range, name, static_cast<size_t>(wanted), call.args)
        .Note(known.range, "it is declared here");
    return;
  }
  if (!has_mma ||
      std::any_of(named.begin(), named.end(), [](const auto* f) { return f->force_inline; })) {
    return;
  }
  diag::Builder builder = in_.diags.Emit(diag::kinds::CallNotInlined, call.callee.range, name);
  builder.Note(known.range, "it is declared here");
  if (known.device_word.valid()) {
    builder.Fix(
        SourceRange({known.device_word.begin.file, known.device_word.end}, known.device_word.end),
        " __forceinline__");
  }
}

// `__bar_sync(id, threads)`, `__bar_arrive(id, threads)`
void Lowering::RawBarrier(const ast::Call& call) {
  const auto id = in_.sema.constants[call.args[0]];
  const auto threads = in_.sema.constants[call.args[1]];
  CHOREO_CHECK(id.has_value() && threads.has_value());
  const ir::ExprId number = build_.Int(*id);
  const auto count = static_cast<int32_t>(*threads);
  if (call.callee.text == "__bar_sync") {
    Emit(ir::NamedBarrierSync{number, count});
  } else {
    Emit(ir::NamedBarrierArrive{number, count});
  }
}

}  // namespace choreo::lower
