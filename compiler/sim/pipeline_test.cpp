// Rings of mbarriers, TMA and register plans: each hazard with and without the bug.
#include "sim/pipeline_test_util.h"

namespace choreo::sim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Dump(const Report& report) {
  std::string text;
  for (const Finding& f : report.findings) {
    text += fmt::format("\n  {}:{} {}:{} {}", f.loc.line, f.loc.column, f.loc2.line, f.loc2.column,
                        f.message);
  }
  return text;
}

std::string Without(const std::string& text, const std::string& part) {
  return Replaced(text, part, "");
}

// The first finding is the expected one, whatever the schedule; its text holds `words`.
void ExpectFirst(const std::string& body, const std::string& kind, const std::string& words,
                 PipelineRun run = {}) {
  for (run.seed = 0; run.seed < 3; ++run.seed) {
    const PipelineResult result = RunPipeline(body, run);
    ASSERT_THAT(result.kinds, Contains(kind)) << Dump(result.report) << "\nseed " << run.seed;
    const auto at = static_cast<size_t>(std::find(result.kinds.begin(), result.kinds.end(), kind) -
                                        result.kinds.begin());
    EXPECT_THAT(result.report.findings[at].message, HasSubstr(words));
  }
}

void ExpectSilent(const std::string& body, PipelineRun run = {}) {
  for (run.seed = 0; run.seed < 4; ++run.seed) {
    const PipelineResult result = RunPipeline(body, run);
    EXPECT_THAT(result.kinds, IsEmpty()) << Dump(result.report) << "\nseed " << run.seed;
    EXPECT_TRUE(result.right);
  }
}

TEST(PipelineTest, SilentAndRightAtEveryTripCount) {
  for (const int slices : {1, 2, 3, 5, 8}) ExpectSilent(PipelineBody(), {.slices = slices});
  EXPECT_THAT(RunPipeline(PipelineBody(), {.slices = 3, .seed = 77}).kinds, IsEmpty());
}

// ---- who releases and who waits ----

TEST(PipelineTest, ReleaseBeforeTheMmaIsWaited) {
  std::string body = Without(PipelineBody(), "wgmma.wait pending=0 loc(16:1)");
  body = Replaced(body, "loc(17:2) }", "loc(17:2) }\nwgmma.wait pending=0 loc(16:1)");
  ExpectFirst(body, "SimRace 6:1 14:1",
              "write of `a_s` by TMA for warp 0 lane 0 (producer) is not ordered after the read by "
              "the tensor core (warpgroup 1)");
  // A wait that leaves the newest group in flight is none.
  ExpectFirst(Replaced(PipelineBody(), "wgmma.wait pending=0", "wgmma.wait pending=1"),
              "SimRace 6:1 14:1", "");
}

TEST(PipelineTest, MissingWaitForTheLoad) {
  const std::string body =
      Without(PipelineBody(),
              "mbarrier.wait event=$full slot=(%k.1 % 2) parity=((%k.1 / 2) % 2) loc(12:1)");
  const PipelineResult result = RunPipeline(body);
  EXPECT_THAT(result.kinds, Contains(testing::StartsWith("Sim")));
  EXPECT_THAT(result.kinds,
              testing::AnyOf(Contains("SimCopyInFlight 14:1 6:1"), Contains("SimRace 14:1 6:1"),
                             Contains("SimUninitialisedRead 14:1 0:0")));
}

TEST(PipelineTest, MissingWaitForTheSlot) {
  const std::string body =
      Without(PipelineBody(),
              "mbarrier.wait event=$empty slot=(%k % 2) parity=(((%k / 2) % 2) ^ 1) loc(4:1)");
  const PipelineResult result = RunPipeline(body);
  EXPECT_THAT(result.kinds,
              testing::AnyOf(Contains("SimCopyInFlight 6:1 6:1"), Contains("SimRace 6:1 6:1")))
      << Dump(result.report);
}

