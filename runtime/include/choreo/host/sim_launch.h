// How a program built with --target=sim runs a kernel: the lowered IR that `choreo` embedded in it
// and the call's arguments go to the simulator library. No compiler header is needed here. In:
// views and scalars in the order of the tile function's parameters. Out: nothing, or choreo::error;
// what the simulator found (races, deadlocks, uninitialised data …) is printed to stderr first.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "choreo/host/status.h"
#include "choreo/host/view.h"

namespace choreo::sim {

// One argument without its types. A shaped one borrows the extents and strides of the caller's
// view.
struct Argument {
  int rank = -1;  // -1: a scalar
  // Shaped:
  void* data = nullptr;
  int element_bytes = 0;
  const int64_t* extent = nullptr;
  const int64_t* stride = nullptr;  // in elements
  // Scalar: the value as integer and as float.
  int64_t integer = 0;
  double real = 0;
};

template <class T, int R>
Argument MakeArgument(const view<T, R>& v) {
  Argument a;
  a.rank = R;
  a.data = const_cast<std::remove_const_t<T>*>(v.data);
  a.element_bytes = sizeof(T);
  a.extent = v.extent.data();
  a.stride = v.stride.data();
  return a;
}

template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>>
Argument MakeArgument(T value) {
  Argument a;
  if constexpr (std::is_floating_point<T>::value) {
    a.real = static_cast<double>(value);
  } else {
    a.integer = static_cast<int64_t>(value);
    a.real = static_cast<double>(value);
  }
  return a;
}

// Checks the arguments, runs `kernel` of the module in `lowered_ir` to its end. The text is read
// once for all calls with it; calls from several threads are safe.
void LaunchWith(const char* lowered_ir, const char* kernel, const Argument* arguments, int count);

template <class... A>
void Launch(const char* lowered_ir, const char* kernel, const A&... arguments) {
  const std::array<Argument, sizeof...(A) + 1> list{MakeArgument(arguments)..., Argument{}};
  LaunchWith(lowered_ir, kernel, list.data(), static_cast<int>(sizeof...(A)));
}

}  // namespace choreo::sim
