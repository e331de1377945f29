#include "passes/tma_boxes.h"

#include <algorithm>

#include "passes/addressing.h"

namespace choreo::passes {
namespace {

// CUDA driver API, cuTensorMapEncodeTiled: limits of a tensor map.
constexpr size_t kMaxRank = 5;
constexpr int64_t kMaxBox = 256;           // elements an axis
constexpr int64_t kBoxGranule = 16;        // bytes of the innermost axis
constexpr int64_t kAtomRows = 8;           // of a swizzle
constexpr int64_t kSharedAlignment = 128;  // bytes; of a box in shared memory

class BoxMaker {
 public:
  BoxMaker(ir::ExprBuilder& build, PassContext& context, const Divisors& divisors,
           const ir::View& global, const ir::View& shared, bool store, ir::Loc loc, bool multicast)
      : kernel_(build.kernel()),
        build_(build),
        context_(context),
        divisors_(divisors),
        global_(global),
        shared_(shared),
        param_(kernel_.storages[global.storage]),
        tile_(kernel_.storages[shared.storage]),
        store_(store),
        loc_(loc),
        sharers_(multicast ? kernel_.host.cluster : 1) {}

  std::optional<TmaBoxes> Make() {
    if (!GlobalFits() || !SharedFits() || !Share() || !Rows() || !Columns()) return std::nullopt;
    if (!WholePart()) return std::nullopt;
    RequireAlignment(kernel_, global_, kBoxGranule);
    if (store_ && !RequireWholeChunks()) return std::nullopt;
    TmaBoxes out;
    const int64_t width = inner_;
    for (int64_t part = 0; part < parts_; ++part) {
      for (int64_t panel = 0; panel < panels_; ++panel) {
        TmaBox box;
        box.map = Map();
        box.at = global_.start;
        Advance(box.at, 0, part * extents_[0]);
        Advance(box.at, extents_.size() - 1, panel * width);
        const int64_t rows = part * (extents_.size() > 1 ? rows_ : 0);
        box.shared_index =
            build_.Add(first_, panel * panel_step_ + rows * PanelElements(kernel_, tile_));
        if (sharers_ > 1) {
          box.multicast = {global_.axes[share_axis_].base_axis, static_cast<int32_t>(share_rows_)};
        }
        out.boxes.push_back(std::move(box));
      }
    }
    int64_t elements = sharers_;
    for (const int64_t extent : extents_) elements *= extent;
    out.bytes = elements * Bytes(tile_.elem) * static_cast<int64_t>(out.boxes.size());
    return out;
  }

 private:
  bool Refuse(const std::string& why) {
    context_.diags.Emit(diag::kinds::TmaShape, context_.Where(loc_), tile_.name, param_.name, why);
    return false;
  }

  bool GlobalFits() {
    if (IsReshaped(kernel_, global_)) return Refuse("the tensor is reshaped by `span_as`");
    if (param_.dims.size() > kMaxRank) {
      return Refuse(fmt::format("the tensor has {} axes, and a tensor map {} at most",
                                param_.dims.size(), kMaxRank));
    }
    if (param_.dims.empty() || global_.axes.empty()) return Refuse("it is a single element");
    for (const ir::View::Axis& axis : global_.axes) {
      if (axis.step) return Refuse("its elements are not adjacent: the view has steps");
    }
    if (static_cast<size_t>(global_.axes.back().base_axis) + 1 != param_.dims.size()) {
      return Refuse("its last axis is not the innermost of the tensor");
    }
    return true;
  }

  bool SharedFits() {
    if (IsReshaped(kernel_, shared_)) return Refuse("the tile is reshaped by `span_as`");
    if (shared_.axes.size() != global_.axes.size()) return Refuse("the sides differ in rank");
    const size_t rank = tile_.dims.size();
    for (size_t i = 0; i < shared_.axes.size(); ++i) {
      const ir::View::Axis& axis = shared_.axes[i];
      if (axis.step) return Refuse("rows of the tile are left out: the view has steps");
      extents_.push_back(*build_.AsInt(axis.extent));
      // The axes are the tile's last, so that all but the first one are whole and rows adjacent.
      const size_t base = rank - shared_.axes.size() + i;
      if (static_cast<size_t>(axis.base_axis) != base) {
        return Refuse("its axes are not the last ones of the tile");
      }
      const bool whole = build_.AsInt(shared_.start[base]) == 0 &&
                         build_.AsInt(tile_.dims[base]) == extents_.back();
      if (i != 0 && i + 1 != shared_.axes.size() && !whole) {
        return Refuse("a middle axis of the tile is not whole");
      }
    }
    return true;
  }

