#include "driver/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "driver/dimensions.h"
#include "ir/walk.h"
#include "sim/numeric.h"

namespace choreo::driver {
namespace {

namespace kinds = diag::kinds;

constexpr uint64_t kMaxArgumentBytes = uint64_t{1} << 32;
constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max();

// 64 hashed bits of a counter (splitmix64's finaliser).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

const ir::VarRef* AsVar(const ir::Kernel& kernel, ir::ExprId id) {
  return id.valid() ? std::get_if<ir::VarRef>(&kernel.exprs[id].node) : nullptr;
}

// Calls f(name, variable) for each dimension and scalar parameter, in order, each once.
template <class F>
void ForEachName(const ir::Kernel& kernel, F&& f) {
  std::vector<ir::VarId> seen;
  const auto visit = [&](ir::VarId var) {
    if (std::find(seen.begin(), seen.end(), var) != seen.end()) return;
    seen.push_back(var);
    f(kernel.vars[var].name, var);
  };
  for (const ir::Param& param : kernel.params) {
    if (!param.shaped) {
      visit(param.var);
      continue;
    }
    for (const ir::ExprId extent : kernel.storages[param.storage].dims) {
      if (const ir::VarRef* ref = AsVar(kernel, extent)) visit(ref->var);
    }
  }
}

template <class T>
bool ParseNumber(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// The bits of a scalar of type `elem`, or what is wrong with `text`.
std::string ParseScalar(Elem elem, const std::string& text, uint64_t& bits) {
  return sim::DispatchElem(elem, [&]<Elem E>() -> std::string {
    using Reg = typename sim::ElemTraits<E>::Reg;
    Reg value{};
    if (E == Elem::kBool && (text == "true" || text == "false")) {
      value = static_cast<Reg>(text == "true");
    } else if (!ParseNumber(text, value)) {
      return fmt::format("expected a constant of type `{}`", Spelling(E));
    }
    bits = 0;
    sim::ElemTraits<E>::Store(&bits, value);
    if (std::is_integral_v<Reg> && sim::ElemTraits<E>::Load(&bits) != value) {
      return fmt::format("beyond the range of `{}`", Spelling(E));
    }
    return {};
  });
}

class Maker {
 public:
  Maker(const ir::Kernel& kernel, const std::vector<ShapeValue>& shape, diag::Emitter& diags)
      : kernel_(kernel), shape_(shape), dims_(kernel, shape), diags_(diags) {
    ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
      if (const auto* atomic = std::get_if<ir::AtomicMem>(&op.node)) {
        counters_.insert(atomic->storage);
      } else if (const auto* atomic = std::get_if<ir::AtomicElem>(&op.node)) {
        counters_.insert(kernel.views[atomic->dest].storage);
      }
    });
  }

  std::optional<std::vector<ArgumentValue>> Make() {
    std::vector<ArgumentValue> values;
    for (size_t i = 0; i < kernel_.params.size(); ++i) {
      const ir::Param& param = kernel_.params[i];
      std::optional<ArgumentValue> value = param.shaped ? Tensor(param, i) : Scalar(param);
      if (!value) return std::nullopt;
      values.push_back(std::move(*value));
    }
    return values;
  }

 private:
  std::optional<ArgumentValue> Scalar(const ir::Param& param) {
    const std::string* text = Find(shape_, param.name);
    CHOREO_CHECK(text != nullptr, "{} has no value", param.name);
    ArgumentValue value;
    const std::string problem = ParseScalar(param.elem, *text, value.scalar);
    if (problem.empty()) return value;
    diags_.Emit(kinds::BadDimension, SourceRange(), *text, param.name, problem);
    return std::nullopt;
  }

  std::optional<int64_t> Extent(ir::ExprId id) {
    if (const auto* constant = std::get_if<ir::IntConst>(&kernel_.exprs[id].node)) {
      return constant->value;
    }
    const ir::VarRef* ref = AsVar(kernel_, id);
    CHOREO_CHECK(ref != nullptr, "a parameter's extent is a constant or a dimension");
    const std::string* text = dims_.Text(ref->var);
    CHOREO_CHECK(text != nullptr, "{} has no value", kernel_.vars[ref->var].name);
    int64_t value = 0;
    if (ParseNumber(*text, value) && value >= 0 && value <= kMaxExtent) return value;
    diags_.Emit(kinds::BadDimension, SourceRange(), *text, kernel_.vars[ref->var].name,
                "a dimension is a whole number from 0 to 2147483647");
    return std::nullopt;
  }

