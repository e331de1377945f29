// Compile-time configuration shared by the attention kernels: element type, head dimension, and
// what follows from them. Seen by the tile functions and by the C++ text around them alike.
// In: optional -DELEM=bf16|f16 and -DDIM=16, 32, ... 256. Out: ELEM, DIM, SWIZ, SOFTMAX_SCALE.
#ifndef CROQTILE_KERNELS_ATTENTION_CONFIG_CO_H_
#define CROQTILE_KERNELS_ATTENTION_CONFIG_CO_H_

#ifndef ELEM
#define ELEM bf16
#endif

#ifndef DIM
#define DIM 128
#endif

// The widest swizzle whose panels divide a row of DIM 16-bit elements.
#if DIM % 64 == 0
#define SWIZ 128
#elif DIM % 32 == 0
#define SWIZ 64
#else
#define SWIZ 32
#endif

// log2(e) / sqrt(DIM): scores are scaled on their way into exp2.
#if DIM == 16
#define SOFTMAX_SCALE 0.36067376f
#elif DIM == 32
#define SOFTMAX_SCALE 0.255034862f
#elif DIM == 48
#define SOFTMAX_SCALE 0.208235093f
#elif DIM == 64
#define SOFTMAX_SCALE 0.18033688f
#elif DIM == 80
#define SOFTMAX_SCALE 0.161298209f
#elif DIM == 96
#define SOFTMAX_SCALE 0.147244446f
#elif DIM == 112
#define SOFTMAX_SCALE 0.136321868f
#elif DIM == 128
#define SOFTMAX_SCALE 0.127517431f
#elif DIM == 144
#define SOFTMAX_SCALE 0.120224587f
#elif DIM == 160
#define SOFTMAX_SCALE 0.114055057f
#elif DIM == 176
#define SOFTMAX_SCALE 0.10874723f
#elif DIM == 192
#define SOFTMAX_SCALE 0.104117546f
#elif DIM == 208
#define SOFTMAX_SCALE 0.100032903f
#elif DIM == 224
#define SOFTMAX_SCALE 0.0963941171f
#elif DIM == 240
#define SOFTMAX_SCALE 0.0931255645f
#elif DIM == 256
#define SOFTMAX_SCALE 0.0901684401f
#else
#error "DIM must be a multiple of 16 from 16 to 256"
#endif

#endif  // CROQTILE_KERNELS_ATTENTION_CONFIG_CO_H_
