// A persistent kernel that comes in several shapes, chosen by the sequence length.
// In: the table of shapes, the options, and attend(shape, q, k, v, o, tasks, bins, stream), which
// launches the kernel of that shape. Out: a launcher as persistent.h makes it for one.
// Must hold: lengths in the table ascend, and the last row is for any length.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "options.h"
#include "persistent.h"
#include "report.h"

namespace attention {

inline constexpr int64_t kAnyLength = std::numeric_limits<int64_t>::max();

// Up to `up_to`, a sequence is computed by this shape of the kernel.
struct ShapeRow {
  int64_t up_to;
  int shape;  // as the launcher knows it
  const char* name;
  Tasks tasks;
};

constexpr bool IsShapeTable(std::span<const ShapeRow> rows) {
  if (rows.empty() || rows.back().up_to != kAnyLength) return false;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].up_to <= rows[i - 1].up_to) return false;
  }
  return true;
}

// The row of a length. With `wanted`, of the rows with that name: the first that reaches as far, or
// the last.
constexpr const ShapeRow* ChooseShape(std::span<const ShapeRow> rows, int64_t seq,
                                      std::string_view wanted = {}) {
  const ShapeRow* chosen = nullptr;
  for (const ShapeRow& row : rows) {
    if (!wanted.empty() && row.name != wanted) continue;
    chosen = &row;
    if (seq <= row.up_to) break;
  }
  return chosen;
}

template <class Attend>
class ByLengthAttend {
 public:
  ByLengthAttend(Attend attend, std::span<const ShapeRow> rows, const Options& options)
      : rows_(rows), wanted_(options.shape) {
    CheckWanted();
    // Lists are for the shapes that run: an odd number of CTAs disturbs nobody where no clusters
    // do.
    const auto& defaults = DefaultShapes(choreo::current_device().simulated).seqs;
    for (const int64_t seq : options.seqs.empty() ? defaults : options.seqs) {
      const ShapeRow& row = RowOf(seq);
      const Tasks tasks = internal::TasksWanted(row.tasks);
      launchers_.try_emplace(&row, Launch{attend, row.shape}, tasks,
                             internal::BinsWanted(options, tasks), options.order);
    }
  }

  ScheduleFigures Plan(const Shape& shape, choreo::Stream stream) const {
    const ShapeRow& row = RowOf(shape.seq);
    ScheduleFigures figures = launchers_.at(&row).Plan(shape, stream);
    figures.shape = row.name;
    return figures;
  }

  template <class Queries, class Keys, class Values, class Output>
  void operator()(Queries q, Keys k, Values v, Output o, choreo::Stream stream) const {
    launchers_.at (&RowOf(q.extent[1]))(q, k, v, o, stream);
  }

 private:
  struct Launch {
    template <class... Arguments>
    void operator()(const Arguments&... arguments) const {
      attend(shape, arguments...);
    }
    Attend attend;
    int shape;
  };

  void CheckWanted() const {
    if (wanted_.empty() || ChooseShape(rows_, 0, wanted_) != nullptr) return;
    std::string names;
    for (const ShapeRow& row : rows_) {
      if (ChooseShape(rows_, 0, row.name) != &row) continue;  // named before
      names += (names.empty() ? "" : ", ") + std::string(row.name);
    }
    throw UsageError("option `--shape`: `" + wanted_ + "` is none of " + names);
  }

  const ShapeRow& RowOf(int64_t seq) const { return *ChooseShape(rows_, seq, wanted_); }

  std::span<const ShapeRow> rows_;
  std::string wanted_;
  std::map<const ShapeRow*, PersistentAttend<Launch>> launchers_;
};

}  // namespace attention
