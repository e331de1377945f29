// The agents of a CTA: threads with the same warpgroup that enter the same scopes.
#include <algorithm>
#include <map>

#include "ir/printer.h"
#include "ir/walk.h"
#include "passes/async_trace.h"

namespace choreo::passes {
namespace {

// `p > 0` of `inthreads.async (p > 0) {`, as the source spells it; from IR text, as that does.
std::string RoleText(const ir::Kernel& kernel, const PassContext& context, const ir::Op& op) {
  if (context.file.valid() && op.loc.line != 0 &&
      op.loc.line <= context.sources.LineCount(context.file)) {
    const std::string_view line = context.sources.Line(context.file, op.loc.line);
    const size_t word = line.find("inthreads", op.loc.column - 1);
    const size_t open = line.find('(', word);
    int depth = 0;
    for (size_t i = open; word != std::string_view::npos && i < line.size(); ++i) {
      if (line[i] == '(') ++depth;
      if (line[i] == ')' && --depth == 0) return std::string(line.substr(open + 1, i - open - 1));
    }
  }
  std::string text = ir::PrintExpr(kernel, std::get<ir::InThreads>(op.node).predicate);
  std::erase(text, '%');
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

Agents::Agents(const ir::Kernel& kernel, const PassContext& context)
    : kernel_(kernel), dependence_(kernel), scope_(kernel, kernel.host.threads) {
  Visit(kernel.body, nullptr);
  Split(context);
  for (const auto& [tile, elements] : TilesOfSlots(kernel)) element_slots_[tile] = elements;
}

int64_t Agents::SlotsOf(ir::StorageId tile) const {
  const auto elements = element_slots_.find(tile);
  return elements == element_slots_.end() ? kernel_.storages[tile].array_size : elements->second;
}

void Agents::Visit(const ir::Region& region, const ir::Op* role) {
  for (const ir::Op& op : region.ops) {
    const auto enter = [&](const auto& node, const ir::Op* inner) {
      scope_.Enter(node);
      index_[&op] = scopes_.size();
      scopes_.emplace_back(&op, scope_.current().active);
      roles_[&op] = inner;
      if constexpr (requires { node.vars; }) {
        for (const ir::VarId var : node.vars) values_[var] = scope_.Values(var);
      }
      Visit(node.body, inner);
      scope_.Leave();
    };
    if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
      enter(*parallel, role);
    } else if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) {
      enter(*narrowed, narrowed->async ? &op : role);
    } else {
      if (const auto* let = std::get_if<ir::Let>(&op.node)) scope_.Note(*let);
      ir::VisitRegions(op, [&](const ir::Region& inner) { Visit(inner, role); });
    }
  }
}

void Agents::Split(const PassContext& context) {
  std::map<std::pair<int, std::vector<bool>>, ThreadSet> groups;
  for (int t = 0; t < kernel_.host.threads; ++t) {
    std::vector<bool> inside;
    inside.reserve(scopes_.size());
    for (const auto& [op, active] : scopes_) inside.push_back(active.test(static_cast<size_t>(t)));
    groups[{t / kWarpgroupSize, std::move(inside)}].set(static_cast<size_t>(t));
  }
  for (const auto& [key, threads] : groups) {
    Agent agent;
    agent.warpgroup = key.first;
    agent.threads = threads;
    agent.name = "all threads";
    for (size_t i = 0; i < scopes_.size(); ++i) {
      if (key.second[i] && roles_.at(scopes_[i].first) != nullptr) {
        agent.role = roles_.at(scopes_[i].first);
        agent.name = "role `" + RoleText(kernel_, context, *agent.role) + "`";
        break;
      }
    }
    agents_.push_back(std::move(agent));
  }
}

bool Agents::Enters(size_t agent, const ir::Op& op) const {
  return (scopes_[index_.at(&op)].second & agents_[agent].threads).any();
}

std::optional<int64_t> Agents::Value(size_t agent, ir::VarId var) const {
  const std::vector<int>& values = values_.at(var);
  std::optional<int64_t> value;
  for (size_t t = 0; t < values.size(); ++t) {
    if (!agents_[agent].threads.test(t)) continue;
    if (value && *value != values[t]) return std::nullopt;
    value = values[t];
  }
  return value;
}

std::vector<size_t> Agents::Partners(size_t agent, const ThreadSet& scope,
                                     bool own_warpgroup) const {
  std::vector<size_t> partners;
  for (size_t i = 0; i < agents_.size(); ++i) {
    if ((agents_[i].threads & scope).none()) continue;
    if (own_warpgroup && agents_[i].warpgroup != agents_[agent].warpgroup) continue;
    partners.push_back(i);
  }
  return partners;
}

}  // namespace choreo::passes