  std::optional<ArgumentValue> Tensor(const ir::Param& param, size_t index) {
    ArgumentValue value;
    double bytes = Bytes(param.elem);
    int64_t elements = 1;
    for (const ir::ExprId dim : kernel_.storages[param.storage].dims) {
      const std::optional<int64_t> extent = Extent(dim);
      if (!extent) return std::nullopt;
      value.extents.push_back(*extent);
      bytes *= static_cast<double>(*extent);
    }
    if (bytes > static_cast<double>(kMaxArgumentBytes)) {
      diags_.Emit(kinds::ArgumentTooLarge, SourceRange(), param.name, kernel_.name,
                  fmt::format("{:.4g}", bytes), kMaxArgumentBytes);
      return std::nullopt;
    }
    value.strides.resize(value.extents.size());
    for (size_t axis = value.extents.size(); axis-- > 0;) {
      value.strides[axis] = elements;
      elements *= value.extents[axis];
    }
    value.bytes.resize(static_cast<size_t>(elements) * Bytes(param.elem));
    // What atomic operations count in starts at zero, as a program has it before each launch.
    if (!counters_.contains(param.storage)) Fill(param.elem, index, value.bytes);
    return value;
  }

  // Floats in [-1, 1), integers in [-8, 8) or, without sign, [0, 16).
  static void Fill(Elem elem, size_t index, std::vector<uint8_t>& bytes) {
    const uint64_t key = Mix(index);
    sim::DispatchElem(elem, [&]<Elem E>() {
      using Traits = sim::ElemTraits<E>;
      using Reg = typename Traits::Reg;
      for (size_t i = 0; i < bytes.size() / Traits::kBytes; ++i) {
        const uint64_t bits = Mix(key + i);
        Reg value;
        if constexpr (std::is_floating_point_v<Reg>) {
          value = static_cast<Reg>(static_cast<double>(bits >> 40) * 0x1p-23 - 1.0);
        } else if (E == Elem::kBool) {
          value = static_cast<Reg>(bits >> 63);
        } else {
          value = static_cast<Reg>(static_cast<int64_t>(bits >> 60) - (IsSigned(E) ? 8 : 0));
        }
        Traits::Store(bytes.data() + i * Traits::kBytes, value);
      }
    });
  }

  const ir::Kernel& kernel_;
  const std::vector<ShapeValue>& shape_;
  Dimensions dims_;
  diag::Emitter& diags_;
  std::set<ir::StorageId> counters_;
};

}  // namespace

std::optional<std::vector<ShapeValue>> ParseShape(std::string_view text, std::string& problem) {
  std::vector<ShapeValue> values;
  while (!text.empty()) {
    const size_t end = text.find(',');
    const std::string_view part = text.substr(0, end);
    const size_t equals = part.find('=');
    if (equals == part.npos || equals == 0 || equals + 1 == part.size()) {
      problem = fmt::format("`--shape`: `{}` is not of the form NAME=VALUE", part);
      return std::nullopt;
    }
    const std::string name(part.substr(0, equals));
    if (Find(values, name) != nullptr) {
      problem = fmt::format("`--shape`: two values for `{}`", name);
      return std::nullopt;
    }
    values.push_back({name, std::string(part.substr(equals + 1))});
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return values;
}

std::vector<std::string> ShapeNames(const ir::Kernel& kernel) {
  std::vector<std::string> names;
  ForEachName(kernel, [&](const std::string& name, ir::VarId) { names.push_back(name); });
  return names;
}

std::vector<ShapeValue> Determined(const ir::Kernel& kernel, const std::vector<ShapeValue>& shape) {
  const Dimensions dims(kernel, shape);
  std::vector<ShapeValue> values = shape;
  ForEachName(kernel, [&](const std::string& name, ir::VarId var) {
    const std::string* text = dims.Text(var);
    if (text != nullptr && Find(values, name) == nullptr) values.push_back({name, *text});
  });
  return values;
}

std::vector<std::string> MissingNames(const ir::Kernel& kernel,
                                      const std::vector<ShapeValue>& shape) {
  const Dimensions dims(kernel, shape);
  std::vector<std::string> missing;
  ForEachName(kernel, [&](const std::string& name, ir::VarId var) {
    if (dims.Text(var) == nullptr) missing.push_back(name);
  });
  return missing;
}

std::optional<std::vector<ArgumentValue>> MakeArguments(const ir::Kernel& kernel,
                                                        const std::vector<ShapeValue>& shape,
                                                        diag::Emitter& diags) {
  return Maker(kernel, shape, diags).Make();
}

std::string Digest(Elem elem, const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
  size_t count = 0, nans = 0;
  sim::DispatchElem(elem, [&]<Elem E>() {
    using Traits = sim::ElemTraits<E>;
    for (size_t i = 0; i < bytes.size() / Traits::kBytes; ++i) {
      const double value = static_cast<double>(Traits::Load(bytes.data() + i * Traits::kBytes));
      ++count;
      if (std::isnan(value)) {
        ++nans;
        continue;
      }
      low = std::min(low, value);
      high = std::max(high, value);
      sum += value;
    }
  });
  if (count == nans) return fmt::format("hash {:016x}, {} elements, {} NaN", hash, count, nans);
  return fmt::format("hash {:016x}, {} elements, min {:.6g}, max {:.6g}, mean {:.6g}, {} NaN", hash,
                     count, low, high, sum / static_cast<double>(count - nans), nans);
}

}  // namespace choreo::driver