TEST(PipelineTest, ReleaseByAWarpThatKnowsNothingOfTheOthers) {
  // Each warp reads its part by ordinary loads; warp 4's elected lane releases for all.
  const std::string read =
      "wgmma.wait pending=0 loc(16:1)\nldmatrix frag=$p word=0 src=$a_s index=((((%k.1 % 2) * "
      "4096) + (warp() * 512)) + (lane() * 8)) count=4 loc(16:2)\n";
  std::string body = Replaced(PipelineBody(), "wgmma.wait pending=0 loc(16:1)", read);
  ExpectFirst(body, "SimRace 6:1 16:2", "write of `a_s` by TMA");
  // A barrier of the path orders them, but the reads are ordinary ones: they need a fence.
  body = Replaced(body, "loc(16:2)\n", "loc(16:2)\nbarrier.sync id=2 threads=128 loc(16:3)\n");
  ExpectFirst(body, "SimMissingProxyFence 6:1 16:2", "was not fenced");
  ExpectSilent(Replaced(body, "barrier.sync id=2", "fence.proxy.async\nbarrier.sync id=2"));
}

// ---- counts and bytes ----

TEST(PipelineTest, TooManyArrivalsExpected) {
  const std::string body = Replaced(PipelineBody(), "event=$empty count=1", "event=$empty count=2");
  ExpectFirst(body, "SimDeadlock 4:1 12:1",
              "deadlock: warp 0 (producer) waits for generation 1 of slot 0 of `empty` (1 of 2 "
              "arrivals, the last arrival at 17:2) at 4:1; warps 4-7 (consumer) wait for "
              "generation 1 of slot 0 of `full` (0 of 1 arrivals");
}

TEST(PipelineTest, TooFewArrivalsExpected) {
  // Both threads of the pair arrive, but one arrival completes the generation.
  const std::string body = Replaced(PipelineBody(), "if condition=(tid() == 128) loc(17:1)",
                                    "if condition=((tid() == 128) || (tid() == 160)) loc(17:1)");
  ExpectSilent(Replaced(body, "event=$empty count=1", "event=$empty count=2"));
  EXPECT_THAT(RunPipeline(body).kinds, Contains(testing::StartsWith("SimWrongGeneration 17:2")));
}

TEST(PipelineTest, MoreArrivalsThanCount) {
  // Two arrivals for the phase whose bytes have not come.
  const std::string expect =
      "mbarrier.arrive.expect_tx event=$full slot=(%k % 2) bytes=16384 loc(5:1)";
  ExpectFirst(Replaced(PipelineBody(), expect,
                       expect + "\nmbarrier.arrive event=$full slot=(%k % 2) loc(5:2)"),
              "SimMbarrierCount 5:2 1:2",
              "arrives at slot 0 of `full`, but generation 0 has all its 1 arrivals");
}

TEST(PipelineTest, WrongBytes) {
  ExpectFirst(Replaced(PipelineBody(), "bytes=16384", "bytes=32768"),
              "SimTransactionBytes 5:1 12:1",
              "16384 bytes that were announced for generation 0 of slot 0 of `full` never come");
  const PipelineResult few = RunPipeline(Replaced(PipelineBody(), "bytes=16384", "bytes=8192"));
  EXPECT_THAT(few.kinds, testing::AnyOf(Contains("SimTransactionBytes 7:1 5:1"),
                                        Contains("SimTransactionBytes 6:1 5:1")))
      << Dump(few.report);
  // The loads of the other slot's bytes do not help: each slot counts for itself.
  ExpectFirst(Replaced(PipelineBody(), "event=$full slot=(%k % 2) policy=none loc(7:1)",
                       "event=$full slot=((%k + 1) % 2) policy=none loc(7:1)"),
              "SimTransactionBytes 5:1 12:1", "8192 bytes");
}

TEST(PipelineTest, MoreBytesThanAnMbarrierCounts) {
  const std::string body = Replaced(PipelineBody(), "bytes=16384", "bytes=1048575");
  const std::string arrive =
      "mbarrier.arrive.expect_tx event=$full slot=(%k % 2) bytes=1048575 loc(5:1)";
  ExpectFirst(Replaced(body, arrive, arrive + "\n" + arrive), "SimTransactionBytes 5:1 0:0",
              "an mbarrier counts to 1048575", {.slices = 1});
}

// ---- orders, parities, generations ----

