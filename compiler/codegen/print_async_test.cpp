// Ops of roles, barriers, mbarriers and TMA: what is printed for each, and what the host prepares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codegen/codegen.h"
#include "ir/reader.h"

namespace choreo::codegen {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two tensors `x` (elements of `elem`) and `y`, tiles, a ring of two events and a single one.
std::string Kernel(const std::string& body, const std::string& host = "async=false",
                   const std::string& elem = "bf16", const std::string& x_param = "") {
  return fmt::format(R"(module state=lowered source="k.co"
line 9 "wait full.at(i);"
kernel "k" {{
  vars {{
    %n type=s32 kind=dim; %s type=s64 kind=stride; %i type=s32 kind=mutable;
    %c type=bool kind=param; %policy type=u64 kind=let; %keep type=u64 kind=let;
    %any type=bool kind=let;
  }}
  storages {{
    $x kind=param elem={} dims=[%n, 64] param_index=0 strides=[%s, 1:s64];
    $y kind=param elem=f32 dims=[%n, 8, 4, 2, 64] param_index=1
      strides=[4096:s64, 512:s64, 128:s64, 64:s64, 1:s64];
    $x_s kind=shared elem={} dims=[64, 64] array_size=2 swizzle=0 byte_offset=0 tile_bytes=65536;
    $y_s kind=shared elem=f32 dims=[64] swizzle=0 byte_offset=131072 tile_bytes=256;
    $full kind=event elem=u64 dims=[] array_size=2 byte_offset=131328;
    $one kind=event elem=u64 dims=[] array_size=1 byte_offset=131344;
    $named kind=event elem=u64 dims=[] array_size=1;
  }}
  params {{
    name="x" elem={} shaped=true storage=$x {};
    name="y" elem=f32 shaped=true written=true storage=$y;
    name="c" elem=bool var=%c;
  }}
  host {{
    threads=256 shared_bytes=131352 {}
    maps=[(param=0 box=[64, 64] swizzle=0), (param=1 box=[1, 1, 1, 1, 64] swizzle=0),
          (param=0 box=[32, 16] swizzle=128)]
    body {{ }}
  }}
  body {{
    decl storage=$full decl storage=$named
    var var=%i init=0
    {}
  }}
}})",
                     elem, elem, elem, x_param, host, body);
}

std::string Cuda(const std::string& ir, int debug_waits_ms = 0) {
  SourceManager sources;
  diag::Emitter diags;
  const auto module = ir::ReadModule(sources, sources.Add("test.ir", ir), diags);
  for (const auto& d : diags.diagnostics()) {
    const LineColumn at = sources.Position(d.range.begin);
    ADD_FAILURE() << at.line << ":" << at.column << ": " << d.message;
  }
  if (!module) return "";
  Program program{*module, {}, {}, "1.2.3", "00ff", ""};
  program.debug_waits_ms = debug_waits_ms;
  return PrintCuda(program);
}

// The statements printed for an op: what follows the declaration of `i`.
std::string Statement(const std::string& op) {
  const std::string text = Cuda(Kernel(op));
  const std::string before = "  int i = 0;\n";
  const size_t at = text.find(before) + before.size();
  return text.substr(at, text.find("}\n\n}  // namespace", at) - at);
}

TEST(CodegenAsyncTest, NamedBarriers) {
  EXPECT_EQ(Statement("barrier.arrive id=3 threads=256"), "  ptx::bar_arrive<3, 256>();\n");
  EXPECT_EQ(Statement("barrier.arrive id=(%i + 1) threads=96"),
            "  ptx::bar_arrive<96>(static_cast<uint32_t>(i + 1));\n");
  EXPECT_EQ(Statement("barrier.sync id=3 threads=256"), "  ptx::bar_sync<3, 256>();\n");
}

TEST(CodegenAsyncTest, Votes) {
  EXPECT_EQ(Statement("vote var=%any value=(%i > 2) threads=32"),
            "  const bool any = ptx::vote_any(i > 2);\n");
  EXPECT_EQ(Statement("barrier.vote var=%any value=(%i > 2) id=((warp() / 4) + 3) threads=128"),
            "  const bool any = ptx::bar_red_or<128>(warp / 4 + 3, i > 2);\n");
}

