// A warp-specialised kernel in lowered state, the base of the tests of mbarriers and TMA:
// C = A · Bᵀ of one 64×64 tile with K in slices of 64. A producer warpgroup loads slices of A and B
// into a ring of two slots; a consumer multiplies, releases the slot, and stores C by TMA.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "sim/sim_test_util.h"

namespace choreo::sim {

inline const char* const kPipelineTables = R"(
vars {
  %K type=s32 kind=dim; %k type=s32 kind=loop; %i type=s32 kind=loop; %k.1 type=s32 kind=loop;
}
storages {
  $A kind=param elem=bf16 dims=[64, %K] param_index=0 strides=[s64(%K), 1:s64];
  $B kind=param elem=bf16 dims=[64, %K] param_index=1 strides=[s64(%K), 1:s64];
  $C kind=param elem=bf16 dims=[64, 64] param_index=2 strides=[64:s64, 1:s64];
  $a_s kind=shared elem=bf16 dims=[64, 64] array_size=2 swizzle=128 byte_offset=0 tile_bytes=8192;
  $b_s kind=shared elem=bf16 dims=[64, 64] array_size=2 swizzle=128 byte_offset=16384 tile_bytes=8192;
  $c_s kind=shared elem=bf16 dims=[64, 64] swizzle=128 byte_offset=32768 tile_bytes=8192;
  $full kind=event elem=u64 dims=[] array_size=2 byte_offset=40960 loc(90:1);
  $empty kind=event elem=u64 dims=[] array_size=2 byte_offset=40976 ready=true loc(91:1);
  $acc kind=frag elem=f32 dims=[64, 64] layout=accumulator;
  $p kind=frag elem=bf16 dims=[64, 64] layout=accumulator;
}
params {
  name="A" elem=bf16 shaped=true storage=$A; name="B" elem=bf16 shaped=true storage=$B;
  name="C" elem=bf16 shaped=true written=true storage=$C;
})";

inline const char* const kPipelineHost =
    "threads=256 max_registers=168 shared_bytes=40992 "
    "maps=[(param=0 box=[64, 64] swizzle=128), (param=1 box=[64, 64] swizzle=128), "
    "(param=2 box=[64, 64] swizzle=128)]";

// Lines: 1 init, 2 producer, 10 consumer, 30 epilogue; the column tells ops of a line apart.
inline std::string PipelineBody() {
  std::string text = R"(
if condition=(tid() == 0) loc(1:1) then_body {
  mbarrier.init event=$full count=1 loc(1:2)
  mbarrier.init event=$empty count=1 loc(1:3)
  fence.mbarrier_init loc(1:4)
}
barrier.cta loc(1:5)
if condition=(warp() < 4) loc(1:6) then_body {
  role name="producer" first_thread=0 threads=128 loc(2:1)
  setmaxnreg increase=false count=40 loc(2:2)
  if condition=(tid() == 0) loc(2:3) then_body {
    for var=%k low=0 high=(%K / 64) step=1 unroll=0 loc(3:1) body {
      mbarrier.wait event=$empty slot=(%k % 2) parity=(((%k / 2) % 2) ^ 1) loc(4:1)
      mbarrier.arrive.expect_tx event=$full slot=(%k % 2) bytes=16384 loc(5:1)
      tma.load.box map=0 at=[0, (%k * 64)] dst=$a_s dst_index=((%k % 2) * 4096) event=$full slot=(%k % 2) policy=none loc(6:1)
      tma.load.box map=1 at=[0, (%k * 64)] dst=$b_s dst_index=((%k % 2) * 4096) event=$full slot=(%k % 2) policy=none loc(7:1)
    }
  }
} else_body {
  role name="consumer" first_thread=128 threads=128 loc(10:1)
  setmaxnreg increase=true count=240 loc(10:2)
  decl storage=$acc
  decl storage=$p
  for var=%k.1 low=0 high=(%K / 64) step=1 unroll=0 loc(11:1) body {
    mbarrier.wait event=$full slot=(%k.1 % 2) parity=((%k.1 / 2) % 2) loc(12:1)
    wgmma.fence loc(13:1)
)";
  for (int slice = 0; slice < 4; ++slice) {
    text += fmt::format(
        "wgmma.mma acc=$acc a_desc=desc($a_s, (((%k.1 % 2) * 8192) + {0}), 0, 1024, 128) "
        "a_frag=none a_word=0 b_desc=desc($b_s, (((%k.1 % 2) * 8192) + {0}), 0, 1024, 128) n=64 "
        "elem=bf16 trans_b=false scale_d={1} loc(14:1)\n",
        32 * slice, slice == 0 ? "(%k.1 > 0)" : "1");
  }
  return text + R"(
    wgmma.commit loc(15:1)
    wgmma.wait pending=0 loc(16:1)
    if condition=(tid() == 128) loc(17:1) then_body { mbarrier.arrive event=$empty slot=(%k.1 % 2) loc(17:2) }
  }
  for var=%i low=0 high=16 step=1 unroll=-1 loc(30:1) body {
    frag.pack frag=$p word=%i low=$acc[(%i * 2)] high=$acc[((%i * 2) + 1)] loc(30:2)
  }
  for var=%i low=0 high=4 step=1 unroll=-1 loc(31:1) body {
    stmatrix dst=$c_s index=(swizzle128(((((((warp() - 4) * 16) + (lane() % 8)) + (((lane() / 8) % 2) * 8)) * 128) + ((%i * 32) + ((lane() / 16) * 16)))) / 2) frag=$p word=(%i * 4) count=4 loc(31:2)
  }
  fence.proxy.async loc(32:1)
  barrier.sync id=1 threads=128 loc(33:1)
  if condition=(tid() == 128) loc(34:1) then_body {
    tma.store.box map=2 at=[0, 0] src=$c_s src_index=0 loc(35:1)
    tma.store.commit loc(36:1)
    tma.store.wait pending=0 read=true loc(37:1)
  }
})";
}

struct PipelineResult {
  Report report;
  std::vector<std::string> kinds;
  bool right = false;
};

struct PipelineRun {
  int slices = 5;
  uint64_t seed = 0;
  std::string tables = kPipelineTables;
  std::string host = kPipelineHost;
};

inline PipelineResult RunPipeline(const std::string& body, const PipelineRun& run = {}) {
  const int k = 64 * run.slices;
  const auto size = static_cast<size_t>(k);
  const Aligned<bf16> a(RandomBf16(64 * size, 1)), b(RandomBf16(64 * size, 2));
  Aligned<bf16> c(64 * 64, bf16(NAN));
  RunOptions options;
  options.schedule_seed = run.seed;
  PipelineResult result;
  result.report =
      RunKernel(ReadKernel(LoweredText(run.tables, run.host, body)), options,
                row_major(a.data, 64, k), row_major(b.data, 64, k), row_major(c.data, 64, 64));
  result.kinds = Kinds(result.report);
  result.right = true;
  for (size_t i = 0; i < 64; ++i) {
    for (size_t j = 0; j < 64; ++j) {
      float want = 0;
      for (size_t x = 0; x < size; ++x) {
        want += static_cast<float>(a.data[i * size + x]) * static_cast<float>(b.data[j * size + x]);
      }
      const auto got = static_cast<float>(c[i * 64 + j]);
      result.right = result.right && std::fabs(got - want) <= 0.01f * std::fabs(want) + 0.01f;
    }
  }
  return result;
}

}  // namespace choreo::sim