TEST(PipelineTest, WrongParity) {
  ExpectFirst(
      Replaced(PipelineBody(), "parity=(((%k / 2) % 2) ^ 1)", "parity=((%k / 2) % 2)"),
      "SimWrongGeneration 4:1 91:1",
      "warp 0 lane 0 (producer) waits for an odd generation of slot 0 of `empty`, but after "
      "0 earlier waits it is at generation 0 of slot 0");
  ExpectFirst(Replaced(PipelineBody(), "parity=((%k.1 / 2) % 2)", "parity=0"),
              "SimWrongGeneration 12:1 90:1", "it is at generation 1 of slot 0");
}

TEST(PipelineTest, WrongSlot) {
  ExpectFirst(Replaced(PipelineBody(), "event=$empty slot=(%k.1 % 2)", "event=$empty slot=0"),
              "SimWrongGeneration 17:2 91:1",
              "arrives at slot 0 of `empty`, but its next arrival is at slot 1");
  ExpectFirst(Replaced(PipelineBody(), "event=$full slot=(%k.1 % 2) parity=((%k.1 / 2) % 2)",
                       "event=$full slot=0 parity=(%k.1 % 2)"),
              "SimWrongGeneration 12:1 90:1",
              "after 1 earlier waits it is at generation 0 of slot 1");
}

TEST(PipelineTest, CounterResetBetweenTasks) {
  // The loop body twice, as for two tasks: fine while the second loop goes on counting.
  const auto twice = [](const std::string& low) {
    std::string body = PipelineBody();
    for (const char* var : {"%k low=0 high=(%K / 64)", "%k.1 low=0 high=(%K / 64)"}) {
      const size_t head = body.find(std::string("for var=") + var);
      const size_t indent = head - body.rfind('\n', head) - 1;
      const size_t end = body.find("\n" + std::string(indent, ' ') + "}\n", head) + indent - 2;
      EXPECT_NE(end, std::string::npos);
      std::string loop = body.substr(head, end + 5 - head);
      loop = Replaced(loop, "low=0 high=(%K / 64)", "low=" + low);
      body.insert(end + 5, "\n" + loop);
    }
    return body;
  };
  // Slices 5, 6 and 7 belong to the second loop (of eight).
  std::string going_on = twice("5 high=(%K / 64)");
  for (int i = 0; i < 2; ++i) going_on = Replaced(going_on, "low=0 high=(%K / 64)", "low=0 high=5");
  ExpectSilent(going_on, {.slices = 8});
  const PipelineResult reset = RunPipeline(twice("0 high=(%K / 64)"), {.slices = 3});
  EXPECT_THAT(reset.kinds, Contains("SimWrongGeneration 4:1 91:1")) << Dump(reset.report);
}

TEST(PipelineTest, AWarpThatCanMissTwoPhases) {
  // Slices are skipped: waited for and released without an MMA. Nothing joins the four warps.
  std::string body = PipelineBody();
  const size_t head = body.find("wgmma.fence loc(13:1)");
  const size_t end = body.find("if condition=(tid() == 128) loc(17:1)");
  body.replace(head, end - head, "");
  const size_t epilogue = body.find("for var=%i low=0 high=16");
  body = body.substr(0, epilogue) + "}";
  const PipelineResult missed = RunPipeline(body);
  EXPECT_THAT(missed.kinds, ElementsAre("SimPhaseMissed 12:1 5:1")) << Dump(missed.report);
  EXPECT_THAT(missed.report.findings[0].message,
              HasSubstr("nothing keeps generation 1 of slot 0 of `full` from completing before "
                        "warp 5 (consumer) has passed its wait for generation 0"));
  const std::string joined =
      Replaced(body, "if condition=(tid() == 128) loc(17:1)",
               "barrier.sync id=2 threads=128\nif condition=(tid() == 128) loc(17:1)");
  EXPECT_THAT(RunPipeline(joined).kinds, IsEmpty());
}

// ---- initialisation ----

TEST(PipelineTest, MbarrierNotInitialised) {
  const PipelineResult never =
      RunPipeline(Without(PipelineBody(), "mbarrier.init event=$full count=1 loc(1:2)"));
  EXPECT_THAT(never.kinds, ElementsAre("SimMbarrierInit 5:1 90:1")) << Dump(never.report);
  EXPECT_THAT(never.report.findings[0].message,
              HasSubstr("uses slot 0 of `full`, which was never initialised"));
  ExpectFirst(Without(PipelineBody(), "fence.mbarrier_init loc(1:4)"), "SimMbarrierInit 4:1 1:3",
              "no `fence.mbarrier_init` followed");
  // Without the barrier other threads are not ordered after it.
  const PipelineResult result = RunPipeline(Without(PipelineBody(), "barrier.cta loc(1:5)"));
  EXPECT_THAT(result.kinds, Contains("SimMbarrierInit 12:1 1:2")) << Dump(result.report);
  ExpectFirst(Replaced(PipelineBody(), "fence.mbarrier_init loc(1:4)",
                       "mbarrier.init event=$full count=1 loc(1:3)\nfence.mbarrier_init loc(1:4)"),
              "SimMbarrierInit 1:3 1:2", "slot 0 of `full` is initialised more than once");
}