TEST(CodegenAsyncTest, Roles) {
  EXPECT_EQ(Statement(R"(role name="producer" first_thread=128 threads=32)"),
            "  // role producer: threads 128 to 159\n");
  EXPECT_EQ(Statement("setmaxnreg increase=true count=240"), "  ptx::setmaxnreg_inc<240>();\n");
  EXPECT_EQ(Statement("setmaxnreg increase=false count=24"), "  ptx::setmaxnreg_dec<24>();\n");
}

TEST(CodegenAsyncTest, Mbarriers) {
  EXPECT_EQ(Statement("mbarrier.init event=$one count=3"),
            "  ptx::mbarrier_init(choreo::shared_address(one), 3);\n");
  EXPECT_EQ(Statement("mbarrier.init event=$full count=1 fence.mbarrier_init"),
            "  #pragma unroll\n"
            "  for (int slot = 0; slot < 2; ++slot) {\n"
            "    ptx::mbarrier_init(choreo::shared_address(full + slot), 1);\n"
            "  }\n"
            "  ptx::fence_mbarrier_init();\n");
  EXPECT_EQ(Statement("mbarrier.arrive event=$full slot=1"),
            "  ptx::mbarrier_arrive(choreo::shared_address(full + 1));\n");
  EXPECT_EQ(Statement("mbarrier.arrive.expect_tx event=$full slot=(%i % 2) bytes=4096"),
            "  ptx::mbarrier_arrive_expect_tx(choreo::shared_address(full + i % 2), 4096);\n");
  EXPECT_EQ(Statement("mbarrier.wait event=$full slot=(%i & 1) parity=((%i >> 1) & 1)"),
            "  ptx::mbarrier_wait_parity(choreo::shared_address(full + (i & 1)), (i >> 1) & 1);\n");
}

TEST(CodegenAsyncTest, EventsArePlacedLikeTilesUnlessTheyHaveNoPlace) {
  const std::string text = Cuda(Kernel("mbarrier.arrive event=$full slot=1"));
  EXPECT_THAT(text, HasSubstr("//   full         event [2]  at 131328, mbarriers\n"));
  EXPECT_THAT(
      text,
      HasSubstr("uint64_t* const full = reinterpret_cast<uint64_t*>(shared_memory + 131328);"));
  EXPECT_THAT(text, Not(HasSubstr("named")));
  EXPECT_THAT(Cuda(Kernel("mbarrier.arrive event=$one slot=0")),
              HasSubstr("//   one          event  at 131344, mbarrier\n"));
}

TEST(CodegenAsyncTest, BoxesAreLoadedInnermostCoordinateFirst) {
  EXPECT_THAT(Statement("tma.load.box map=0 at=[(%i * 64), 32] dst=$x_s dst_index=(%i * 4096) "
                        "event=$full slot=%i policy=none"),
              HasSubstr("cp_async_bulk_tensor_2d_shared_global(choreo::shared_address(x_s + i * "
                        "4096), &x_map, 32,\n      i * 64, choreo::shared_address(full + i));\n"));
  EXPECT_THAT(
      Statement("let var=%policy value=policy.evict_first() let var=%keep "
                "value=policy.evict_last() tma.load.box map=1 at=[%i, 4, 3, 2, 1] dst=$y_s "
                "dst_index=0 event=$one slot=0 policy=%policy"),
      testing::AllOf(
          HasSubstr("  const uint64_t policy = ptx::createpolicy_evict_first();\n"),
          HasSubstr("  const uint64_t keep = ptx::createpolicy_evict_last();\n"),
          HasSubstr("cp_async_bulk_tensor_5d_shared_global(choreo::shared_address(y_s), "
                    "&y_map, 1, 2, 3, 4, i,\n      choreo::shared_address(one), policy);")));
}

