#include "sim/timeline.h"

#include <algorithm>

#include "sim/cta.h"

namespace choreo::sim {
namespace {

constexpr uint32_t kPartitions = 4;

uint64_t IssueCost(const FlatOp& op) {
  switch (op.code) {
    case Code::MemStore:
    case Code::Atomic:
    case Code::StoreVec:
    case Code::CopyVec:
    case Code::CpAsync:
      return Cycles::kSharedAccess;
    case Code::StMatrix:
    case Code::LdMatrix:
      return Cycles::kMatrix;
    case Code::FragPack:
      return Cycles::kFloat;
    default:
      return op.code >= Code::RoleBegin && op.code <= Code::SetMaxNReg ? Cycles::kIssue : 0;
  }
}

}  // namespace

Timeline::Timeline(const ir::Module& module, Cta& cta, Trace& trace)
    : module_(module), cta_(cta), trace_(trace), stretches_(cta.warps.size()) {
  const Program& program = cta.program();
  for (const FlatOp& op : program.ops) {
    OpCost& cost = costs_.emplace_back();
    cost.issue = static_cast<uint32_t>(IssueCost(op));
    for (uint32_t i = op.eval_begin; i < op.eval_end; ++i) {
      switch (program.instrs[i].pipe) {
        case Pipe::None:
          break;
        case Pipe::Float:
          cost.issue += Cycles::kFloat;
          break;
        case Pipe::Special:
          cost.special += Cycles::kSpecial;
          break;
        case Pipe::Shuffle:
          cost.issue += Cycles::kShuffle;
          break;
        case Pipe::SharedLoad:
          cost.issue += Cycles::kSharedAccess;
          break;
        case Pipe::GlobalLoad:
          cost.issue += Cycles::kGlobalAccess;
          cost.latency = Cycles::kGlobalLatency;
          break;
      }
    }
    if (op.code == Code::Atomic && op.slot[2] != kNoSlot) cost.latency = Cycles::kGlobalLatency;
  }
  trace_ = {};
  trace_.kernel = cta.launch->kernel->name;
  trace_.source_name = module.source_name;
  trace_.cta = cta.id;
}

uint32_t Timeline::NewTrack(std::string name) {
  trace_.tracks.push_back(std::move(name));
  return static_cast<uint32_t>(trace_.tracks.size() - 1);
}

uint32_t Timeline::EngineTrack(const std::string& name) {
  const auto at = engine_tracks_.find(name);
  return at != engine_tracks_.end() ? at->second : engine_tracks_[name] = NewTrack(name);
}

const Timeline::Track* Timeline::TrackOf(const Warp& w) {
  const uint32_t group = w.index / kWarpsPerGroup;
  const std::pair<uint32_t, const void*> key{group, w.role};
  auto at = tracks_.find(key);
  if (at == tracks_.end()) {
    std::string name = fmt::format("warpgroup {}", group);
    if (w.role != nullptr) name = fmt::format("{}, {}", w.role->name, name);
    at = tracks_.emplace(key, Track{NewTrack(std::move(name)), w.index}).first;
  }
  return at->second.owner == w.index ? &at->second : nullptr;
}

std::string Timeline::LineText(uint32_t line) const {
  constexpr size_t kLongest = 60;
  const auto at = std::find_if(module_.lines.begin(), module_.lines.end(),
                               [line](const ir::SourceLine& s) { return s.line == line; });
  if (at == module_.lines.end()) return fmt::format("line {}", line);
  const size_t first = at->text.find_first_not_of(" \t");
  return first == std::string::npos ? std::string() : at->text.substr(first, kLongest);
}

void Timeline::Add(uint32_t track, SpanKind kind, std::string name, uint32_t line, uint64_t start,
                   uint64_t end) {
  if (end <= start) return;
  trace_.spans.push_back({track, kind, std::move(name), line, start, end});
}

void Timeline::Close(Warp& w) {
  Stretch& stretch = stretches_[w.index];
  if (stretch.line != 0) {
    if (const Track* track = TrackOf(w)) {
      Add(track->index, SpanKind::Compute, LineText(stretch.line), stretch.line, stretch.start,
          w.time);
    }
  }
  stretch = {};
}

void Timeline::Charge(Warp& w, const FlatOp& op) {
  const OpCost& cost = costs_[w.pc];
  if (cost.issue == 0 && cost.special == 0) return;
  Stretch& stretch = stretches_[w.index];
  if (stretch.line != op.loc.line) {
    Close(w);
    stretch = {op.loc.line, w.time};
  }
  const uint32_t part = w.index % kPartitions;
  w.time = std::max(w.time, issue_free_[part]) + cost.issue;
  issue_free_[part] = w.time;
  if (cost.special != 0) {
    // The pipe takes what it gets; a warp waits when it is full.
    special_free_[part] = std::max(special_free_[part], w.time) + cost.special;
    w.time = special_free_[part];
  }
  w.time += cost.latency;
}

void Timeline::Wait(Warp& w, uint64_t until, const std::string& what) {
  if (until <= w.time) return;
  Close(w);
  if (const Track* track = TrackOf(w)) {
    Add(track->index, SpanKind::Wait, what, cta_.Loc(w).line, w.time, until);
  }
  w.time = until;
}

uint64_t Timeline::Mma(uint32_t group, const ir::Wgmma& node, const ir::Loc& loc) {
  uint64_t issued = 0;
  for (uint32_t part = 0; part < kWarpsPerGroup; ++part) {
    issued = std::max(issued, cta_.warps[group * kWarpsPerGroup + part].time);
  }
  for (uint32_t part = 0; part < kWarpsPerGroup; ++part) {
    cta_.warps[group * kWarpsPerGroup + part].time = issued;
  }
  const uint64_t start = std::max(issued, tensor_free_);
  tensor_free_ = start + static_cast<uint64_t>(node.n) / Cycles::kMmaColumnsACycle;
  const uint32_t track = EngineTrack(fmt::format("tensor core, warpgroup {}", group));
  // Slices that follow each other are one MMA of the program.
  const auto last = std::find_if(trace_.spans.rbegin(), trace_.spans.rend(),
                                 [track](const TraceSpan& s) { return s.track == track; });
  const bool follows = last != trace_.spans.rend() && last->line == loc.line &&
                       start <= last->end + Cycles::kMmaLatency;
  if (follows) {
    last->end = tensor_free_;
  } else {
    Add(track, SpanKind::Mma, std::string(cta_.launch->NameOf(node.acc)), loc.line, start,
        tensor_free_);
  }
  return tensor_free_ + Cycles::kMmaLatency;
}

uint64_t Timeline::Copy(const Warp& w, bool load, uint64_t bytes, const std::string& name) {
  uint64_t& free = load ? load_free_ : store_free_;
  const uint64_t start = std::max(w.time, free);
  free = start + bytes / Cycles::kTmaBytesACycle;
  const uint64_t end = free + Cycles::kTmaLatency;
  Add(EngineTrack(load ? "TMA loads" : "TMA stores"), load ? SpanKind::Load : SpanKind::Store, name,
      cta_.Loc(w).line, start, end);
  return end;
}

void Timeline::Exited(Warp& w) {
  Close(w);
  trace_.cycles = std::max(trace_.cycles, w.time);
}

// What a warpgroup did before its only role began belongs to the role.
void Timeline::MergePrologues() {
  std::vector<uint32_t> target(trace_.tracks.size());
  for (uint32_t i = 0; i < target.size(); ++i) target[i] = i;
  for (const auto& [key, track] : tracks_) {
    if (key.second != nullptr) continue;
    const auto in_group = [&](const auto& other) { return other.first.first == key.first; };
    const auto count = std::count_if(tracks_.begin(), tracks_.end(), in_group);
    const auto role = std::find_if(tracks_.begin(), tracks_.end(), [&](const auto& other) {
      return in_group(other) && other.first.second != nullptr;
    });
    if (count == 2) target[track.index] = role->second.index;
  }
  std::vector<std::string> names;
  std::vector<uint32_t> renumbered(target.size());
  for (uint32_t i = 0; i < target.size(); ++i) {
    renumbered[i] = static_cast<uint32_t>(names.size());
    if (target[i] == i) names.push_back(trace_.tracks[i]);
  }
  for (TraceSpan& span : trace_.spans) span.track = renumbered[target[span.track]];
  trace_.tracks = std::move(names);
}

void Timeline::Finish() {
  for (Warp& w : cta_.warps) {
    if (!w.exited) Exited(w);  // blocked for ever
  }
  MergePrologues();
  std::stable_sort(trace_.spans.begin(), trace_.spans.end(),
                   [](const TraceSpan& a, const TraceSpan& b) { return a.start < b.start; });
}

}  // namespace choreo::sim