// ---- proxies ----

TEST(PipelineTest, StoreOfOrdinaryWritesNeedsAFence) {
  ExpectFirst(Without(PipelineBody(), "fence.proxy.async loc(32:1)"),
              "SimMissingProxyFence 35:1 31:2",
              "read of `c_s` by TMA for warp 4 lane 0 (consumer) goes through the async proxy");
  std::string body = Without(PipelineBody(), "fence.proxy.async loc(32:1)");
  body = Replaced(body, "loc(33:1)", "loc(33:1)\nfence.proxy.async loc(33:2)");
  ExpectFirst(body, "SimMissingProxyFence 35:1 31:2", "");
  ExpectFirst(Without(PipelineBody(), "barrier.sync id=1 threads=128 loc(33:1)"),
              "SimRace 35:1 31:2", "is not ordered after the write by warp");
}

TEST(PipelineTest, LoadOverOrdinaryWritesNeedsAFence) {
  // The slots are filled with zeros before the roles begin.
  const auto fill = [](const std::string& fence) {
    return Replaced(PipelineBody(), "barrier.cta loc(1:5)",
                    "st storage=$a_s index=tid() value=bf16(0.0) loc(1:6)\n" + fence +
                        "\nbarrier.cta loc(1:5)");
  };
  ExpectFirst(fill(""), "SimMissingProxyFence 6:1 1:6", "write of `a_s` by TMA");
  ExpectSilent(fill("fence.proxy.async"));
}

TEST(PipelineTest, StoreNotWaitedFor) {
  ExpectFirst(Without(PipelineBody(), "tma.store.wait pending=0 read=true loc(37:1)"),
              "SimStoreNotWaited 35:1 0:0",
              "the kernel ends while the store of `c_s` by warp 4 lane 0 (consumer)");
  ExpectFirst(Without(PipelineBody(), "tma.store.commit loc(36:1)"), "SimStoreNotWaited 35:1 0:0",
              "");
  ExpectFirst(Replaced(PipelineBody(), "tma.store.wait pending=0", "tma.store.wait pending=1"),
              "SimStoreNotWaited 35:1 0:0", "");
}

TEST(PipelineTest, LoadNotWaitedFor) {
  // A slice more than the consumer takes: it lands when the CTA may be gone.
  const std::string low = "for var=%k low=0 high=(%K / 64)";
  const std::string body = Replaced(PipelineBody(), low, "for var=%k low=0 high=((%K / 64) + 1)");
  const std::string words =
      "the load of `a_s` by warp 0 lane 0 (producer) may still write shared memory: no warp waits "
      "for generation 2 of slot 1 of `full`";
  ExpectFirst(body, "SimLoadNotAwaited 6:1 90:1", words);
  ExpectFirst(body, "SimLoadNotAwaited 7:1 90:1", "the load of `b_s`");
  // Any warp may wait, and after what it knows from the others; it need not use the data.
  const std::string epilogue = "for var=%i low=0 high=16";
  const std::string wait =
      "mbarrier.wait event=$full slot=((%K / 64) % 2) parity=(((%K / 64) / 2) % 2)\n";
  ExpectSilent(Replaced(body, epilogue, wait + epilogue));
  ExpectSilent(Replaced(body, epilogue,
                        "if condition=(tid() == 200) then_body { " + wait + "}\n" + epilogue));
}

