// Reproducible inputs: a counter-based hash of (seed, tensor, row, column) in 32-bit unsigned
// arithmetic only, written as macros so that host C++ and tile functions compute it with the same text.
// In: a mutable u32 (C++: uint32_t) named by the caller. Out: 32 hashed bits in it, then a value of
// [-limit, limit). Every step is exact in f32 when `limit` is a power of two, so both sides agree bitwise.
#ifndef CROQTILE_KERNELS_HARNESS_INPUTS_CO_H_
#define CROQTILE_KERNELS_HARNESS_INPUTS_CO_H_

// One round of xor-shift and multiply; a bijection of 32 bits in which every input bit reaches every
// output bit (constants of the public "lowbias32" mixer).
#define INPUT_MIX(h)       \
  h = h ^ (h >> 16u);      \
  h = h * 0x7feb352du;     \
  h = h ^ (h >> 15u);      \
  h = h * 0x846ca68bu;     \
  h = h ^ (h >> 16u)

// The key of one tensor, then of one row of it, then of one element of that row.
#define INPUT_KEY_START(seed, tensor) ((seed) * 0x9e3779b9u + (tensor) * 0x85ebca6bu + 0x27d4eb2fu)
#define INPUT_ROW_START(key, row) ((key) ^ (row))
#define INPUT_COL_START(row_key, col) ((row_key) + (col) * 0x9e3779b9u)

// The 24 high bits of the hash as an f32 in [-limit, limit); `bits` is already converted to f32.
#define INPUT_BITS(h) (h >> 8u)
#define INPUT_VALUE(bits, limit) ((bits) * ((limit) * 1.1920928955078125e-7f) - (limit))

// Body of a tile function `(global ELEM [ROWS, COLS] x, u32 seed, u32 tensor, float limit)` that fills
// x: a CTA owns FILL_ROWS rows, and consecutive threads write consecutive elements.
#define FILL_ROWS 64
#define FILL_THREADS 128
#define INPUT_FILL_BODY(x, ROWS, COLS, type)                                  \
  parallel.async block_row by cdiv(ROWS, FILL_ROWS) : block,                  \
      t by FILL_THREADS : thread {                                            \
    mutable u32 key = INPUT_KEY_START(seed, tensor);                          \
    INPUT_MIX(key);                                                           \
    foreach step in cdiv(FILL_ROWS * COLS, FILL_THREADS) {                    \
      linear = step * FILL_THREADS + t;                                       \
      row = block_row * FILL_ROWS + linear / COLS;                            \
      col = linear % COLS;                                                    \
      mutable u32 h = INPUT_ROW_START(key, __to<u32>(row));                   \
      INPUT_MIX(h);                                                           \
      h = INPUT_COL_START(h, __to<u32>(col));                                 \
      INPUT_MIX(h);                                                           \
      if (linear < FILL_ROWS * COLS && row < ROWS)                            \
        x.at(row, col) = __to<type>(INPUT_VALUE(__to<f32>(INPUT_BITS(h)), limit)); \
    }                                                                         \
  }

#endif  // CROQTILE_KERNELS_HARNESS_INPUTS_CO_H_