  // A store is clipped to the tensor in chunks of 16 bytes only.
  bool RequireWholeChunks() {
    const int64_t elements = kBoxGranule / Bytes(param_.elem);
    const auto extent = build_.AsInt(param_.dims.back());
    if (extent && *extent % elements != 0) {
      return Refuse(
          fmt::format("rows of {} elements do not end with a chunk of 16 bytes, and a TMA "
                      "store writes whole ones",
                      *extent));
    }
    if (extent) return true;
    const ir::HostCheck check{ir::HostCheck::Kind::ExtentMultiple, param_.param_index,
                              static_cast<int32_t>(param_.dims.size()) - 1, elements};
    for (const ir::HostCheck& known : kernel_.host.checks) {
      if (known.kind == check.kind && known.param == check.param) return true;
    }
    kernel_.host.checks.push_back(check);
    return true;
  }

  // The part of each CTA of the cluster: equal ones of the outermost axis that has any.
  bool Share() {
    if (sharers_ == 1) return true;
    while (share_axis_ + 1 < extents_.size() && extents_[share_axis_] == 1) ++share_axis_;
    if (share_axis_ + 1 >= extents_.size()) {
      return Refuse(fmt::format("it has one row, which {} CTAs cannot share", sharers_));
    }
    if (extents_[share_axis_] % sharers_ != 0) {
      return Refuse(fmt::format("its {} rows are not shared equally by {} CTAs",
                                extents_[share_axis_], sharers_));
    }
    share_rows_ = extents_[share_axis_] /= sharers_;
    return true;
  }

  // A part begins where the swizzle does, at an address that TMA can write to.
  bool WholePart() {
    if (sharers_ == 1) return true;
    const int64_t rows = rows_ * parts_;
    if (tile_.swizzle > 16 && rows % kAtomRows != 0) {
      return Refuse(
          fmt::format("a part of {} rows for each of {} CTAs cuts the 8 rows of the "
                      "swizzle",
                      rows, sharers_));
    }
    const int64_t bytes = rows * inner_ * Bytes(tile_.elem);
    if (bytes % kSharedAlignment == 0) return true;
    return Refuse(fmt::format("a part of {} bytes for each of {} CTAs is no multiple of {}", bytes,
                              sharers_, kSharedAlignment));
  }

  // The first axis, cut into equal parts where it is longer than a box.
  bool Rows() {
    for (size_t i = 0; i + 1 < extents_.size(); ++i) rows_ *= extents_[i];
    for (size_t i = 1; i + 1 < extents_.size(); ++i) {
      if (extents_[i] > kMaxBox) return Refuse(TooLong(extents_[i]));
    }
    if (extents_.size() > 1 && extents_[0] > kMaxBox) {
      const int64_t whole = extents_[0];
      int64_t part = kMaxBox;
      while (part > 0 && (whole % part != 0 || part % kAtomRows != 0)) --part;
      if (part == 0) return Refuse(TooLong(whole));
      parts_ = whole / part;
      extents_[0] = part;
      rows_ = rows_ / whole * part;
    }
    // Where the first row lies, counted in rows of the tile.
    ir::ExprId row = build_.Int(0);
    for (size_t i = 0; i + 1 < tile_.dims.size(); ++i) {
      row = build_.Add(build_.Mul(row, tile_.dims[i]), shared_.start[i]);
    }
    if (tile_.swizzle > 16 && divisors_.Of(row) % kAtomRows != 0) {
      return Refuse("its first row is not known to be a multiple of 8, which the swizzle needs");
    }
    first_ = build_.Mul(row, PanelElements(kernel_, tile_));
    return true;
  }

  static std::string TooLong(int64_t extent) {
    return fmt::format("an axis of {} is longer than a box, which has {} at most", extent, kMaxBox);
  }