TEST(PipelineTest, SourceOfAStoreWrittenTooEarly) {
  const std::string write = "st storage=$c_s index=(tid() - 128) value=bf16(0.0) loc(40:1)\n";
  const std::string end = "loc(37:1)\n  }\n";
  // The thread that waited may write; the others learn of it by a barrier.
  ExpectFirst(Replaced(PipelineBody(), end, end + write), "SimRace 40:1 35:1",
              "write of `c_s` by warp 4 lane 1 (consumer) is not ordered after the read by TMA for "
              "warp 4 lane 0 (consumer)");
  ExpectSilent(Replaced(PipelineBody(), end, end + "barrier.sync id=1 threads=128\n" + write));
}

TEST(PipelineTest, OverlappingStores) {
  const std::string store = "tma.store.box map=2 at=[0, 0] src=$c_s src_index=0 loc(35:1)";
  const std::string other = Replaced(PipelineBody(), "if condition=(tid() == 128) loc(34:1)",
                                     "if condition=((tid() == 128) || (tid() == 160)) loc(34:1)");
  ExpectFirst(other, "SimRace 35:1 35:1", "write of `C` by TMA for warp");
  // Apart by their coordinates: fine (the second box lies outside and is not written).
  ExpectSilent(Replaced(other, store,
                        "tma.store.box map=2 at=[((warp() - 4) * 64), 0] src=$c_s src_index=0 "
                        "loc(35:1)"));
}

// ---- boxes ----

TEST(PipelineTest, TailsAreZeroFilledAndClipped) {
  // The last slice reaches past K: 300 = 4 · 64 + 44.
  const Aligned<bf16> a(RandomBf16(64 * 304, 1)), b(RandomBf16(64 * 304, 2));
  Aligned<bf16> c(64 * 64, bf16(NAN));
  const std::string tables =
      Replaced(Replaced(kPipelineTables, "strides=[s64(%K)", "strides=[304:s64"),
               "strides=[s64(%K)", "strides=[304:s64");
  std::string body = PipelineBody();
  for (int i = 0; i < 2; ++i) body = Replaced(body, "high=(%K / 64)", "high=cdiv(%K, 64)");
  const auto module = ReadKernel(LoweredText(tables, kPipelineHost, body));
  view<bf16, 2> va{a.data, {64, 300}, {304, 1}}, vb{b.data, {64, 300}, {304, 1}};
  const Report report = RunKernel(module, {}, va, vb, row_major(c.data, 64, 64));
  EXPECT_THAT(Kinds(report), IsEmpty()) << Dump(report);
  for (size_t i = 0; i < 64; ++i) {
    for (size_t j = 0; j < 64; ++j) {
      float want = 0;
      for (size_t x = 0; x < 300; ++x) {
        want += static_cast<float>(a.data[i * 304 + x]) * static_cast<float>(b.data[j * 304 + x]);
      }
      EXPECT_NEAR(static_cast<float>(c[i * 64 + j]), want, 0.01f * std::fabs(want) + 0.01f);
    }
  }
}

TEST(PipelineTest, SwizzleOfTheMapMustBeThatOfTheDescriptors) {
  for (const char* swizzle : {"swizzle=0", "swizzle=32"}) {
    const std::string box =
        swizzle == std::string("swizzle=32") ? "box=[64, 16] " : "box=[64, 64] ";
    const std::string host = Replaced(kPipelineHost, "(param=0 box=[64, 64] swizzle=128)",
                                      "(param=0 " + box + swizzle + ")");
    EXPECT_FALSE(RunPipeline(PipelineBody(), {.host = host}).right) << swizzle;
  }
}

TEST(PipelineTest, MisplacedBox) {
  ExpectFirst(Replaced(PipelineBody(), "dst=$a_s dst_index=((%k % 2) * 4096)",
                       "dst=$a_s dst_index=(((%k % 2) * 2048) + 8)"),
              "SimMisaligned 6:1 0:0", "");
  ExpectFirst(Replaced(PipelineBody(), "dst=$a_s dst_index=((%k % 2) * 4096)",
                       "dst=$a_s dst_index=((%k % 3) * 4096)"),
              "SimOutOfBounds 6:1 0:0", "");
}

// ---- registers and named barriers ----

