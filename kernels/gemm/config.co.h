// Compile-time configuration of the GEMM kernels. Seen by the tile functions and by the C++ text
// around them alike. In: optional -DELEM=bf16|f16, -DTILE_N=8 ... 256, -DTILE_K=16, 32, 64,
// -DSTAGES, -DGROUP_M. Out: those with their defaults, tuned for 8192³ on an H200, and what follows
// from them.
#ifndef CROQTILE_KERNELS_GEMM_CONFIG_CO_H_
#define CROQTILE_KERNELS_GEMM_CONFIG_CO_H_

#ifndef ELEM
#define ELEM bf16
#endif

#define TILE_M 128
#define WG_M 64
#ifndef TILE_N
#define TILE_N 256
#endif
#ifndef TILE_K
#define TILE_K 64
#endif

// Three stages of 48 KiB and the tile of C fill the 227 KiB of shared memory.
#ifndef STAGES
#define STAGES 3
#endif

// The widest swizzle whose panels divide a row of TILE_K 16-bit elements.
#if TILE_K % 64 == 0
#define SWIZ 128
#elif TILE_K % 32 == 0
#define SWIZ 64
#else
#define SWIZ 32
#endif

// Tiles of C are taken down columns of GROUP_M tiles: 132 CTAs at work then cover about a square of
// C, which reads the fewest rows of A and B through L2.
#ifndef GROUP_M
#define GROUP_M 16
#endif

// Declares bm and bn, the tile of the task: columns of (at most) GROUP_M tiles, left to right, then
// the next GROUP_M rows of tiles. Needs cta, ctas, task, group_tiles and tiles_m.
#define GEMM_TILE_OF_TASK                             \
  tile = cta + task * ctas;                           \
  group_first = tile / group_tiles * GROUP_M;         \
  group_rows = __min(tiles_m - group_first, GROUP_M); \
  bm = group_first + tile % group_tiles % group_rows; \
  bn = tile % group_tiles / group_rows;

#endif  // CROQTILE_KERNELS_GEMM_CONFIG_CO_H_