  bool Columns() {
    const int64_t columns = extents_.back();
    const int64_t width = PanelElements(kernel_, tile_);
    const int64_t size = Bytes(tile_.elem);
    const int64_t whole = tile_.dims.empty() ? 1 : *build_.AsInt(tile_.dims.back());
    const ir::ExprId start = shared_.start.empty() ? build_.Int(0) : shared_.start.back();
    if (tile_.swizzle == 0) {
      if (columns != whole && rows_ * parts_ > 1) {
        return Refuse("it is part of the rows of a tile without panels; name a swizzle");
      }
      // A single row is dense however it is cut.
      inner_ = std::min(columns, kMaxBox);
      while (rows_ * parts_ == 1 && columns % inner_ != 0) --inner_;
      if (inner_ != columns && rows_ * parts_ > 1) {
        return Refuse(TooLong(columns) + "; name a swizzle");
      }
      panels_ = columns / inner_;
      panel_step_ = inner_;
      first_ = build_.Add(first_, start);
    } else {
      if (divisors_.Of(start) % width != 0) {
        return Refuse(fmt::format("its first column is not known to be a multiple of {}", width));
      }
      // A panel that the tile does not fill is loaded whole; storing it would write beyond.
      const bool fills = columns % width == 0;
      if (!fills && (store_ || columns != whole)) {
        return Refuse(fmt::format("rows of {} elements do not fill panels of {}", columns, width));
      }
      panels_ = (columns + width - 1) / width;
      inner_ = width;
      panel_step_ = PanelRows(kernel_, tile_) * width;
      first_ = build_.Add(first_, build_.Mul(build_.Div(start, width), panel_step_));
    }
    if (inner_ * size % kBoxGranule != 0) {
      return Refuse(fmt::format("rows of {} bytes, and TMA moves multiples of {}", inner_ * size,
                                kBoxGranule));
    }
    extents_.back() = inner_;
    if (shared_.slot) {
      const int64_t elements = TileBytes(kernel_, tile_) / size;
      first_ = build_.Add(build_.Mul(build_.Cast(shared_.slot, Elem::kS32), elements), first_);
    }
    return true;
  }

  void Advance(std::vector<ir::ExprId>& at, size_t axis, int64_t by) {
    ir::ExprId& c = at[static_cast<size_t>(global_.axes[axis].base_axis)];
    c = build_.Add(c, by);
  }

  int32_t Map() {
    ir::TensorMap map;
    map.param = param_.param_index;
    map.box.assign(param_.dims.size(), 1);
    for (size_t i = 0; i < extents_.size(); ++i) {
      map.box[static_cast<size_t>(global_.axes[i].base_axis)] = static_cast<int32_t>(extents_[i]);
    }
    map.swizzle = tile_.swizzle == 16 ? 0 : tile_.swizzle;
    auto& maps = kernel_.host.maps;
    const auto known = std::find(maps.begin(), maps.end(), map);
    if (known != maps.end()) return static_cast<int32_t>(known - maps.begin());
    maps.push_back(std::move(map));
    return static_cast<int32_t>(maps.size() - 1);
  }

  ir::Kernel& kernel_;
  ir::ExprBuilder& build_;
  PassContext& context_;
  const Divisors& divisors_;
  const ir::View global_, shared_;  // copies: building views may move the table
  const ir::Storage param_, tile_;
  bool store_;
  ir::Loc loc_;
  std::vector<int64_t> extents_;  // of a box, one a view axis
  int64_t rows_ = 1, parts_ = 1, panels_ = 1, inner_ = 0, panel_step_ = 0;
  int64_t sharers_ = 1, share_rows_ = 0;  // CTAs that load a part each; rows of a part
  size_t share_axis_ = 0;                 // of the view
  ir::ExprId first_;
};

}  // namespace

std::optional<TmaBoxes> MakeTmaBoxes(ir::ExprBuilder& build, PassContext& context,
                                     const Divisors& divisors, const ir::View& global,
                                     const ir::View& shared, bool store, ir::Loc loc,
                                     bool multicast) {
  return BoxMaker(build, context, divisors, global, shared, store, loc, multicast).Make();
}

}  // namespace choreo::passes
