// Strongly typed indices and the vectors they index. A phase stores its nodes in an IndexedVector
// and refers to them by Id, so that structures are plain values without owning pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "support/check.h"

namespace choreo {

// An index into the store of `Tag`. Default-constructed ids are invalid.
template <class Tag>
struct Id {
  static constexpr uint32_t kInvalid = 0xffffffffu;
  uint32_t value = kInvalid;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t v) : value(v) {}
  constexpr bool valid() const { return value != kInvalid; }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr bool operator==(Id a, Id b) = default;
  friend constexpr auto operator<=>(Id a, Id b) = default;
};

// A growable array indexed by one kind of id. Checked access.
template <class IdT, class T>
class IndexedVector {
 public:
  IdT Add(T item) {
    items_.push_back(std::move(item));
    return IdT(static_cast<uint32_t>(items_.size() - 1));
  }
  T& operator[](IdT id) {
    CHOREO_CHECK(id.value < items_.size(), "id {} of {}", id.value, items_.size());
    return items_[id.value];
  }
  const T& operator[](IdT id) const {
    CHOREO_CHECK(id.value < items_.size(), "id {} of {}", id.value, items_.size());
    return items_[id.value];
  }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  // Grows to hold `id`; new places are default-constructed (side tables use this).
  T& Grow(IdT id) {
    CHOREO_CHECK(id.valid());
    if (id.value >= items_.size()) items_.resize(id.value + 1);
    return items_[id.value];
  }
  void resize(size_t n) { items_.resize(n); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  IdT IdAt(size_t i) const { return IdT(static_cast<uint32_t>(i)); }

 private:
  std::vector<T> items_;
};

}  // namespace choreo

template <class Tag>
struct std::hash<choreo::Id<Tag>> {
  size_t operator()(choreo::Id<Tag> id) const { return std::hash<uint32_t>()(id.value); }
};