TEST(CodegenAsyncTest, ClustersReachOtherCtas) {
  const std::string text = Cuda(Kernel(
      "barrier.cluster mbarrier.arrive.cluster event=$one slot=0 rank=lane() "
      "mbarrier.arrive.cluster event=$full slot=1 rank=3 cluster_scope=true "
      "mbarrier.wait event=$one slot=0 parity=0 cluster_scope=true "
      "tma.load.box map=1 at=[%i, 0, 3, 2, 1] dst=$y_s dst_index=0 event=$one slot=0 policy=none "
      "multicast=(axis=1 rows=2)",
      "cluster=4 async=false"));
  EXPECT_THAT(text, HasSubstr("__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__("));
  EXPECT_THAT(text,
              HasSubstr("const int cluster_rank = static_cast<int>(ptx::cluster_ctarank());\n"));
  EXPECT_THAT(text, HasSubstr("  ptx::barrier_cluster_sync();\n"
                              "  ptx::mbarrier_arrive_cluster(ptx::mapa_shared_cluster("
                              "choreo::shared_address(one), lane));\n"));
  EXPECT_THAT(text, HasSubstr("ptx::mbarrier_arrive_cluster_release(\n"
                              "      ptx::mapa_shared_cluster(choreo::shared_address(full + 1), "
                              "3));\n"));
  EXPECT_THAT(text, HasSubstr("ptx::mbarrier_wait_parity_acquire_cluster("
                              "choreo::shared_address(one), 0);\n"));
  EXPECT_THAT(text, HasSubstr("cluster_rank * 512, &y_map, 1, 2, 3, cluster_rank * 2, i,"));
  EXPECT_THAT(text, HasSubstr(", 0xf);\n"));
}

TEST(CodegenAsyncTest, BoxesAreStoredInGroups) {
  EXPECT_THAT(
      Statement("tma.store.box map=1 at=[%i, 4, 3, 2, 1] src=$y_s src_index=0 tma.store.commit "
                "tma.store.wait pending=1 read=true tma.store.wait pending=0 read=false"),
      HasSubstr("  ptx::cp_async_bulk_tensor_5d_global_shared(&y_map, 1, 2, 3, 4, i, "
                "choreo::shared_address(y_s));\n"
                "  ptx::cp_async_bulk_commit_group();\n"
                "  ptx::cp_async_bulk_wait_group_read<1>();\n"
                "  ptx::cp_async_bulk_wait_group<0>();\n"));
}

TEST(CodegenAsyncTest, EachMapThatIsUsedIsAParameterAndEncodedOnce) {
  const std::string text =
      Cuda(Kernel("tma.load.box map=2 at=[0, 0] dst=$x_s dst_index=0 event=$one slot=0 policy=none "
                  "tma.load.box map=0 at=[0, 0] dst=$x_s dst_index=0 event=$one slot=0 "
                  "policy=none"));
  EXPECT_THAT(text, HasSubstr("#include \"choreo/host/tensor_map.h\""));
  EXPECT_THAT(text, HasSubstr("k_kernel(const __grid_constant__ CUtensorMap x_map, "
                              "const __grid_constant__ CUtensorMap x_map_2) {"));
  EXPECT_THAT(text, HasSubstr("  if (threadIdx.x == 0) {\n"
                              "    ptx::prefetch_tensormap(&x_map);\n"
                              "    ptx::prefetch_tensormap(&x_map_2);\n  }\n"));
  EXPECT_THAT(text, HasSubstr("  host::check_tensor_map(x_tensor);\n"));
  EXPECT_THAT(text, Not(HasSubstr("check_tensor_map(y_tensor)")));
  EXPECT_THAT(
      text, HasSubstr("static host::TensorMaps x_maps(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, {64, 64}, "
                      "0);\n"));
  EXPECT_THAT(text, HasSubstr("static host::TensorMaps x_maps_2(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, "
                              "{32, 16}, 128);\n"));
  EXPECT_THAT(text, HasSubstr("choreo_gen::k_kernel,\n      x_maps.of(x_tensor, launch.device()), "
                              "x_maps_2.of(x_tensor, launch.device()));"));
}

