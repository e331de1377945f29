// Includes every header of the runtime and uses each PTX wrapper and helper once, so that ptxas
// assembles all of them for sm_90a. Never run.
#include "choreo/device.h"
#include "choreo/host/launch.h"
#include "choreo/host/tensor_map.h"
#include "choreo/runtime.h"
#include "wgmma_shapes.h"

namespace ptx = choreo::ptx;

static_assert(sizeof(choreo::bf16) == sizeof(__nv_bfloat16) &&
              sizeof(choreo::f16) == sizeof(__half));
static_assert(choreo::swizzle<128>(0x0480) == 0x0490 && choreo::swizzle<64>(0x0180) == 0x01b0 &&
              choreo::swizzle<32>(0x0080) == 0x0090 && choreo::swizzle<16>(0x0480) == 0x0480);
static_assert(choreo::k_major_slice<128>(5, 128) == 16384 + 32 &&
              choreo::k_major_slice<32>(3, 64) == 3 * 2048 &&
              choreo::mn_major_slice<64>(2) == 2048);

__global__ void __launch_bounds__(128, 1)
    memory_kernel(const float* in, float* out, choreo::ErrorWord* word) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const uint32_t shared = choreo::shared_address(memory);
  ptx::cp_async_ca<4>(shared, in);
  ptx::cp_async_ca<8>(shared + 8, in, 4);
  ptx::cp_async_ca<16>(shared + 16, in, 0);
  ptx::cp_async_cg<16>(shared + 32, in);
  ptx::cp_async_cg<16>(shared + 48, in, 8);
  ptx::cp_async_commit_group();
  ptx::cp_async_wait_group<1>();
  ptx::cp_async_wait_all();
  ptx::fence_proxy_async();
  ptx::fence_proxy_async_shared_cta();
  ptx::bar_sync<1, 128>();
  ptx::bar_arrive<2, 128>();
  ptx::bar_sync<128>(threadIdx.x / 128 + 2);
  ptx::bar_arrive<128>(threadIdx.x / 128 + 3);
  uint32_t r0, r1, r2, r3;
  ptx::ldmatrix_x1(r0, shared);
  ptx::ldmatrix_x2_trans(r0, r1, shared);
  ptx::ldmatrix_x4(r0, r1, r2, r3, shared);
  ptx::ldmatrix_x4_trans(r0, r1, r2, r3, shared);
  ptx::stmatrix_x1(shared, r0);
  ptx::stmatrix_x1_trans(shared, r0);
  ptx::stmatrix_x2(shared, r0, r1);
  ptx::stmatrix_x4(shared, r0, r1, r2, r3);
  ptx::stmatrix_x4_trans(shared, r0, r1, r2, r3);
  float x = in[threadIdx.x];
  x = ptx::ex2_approx_ftz_f32(x) + ptx::lg2_approx_ftz_f32(x) + ptx::rsqrt_approx_ftz_f32(x) +
      ptx::rcp_approx_ftz_f32(x) + choreo::quad_sum(x);
  uint32_t pairs[2] = {choreo::pack<__nv_bfloat16>(x, 1.0f), choreo::pack<__half>(x, 1.0f)};
  choreo::set<__half>(pairs, 3, choreo::get<__nv_bfloat16>(pairs, 1));
  float values[4];
  choreo::unpack<__half>(values, pairs);
  choreo::pack<__nv_bfloat16>(pairs, values);
  ptx::tie(pairs);
  x += choreo::to_f32(choreo::from_f32<__half>(values[0])) + choreo::unpack<__half>(pairs[0], 1);
  choreo::latch_error(word, x < 0.0f, 1, 42);
  r0 += static_cast<uint32_t>(ptx::pin(r1));
  out[threadIdx.x] = x + static_cast<float>(ptx::shfl_sync_bfly<4>(r0) + ptx::elect_sync());
}

