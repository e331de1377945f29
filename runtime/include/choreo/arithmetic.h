// Integer helpers of printed expressions, the same on the host and in kernels.
#pragma once

#ifdef __CUDACC__
#define CHOREO_ARITHMETIC_HD __host__ __device__ __forceinline__
#else
#define CHOREO_ARITHMETIC_HD inline
#endif

namespace choreo {

// a / b rounded up (towards positive infinity), without overflow where the quotient exists.
template <class T>
CHOREO_ARITHMETIC_HD constexpr T cdiv(T a, T b) {
  return a / b + static_cast<T>(a % b != 0 && (a % b > 0) == (b > 0) ? 1 : 0);
}

}  // namespace choreo

#undef CHOREO_ARITHMETIC_HD