TEST(CodegenAsyncTest, HostMemoryIsMappedAsItsDeviceCopy) {
  const std::string text =
      Cuda(Kernel("tma.load.box map=0 at=[0, 0] dst=$x_s dst_index=0 event=$one slot=0 policy=none",
                  "async=false", "bf16", "host_memory=true"));
  EXPECT_THAT(text, Not(HasSubstr("check_tensor_map(x_tensor)")));
  EXPECT_THAT(text, HasSubstr("  host::check_tensor_map(x_device_tensor);\n"));
  EXPECT_THAT(text, HasSubstr("x_maps.of(x_device_tensor, launch.device())"));
}

TEST(CodegenAsyncTest, MapsOfAllElementTypes) {
  const auto type = [](const std::string& elem) {
    const std::string text = Cuda(
        Kernel("tma.load.box map=0 at=[0, 0] dst=$x_s dst_index=0 event=$one slot=0 policy=none",
               "async=false", elem));
    const std::string before = "x_maps(CU_TENSOR_MAP_DATA_TYPE_";
    const size_t at = text.find(before) + before.size();
    return text.substr(at, text.find(',', at) - at);
  };
  EXPECT_EQ(type("f16"), "FLOAT16");
  EXPECT_EQ(type("f32"), "FLOAT32");
  EXPECT_EQ(type("f64"), "FLOAT64");
  EXPECT_EQ(type("s32"), "INT32");
  EXPECT_EQ(type("u32"), "UINT32");
  EXPECT_EQ(type("s64"), "INT64");
  EXPECT_EQ(type("u16"), "UINT16");
  EXPECT_EQ(type("s8"), "UINT8");
  EXPECT_EQ(type("f8_e4m3"), "UINT8");
}

const char* const kWaits = R"(
  mbarrier.wait event=$one slot=0 parity=1 loc(8:1)
  if condition=%c then_body {
    role name="producer" first_thread=0 threads=128
    mbarrier.wait event=$full slot=(%i % 2) parity=0 loc(9:3)
  } else_body {
    if condition=%c then_body {
      role name="consumer" first_thread=128 threads=128
    } else_body { }
    mbarrier.wait event=$full slot=0 parity=0 loc(10:3)
  })";

TEST(CodegenAsyncTest, DebugWaitsNameRoleEventAndLine) {
  const std::string text = Cuda(Kernel(kWaits), 250);
  EXPECT_THAT(text, HasSubstr("choreo::ErrorWord* error_word) {"));
  EXPECT_THAT(text, HasSubstr("  choreo::debug_wait<250>(choreo::shared_address(one), 1, 0, "
                              "error_word, 1, 8);\n"));
  EXPECT_THAT(text,
              HasSubstr("    choreo::debug_wait<250>(choreo::shared_address(full + i % 2), 0, i % "
                        "2, error_word, 2, 9);\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "    {\"waited 250 ms for event `one`\", \"k.co\", /*is_wait=*/true},\n"
          "    {\"role `producer` waited 250 ms for event `full`\", \"k.co\", /*is_wait=*/true},\n"
          "    {\"waited 250 ms for event `full`\", \"k.co\", /*is_wait=*/true},\n"));
  EXPECT_THAT(text, HasSubstr("const host::ErrorSlot errors(function, stream, checks, 3);"));
  EXPECT_THAT(text, HasSubstr("launch.wait(errors);"));
  EXPECT_THAT(text, Not(HasSubstr("mbarrier_wait_parity")));
}

TEST(CodegenAsyncTest, DebugWaitsOfAsyncKernelsAreReportedLater) {
  const std::string text = Cuda(Kernel(kWaits, "async=true"), 250);
  EXPECT_THAT(text, Not(HasSubstr(".wait(")));
  EXPECT_THAT(text, HasSubstr("errors.defer();"));
}

TEST(CodegenAsyncTest, WithoutDebugWaitsThereIsNoErrorWord) {
  EXPECT_THAT(Cuda(Kernel(kWaits)), Not(HasSubstr("ErrorWord")));
}

}  // namespace
}  // namespace choreo::codegen