__global__ void __launch_bounds__(128, 1)
    tma_kernel(const __grid_constant__ CUtensorMap map, uint32_t parity) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const uint32_t tile = choreo::shared_address(memory), mbar = tile + 4096;
  ptx::setmaxnreg_dec<24>();
  ptx::setmaxnreg_inc<240>();
  if (threadIdx.x == 0) {
    ptx::prefetch_tensormap(&map);
    ptx::mbarrier_init(mbar, 1);
    ptx::fence_mbarrier_init();
    const uint64_t first = ptx::createpolicy_evict_first(), last = ptx::createpolicy_evict_last();
    ptx::mbarrier_arrive_expect_tx(mbar, 4096);
    ptx::cp_async_bulk_tensor_1d_shared_global(tile, &map, 0, mbar);
    ptx::cp_async_bulk_tensor_2d_shared_global(tile, &map, 0, 0, mbar);
    ptx::cp_async_bulk_tensor_3d_shared_global(tile, &map, 0, 0, 0, mbar, first);
    ptx::cp_async_bulk_tensor_4d_shared_global(tile, &map, 0, 0, 0, 0, mbar, last);
    ptx::cp_async_bulk_tensor_5d_shared_global(tile, &map, 0, 0, 0, 0, 0, mbar, last);
    ptx::mbarrier_arrive(mbar);
  }
  __syncthreads();
  if (!ptx::mbarrier_try_wait_parity(mbar, parity)) ptx::mbarrier_wait_parity(mbar, parity);
  ptx::mbarrier_wait_parity(mbar, parity ^ 1);
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_tensor_1d_global_shared(&map, 0, tile);
    ptx::cp_async_bulk_tensor_2d_global_shared(&map, 0, 0, tile);
    ptx::cp_async_bulk_tensor_3d_global_shared(&map, 0, 0, 0, tile);
    ptx::cp_async_bulk_tensor_4d_global_shared(&map, 0, 0, 0, 0, tile);
    ptx::cp_async_bulk_tensor_5d_global_shared(&map, 0, 0, 0, 0, 0, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read<0>();
    ptx::cp_async_bulk_wait_group<0>();
    ptx::mbarrier_inval(mbar);
  }
}

// The shape of a generated host function.
void launch_memory(choreo::view<const float, 1> in, choreo::view<float, 1> out,
                   choreo::Stream stream = {}) {
  namespace host = choreo::host;
  static host::KernelCache cache;
  static const host::CheckInfo checks[] = {{"x is negative", "memory.co"}};
  const host::Tensor t_in = host::describe("launch_memory", "in", in);
  const host::Tensor t_out = host::describe("launch_memory", "out", out);
  host::check_extent_bound(t_out, 0, "N", t_in, 0);
  host::check_no_overlap(t_out, t_in);
  host::Launch launch("launch_memory", stream, {t_in, t_out});
  const host::ErrorSlot slot("launch_memory", stream, checks, 1);
  launch.run(cache, host::Geometry{1, 1, 1, 128, 8192}, memory_kernel, in.data, out.data,
             slot.device());
  slot.defer();
}

void launch_tma(choreo::view<const float, 2> in, choreo::Stream stream = {}) {
  namespace host = choreo::host;
  static host::KernelCache cache;
  static host::TensorMaps maps(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, {32, 32}, 128);
  const host::Tensor t_in = host::describe("launch_tma", "in", in);
  host::check_tensor_map(t_in);
  host::Launch launch("launch_tma", stream, {t_in});
  launch.run(cache, host::Geometry{0, 1, 1, 128, 8192}, tma_kernel, maps.of(t_in, launch.device()),
             0u);
}

choreo::status launch_memory_noexcept(choreo::view<const float, 1> in, choreo::view<float, 1> out,
                                      choreo::Stream stream = {}) noexcept {
  return choreo::host::to_status([&] { launch_memory(in, out, stream); });
}

// Run on a machine without a GPU, it must say so and nothing else; with one, it must succeed.
int main() {
  try {
    choreo::Buffer<float> in(128), out(128);
    in.fill_byte(0);
    choreo::Event start, stop;
    start.record();
    launch_memory(in.view(128), out.view(128), choreo::Stream::create());
    stop.record();
    (void)stop.ms_since(start);
    std::vector<float> host_memory(256, 1.0f);
    const choreo::view<float, 1> strided{host_memory.data(), {128}, {2}};
    choreo::host::Staged staged(strided);
    launch_memory(in.view(128), staged.device());
    launch_tma(in.view(4, 32));
    staged.copy_back();
    return launch_memory_noexcept(in.view(128), out.view(128)) == choreo::status::ok ? 0 : 1;
  } catch (const choreo::error& e) {
    return e.code == choreo::status::no_device ? 3 : 1;
  }
}
