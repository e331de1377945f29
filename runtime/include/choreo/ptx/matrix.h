// Warp-wide 8x8 matrix loads and stores between shared memory and 16-bit register pairs.
// Lanes 0-7 give the row addresses of matrix 0, lanes 8-15 of matrix 1, …; each 16-byte aligned.
// Generic-proxy accesses. Source: PTX ISA, "ldmatrix", "stmatrix".
#pragma once

#include <cstdint>

namespace choreo::ptx {

#define CHOREO_PTX_LDMATRIX(NAME, SUFFIX)                                                          \
  __device__ __forceinline__ void ldmatrix_x1##NAME(uint32_t& r0, uint32_t row) {                  \
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" SUFFIX ".shared::cta.b16 {%0}, [%1];"             \
                 : "=r"(r0)                                                                        \
                 : "r"(row)                                                                        \
                 : "memory");                                                                      \
  }                                                                                                \
  __device__ __forceinline__ void ldmatrix_x2##NAME(uint32_t& r0, uint32_t& r1, uint32_t row) {    \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" SUFFIX ".shared::cta.b16 {%0, %1}, [%2];"         \
                 : "=r"(r0), "=r"(r1)                                                              \
                 : "r"(row)                                                                        \
                 : "memory");                                                                      \
  }                                                                                                \
  __device__ __forceinline__ void ldmatrix_x4##NAME(uint32_t& r0, uint32_t& r1, uint32_t& r2,      \
                                                    uint32_t& r3, uint32_t row) {                  \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" SUFFIX ".shared::cta.b16 {%0, %1, %2, %3}, [%4];" \
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)                                          \
                 : "r"(row)                                                                        \
                 : "memory");                                                                      \
  }

#define CHOREO_PTX_STMATRIX(NAME, SUFFIX)                                                          \
  __device__ __forceinline__ void stmatrix_x1##NAME(uint32_t row, uint32_t r0) {                   \
    asm volatile("stmatrix.sync.aligned.m8n8.x1" SUFFIX ".shared::cta.b16 [%0], {%1};"             \
                 :                                                                                 \
                 : "r"(row), "r"(r0)                                                               \
                 : "memory");                                                                      \
  }                                                                                                \
  __device__ __forceinline__ void stmatrix_x2##NAME(uint32_t row, uint32_t r0, uint32_t r1) {      \
    asm volatile("stmatrix.sync.aligned.m8n8.x2" SUFFIX ".shared::cta.b16 [%0], {%1, %2};"         \
                 :                                                                                 \
                 : "r"(row), "r"(r0), "r"(r1)                                                      \
                 : "memory");                                                                      \
  }                                                                                                \
  __device__ __forceinline__ void stmatrix_x4##NAME(uint32_t row, uint32_t r0, uint32_t r1,        \
                                                    uint32_t r2, uint32_t r3) {                    \
    asm volatile("stmatrix.sync.aligned.m8n8.x4" SUFFIX ".shared::cta.b16 [%0], {%1, %2, %3, %4};" \
                 :                                                                                 \
                 : "r"(row), "r"(r0), "r"(r1), "r"(r2), "r"(r3)                                    \
                 : "memory");                                                                      \
  }

CHOREO_PTX_LDMATRIX(, "")
CHOREO_PTX_LDMATRIX(_trans, ".trans")
CHOREO_PTX_STMATRIX(, "")
CHOREO_PTX_STMATRIX(_trans, ".trans")

#undef CHOREO_PTX_LDMATRIX
#undef CHOREO_PTX_STMATRIX

}  // namespace choreo::ptx