TEST(PipelineTest, RegisterPlans) {
  ExpectFirst(Replaced(PipelineBody(), "increase=true count=240", "increase=true count=160"),
              "SimRegisterPlan 10:2 0:0",
              "setmaxnreg.inc to 160 registers, but warpgroup 1 has 168");
  ExpectFirst(Replaced(PipelineBody(), "increase=false count=40", "increase=false count=200"),
              "SimRegisterPlan 2:2 0:0",
              "setmaxnreg.dec to 200 registers, but warpgroup 0 has 168");
  // 168 · 2 = 336 registers in all: 104 + 240 are 8 too many.
  ExpectFirst(Replaced(PipelineBody(), "increase=false count=40", "increase=false count=104"),
              "SimDeadlock 4:1 10:2",
              "warps 4-7 (consumer) wait for registers (72 more for each thread, 64 are free)");
  ExpectSilent(Replaced(PipelineBody(), "increase=false count=40", "increase=false count=96"));
  ExpectFirst(Replaced(PipelineBody(), "setmaxnreg increase=false count=40 loc(2:2)",
                       "if condition=(warp() < 3) then_body { setmaxnreg increase=false count=40 "
                       "loc(2:2) }"),
              "SimDeadlock 2:2 10:2", "for the other warps of setmaxnreg");
  const PipelineResult two = RunPipeline(Replaced(
      PipelineBody(), "setmaxnreg increase=false count=40 loc(2:2)",
      "if condition=(warp() < 3) then_body { setmaxnreg increase=false count=40 loc(2:2) } "
      "else_body { setmaxnreg increase=false count=48 loc(2:3) }"));
  EXPECT_THAT(two.kinds, ElementsAre("SimRegisterPlan 2:3 2:2"));
}

TEST(PipelineTest, NamedBarrierHandOff) {
  // Warp 1 fills, warp 0 reads and says when the tile is free again (barrier 2, ready at first).
  const std::string tables = R"(
vars { %i type=s32 kind=loop; %j type=s32 kind=loop; }
storages {
  $out kind=param elem=s32 dims=[64] param_index=0 strides=[1:s64];
  $s kind=shared elem=s32 dims=[64] swizzle=0 byte_offset=0 tile_bytes=256;
}
params { name="out" elem=s32 shaped=true written=true storage=$out; })";
  const std::string body = R"(
if condition=(warp() == 0) then_body {
  barrier.arrive id=2 threads=64 loc(2:1)
  for var=%i low=0 high=4 step=1 unroll=0 body {
    barrier.sync id=1 threads=64 loc(3:1)
    st storage=$out index=s64(lane()) value=$s[(31 - lane())] loc(4:1)
    if condition=(%i < 3) then_body { barrier.arrive id=2 threads=64 loc(5:1) }
  }
} else_body {
  for var=%j low=0 high=4 step=1 unroll=0 body {
    barrier.sync id=2 threads=64 loc(6:1)
    st storage=$s index=lane() value=(lane() + %j) loc(7:1)
    barrier.arrive id=1 threads=64 loc(8:1)
  }
})";
  const auto run = [&](const std::string& text, uint64_t seed) {
    std::vector<int32_t> out(64, -1);
    RunOptions options;
    options.schedule_seed = seed;
    const Report report =
        RunKernel(ReadKernel(LoweredText(tables, "threads=64 shared_bytes=256", text)), options,
                  row_major(out.data(), 64));
    EXPECT_TRUE(!report.ok() || out[0] == 34);
    return Kinds(report);
  };
  for (const uint64_t seed : {0, 1, 2, 3}) {
    EXPECT_THAT(run(body, seed), IsEmpty());
    // The reader frees the tile before it has read it.
    std::string early = Without(
        body, "if condition=(%i < 3) then_body { barrier.arrive id=2 threads=64 loc(5:1) }");
    early = Replaced(
        early, "loc(3:1)\n",
        "loc(3:1)\nif condition=(%i < 3) then_body { barrier.arrive id=2 threads=64 loc(5:1) }\n");
    EXPECT_THAT(run(early, seed),
                testing::AnyOf(Contains("SimRace 7:1 4:1"), Contains("SimRace 4:1 7:1")));
    EXPECT_THAT(run(Without(body, "barrier.arrive id=2 threads=64 loc(2:1)"), seed),
                ElementsAre("SimDeadlock 3:1 6:1"));
    EXPECT_THAT(
        run(Replaced(body, "loc(2:1)\n", "loc(2:1)\nbarrier.arrive id=2 threads=64 loc(2:2)\n"), 0),
        Contains("SimBarrierMismatch 2:2 2:1"));
  }
}

}  // namespace
}  // namespace choreo::sim
