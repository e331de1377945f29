// Scalars, masks, memory, barriers and schedules of the machine.
#include <cmath>
#include <cstring>

#include "sim/sim_test_util.h"

namespace choreo::sim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const char* const kVectorTables = R"(
vars { %n type=s32 kind=dim; %i type=s64 kind=let; %a type=f32 kind=param; }
storages {
  $x kind=param elem=f32 dims=[%n] param_index=0 strides=[1:s64];
  $y kind=param elem=f32 dims=[%n] param_index=1 strides=[1:s64];
}
params { name="x" elem=f32 shaped=true storage=$x; name="y" elem=f32 shaped=true written=true storage=$y; name="a" elem=f32 var=%a; })";
const char* const kVectorHost = "grid=[s64(cdiv(%n, 64)), none, none] threads=64 shared_bytes=256";

TEST(MachineTest, GuardedElements) {
  const std::string text = LoweredText(kVectorTables, kVectorHost, R"(
    let var=%i value=((s64(ctaid.x()) * 64:s64) + s64(tid())) loc(3:1)
    if condition=(%i < s64(%n)) loc(4:1) then_body {
      st storage=$y index=%i value=(($x[%i] * %a) + $y[%i]) loc(5:1)
    })");
  std::vector<float> x(100), y(100, 1.0f);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const Report report = RunKernel(text, row_major(x.data(), 100), row_major(y.data(), 100), 2.0f);
  EXPECT_THAT(Kinds(report), IsEmpty());
  EXPECT_EQ(report.ctas, 2u);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], 2.0f * static_cast<float>(i) + 1.0f);

  // Without the guard the last lanes leave the vector.
  const std::string bare = Replaced(text, "(%i < s64(%n))", "(%i < 128:s64)");
  const Report bad = RunKernel(bare, row_major(x.data(), 100), row_major(y.data(), 100), 2.0f);
  EXPECT_THAT(Kinds(bad), ElementsAre("SimOutOfBounds 5:1 0:0"));
}

const char* const kOutTables = R"(
vars { %i type=s32 kind=loop; %j type=s32 kind=loop; %m type=s32 kind=mutable; %k type=s32 kind=let; %r type=f32 kind=mutable; }
storages {
  $out kind=param elem=s32 dims=[64] param_index=0 strides=[1:s64];
  $s kind=shared elem=s32 dims=[64] swizzle=0 byte_offset=0 tile_bytes=256;
  $own kind=local elem=s32 dims=[4];
}
params { name="out" elem=s32 shaped=true written=true storage=$out; })";

std::vector<int32_t> RunOut(const std::string& body, std::vector<std::string>* kinds = nullptr,
                            int threads = 64, uint64_t seed = 0) {
  std::vector<int32_t> out(64, -1);
  const std::string host = fmt::format("threads={} shared_bytes=256", threads);
  RunOptions options;
  options.schedule_seed = seed;
  options.step_limit = 1 << 20;
  const Report report = RunKernel(ReadKernel(LoweredText(kOutTables, host, body)), options,
                                  row_major(out.data(), 64));
  if (kinds != nullptr) {
    *kinds = Kinds(report);
  } else {
    EXPECT_THAT(Kinds(report), IsEmpty()) << (report.ok() ? "" : report.findings[0].message);
  }
  return out;
}

TEST(MachineTest, DivergentLoopsWithBreakContinueAndReturn) {
  const std::vector<int32_t> out = RunOut(R"(
    var var=%m init=0
    for var=%i low=0 high=tid() step=1 unroll=0 body {
      if condition=((%i % 2) == 1) then_body { continue }
      if condition=(%i > 20) then_body { break }
      for var=%j low=3 high=0 step=-1 unroll=0 body { set var=%m value=(%m + %j) }
    }
    if condition=(tid() == 5) then_body { st storage=$out index=5:s64 value=1000 return }
    else_body { set var=%m value=(%m + 100) }
    while condition=(%m > 190) body { set var=%m value=(%m - 100) }
    st storage=$out index=s64(tid()) value=%m)");
  for (int t = 0; t < 64; ++t) {
    int m = 0;
    for (int i = 0; i < t; ++i) {
      if (i % 2 == 1) continue;
      if (i > 20) break;
      m += 6;
    }
    m += 100;
    while (m > 190) m -= 100;
    EXPECT_EQ(out[static_cast<size_t>(t)], t == 5 ? 1000 : m) << t;
  }
}

TEST(MachineTest, ConditionalOperandsAreEvaluatedWhereNeededOnly) {
  const std::vector<int32_t> out = RunOut(R"(
    st storage=$out index=s64(tid()) value=tid()
    barrier.cta
    let var=%k value=(((tid() < 60) && ($out[s64((tid() + 4))] > 10)) ? (100 / (tid() - 64)) : ((tid() == 63) ? 7 : $out[(s64(tid()) + 1:s64)]))
    barrier.cta
    st storage=$out index=s64(tid()) value=%k)");
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[20], 100 / (20 - 64));
  EXPECT_EQ(out[63], 7);
}

TEST(MachineTest, LocalArraysAndDynamicElements) {
  const std::vector<int32_t> out = RunOut(R"(
    decl storage=$own
    for var=%i low=0 high=4 step=1 unroll=0 body { st storage=$own index=((%i + tid()) % 4) value=(%i * 10) }
    st storage=$out index=s64(tid()) value=($own[(tid() % 4)] + $own[3]))");
  for (int t = 0; t < 64; ++t) {
    int own[4];
    for (int i = 0; i < 4; ++i) own[(i + t) % 4] = i * 10;
    EXPECT_EQ(out[static_cast<size_t>(t)], own[t % 4] + own[3]);
  }
}

const char* const kReverse = R"(
    st storage=$s index=tid() value=(tid() * 3) loc(2:1)
    barrier.cta loc(3:1)
    st storage=$out index=s64(tid()) value=$s[(63 - tid())] loc(4:1))";

TEST(MachineTest, BarrierOrdersSharedAccesses) {
  for (const uint64_t seed : {0, 1, 2, 3}) {
    const std::vector<int32_t> out = RunOut(kReverse, nullptr, 64, seed);
    for (int t = 0; t < 64; ++t) EXPECT_EQ(out[static_cast<size_t>(t)], (63 - t) * 3);
  }
}

TEST(MachineTest, MissingBarrierIsARace) {
  std::vector<std::string> kinds;
  RunOut(Replaced(kReverse, "barrier.cta loc(3:1)", ""), &kinds);
  EXPECT_THAT(kinds, testing::Contains("SimRace 2:1 4:1"));
  // A warp barrier is not enough for two warps …
  RunOut(Replaced(kReverse, "barrier.cta", "syncwarp"), &kinds);
  EXPECT_THAT(kinds, testing::Contains("SimRace 2:1 4:1"));
}

TEST(MachineTest, LanesOfAWarpNeedSyncwarp) {
  const std::string body = R"(
    st storage=$s index=tid() value=(tid() * 3) loc(2:1)
    syncwarp loc(3:1)
    st storage=$out index=s64(tid()) value=$s[(31 - tid())] loc(4:1))";
  EXPECT_EQ(RunOut(body, nullptr, 32)[0], 93);
  std::vector<std::string> kinds;
  RunOut(Replaced(body, "syncwarp loc(3:1)", ""), &kinds, 32);
  EXPECT_THAT(kinds, ElementsAre("SimRace 4:1 2:1"));
}

TEST(MachineTest, ThreadsMayStoreOneValueTogetherButNotTwo) {
  const std::string body = R"(
    st storage=$out index=7:s64 value=42 loc(2:1)
    st storage=$out index=8:s64 value=($out[7:s64] + 1) loc(3:1))";
  EXPECT_EQ(RunOut(body)[8], 43);
  std::vector<std::string> kinds;
  RunOut(Replaced(body, "value=42", "value=tid()"), &kinds);
  EXPECT_THAT(kinds, testing::Contains("SimRace 2:1 2:1"));
}

TEST(MachineTest, UninitialisedDataIsFoundWhereItMatters) {
  std::vector<std::string> kinds;
  // Moving it is fine; branching on it, indexing with it and storing it are not.
  RunOut(
      "decl storage=$own st storage=$own index=1 value=$own[0] st storage=$s index=tid() "
      "value=$own[1]",
      &kinds);
  EXPECT_THAT(kinds, IsEmpty());
  RunOut("st storage=$out index=s64(tid()) value=($s[tid()] * 0) loc(2:1)", &kinds);
  EXPECT_THAT(kinds, ElementsAre("SimUninitialisedRead 2:1 2:1"));
  RunOut("if condition=($s[tid()] > 0) loc(2:1) then_body { st storage=$out index=0:s64 value=1 }",
         &kinds);
  EXPECT_THAT(kinds, ElementsAre("SimUninitialisedRead 2:1 2:1"));
  RunOut("decl storage=$own st storage=$out index=s64($own[2]) value=1 loc(2:1)", &kinds);
  EXPECT_THAT(kinds, ElementsAre("SimUninitialisedRead 2:1 0:0"));
}

TEST(MachineTest, BarrierThatSomeWarpsNeverReach) {
  std::vector<std::string> kinds;
  RunOut("if condition=(tid() < 32) then_body { barrier.cta loc(2:1) }", &kinds);
  EXPECT_THAT(kinds, ElementsAre("SimBarrierMismatch 2:1 0:0"));
  RunOut("if condition=(tid() < 40) then_body { barrier.cta loc(2:1) }", &kinds);
  EXPECT_THAT(kinds, ElementsAre("SimDivergentCollective 2:1 0:0"));
}

const char* const kHandOff = R"(
    if condition=(warp() == 0) then_body {
      barrier.sync id=1 threads=64 loc(2:1)
      barrier.sync id=2 threads=64 loc(3:1)
    } else_body {
      barrier.sync id=1 threads=64 loc(4:1)
      barrier.sync id=2 threads=64 loc(5:1)
    })";

TEST(MachineTest, NamedBarriersInOneOrderPass) { RunOut(kHandOff); }

TEST(MachineTest, NamedBarriersInOppositeOrderDeadlock) {
  std::string body = Replaced(kHandOff, "id=1 threads=64 loc(4:1)", "id=2 threads=64 loc(4:1)");
  body = Replaced(body, "id=2 threads=64 loc(5:1)", "id=1 threads=64 loc(5:1)");
  std::vector<int32_t> out(64, -1);
  const Report report = RunKernel(LoweredText(kOutTables, "threads=64 shared_bytes=256", body),
                                  row_major(out.data(), 64));
  ASSERT_THAT(Kinds(report), ElementsAre("SimDeadlock 2:1 4:1"));
  EXPECT_EQ(report.findings[0].message,
            "deadlock: warp 0 waits for barrier 1 (32 of 64 threads arrived) at 2:1; warp 1 waits "
            "for barrier 2 (32 of 64 threads arrived) at 4:1");
}

TEST(MachineTest, BarrierCountsMustAgree) {
  std::vector<std::string> kinds;
  RunOut(Replaced(kHandOff, "threads=64 loc(4:1)", "threads=96 loc(4:1)"), &kinds);
  EXPECT_THAT(kinds, testing::Contains("SimBarrierMismatch 4:1 2:1"));
}

TEST(MachineTest, DivisionByZeroEndlessLoopAndOpaqueCode) {
  std::vector<std::string> kinds;
  RunOut("st storage=$out index=s64(tid()) value=(5 / (tid() - 3)) loc(2:1)", &kinds);
  EXPECT_THAT(kinds, testing::Contains("SimDivisionByZero 2:1 0:0"));
  RunOut("while condition=true loc(2:1) body { var var=%m init=1 loc(3:1) }", &kinds);
  ASSERT_EQ(kinds.size(), 1u);
  EXPECT_THAT(kinds[0], testing::StartsWith("SimStepLimit"));
  RunOut("opaque.cpp text=\"x();\" loc(2:1)", &kinds);
  EXPECT_THAT(kinds, ElementsAre("SimOpaqueCode 2:1 0:0"));
}

TEST(MachineTest, VectorAccesses) {
  const std::string body = R"(
    st storage=$s index=tid() value=(tid() * 3)
    barrier.cta
    if condition=(tid() < 16) then_body {
      decl storage=$own
      copy.vec dst=$own dst_index=0 src=$s src_index=(tid() * 4) bytes=16
      st storage=$own index=1 value=($own[1] + 1000)
      st.vec storage=$s index=(tid() * 4) values=[$own[0], $own[1], $own[2], $own[3]] loc(5:1)
      copy.vec dst=$out dst_index=s64((tid() * 4)) src=$s src_index=(tid() * 4) bytes=16 loc(6:1)
    })";
  const std::vector<int32_t> out = RunOut(body);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[static_cast<size_t>(i)], 3 * i + (i % 4 == 1 ? 1000 : 0));
  std::vector<std::string> kinds;
  RunOut(
      Replaced(body, "st.vec storage=$s index=(tid() * 4)", "st.vec storage=$s index=(tid() * 2)"),
      &kinds);
  EXPECT_THAT(kinds, testing::Contains("SimMisaligned 5:1 0:0"));
}

TEST(MachineTest, ErrorLatchBecomesTheMessage) {
  std::vector<int32_t> out(64, -1);
  const Report report =
      RunKernel(LoweredText(kOutTables, "threads=64 shared_bytes=256",
                            "if condition=(tid() == 9) then_body { error.latch code=1 }"),
                row_major(out.data(), 64));
  EXPECT_EQ(report.failed_assert, "failed (k.co:9)");
}

TEST(MachineTest, CtasAreNotOrdered) {
  std::vector<int32_t> out(64, -1);
  const std::string body = "st storage=$out index=s64(tid()) value=(tid() + ctaid.x()) loc(2:1)";
  const std::string host = "grid=[2:s64, none, none] threads=64 shared_bytes=256";
  const Report report = RunKernel(LoweredText(kOutTables, host, body), row_major(out.data(), 64));
  EXPECT_THAT(Kinds(report), ElementsAre("SimRace 2:1 2:1"));
  const std::string apart = Replaced(body, "s64(tid())", "s64(((tid() / 2) + (ctaid.x() * 32)))");
  const Report fine = RunKernel(
      LoweredText(kOutTables, host, Replaced(apart, "(tid() + ctaid.x())", "(tid() / 2)")),
      row_major(out.data(), 64));
  EXPECT_THAT(Kinds(fine), IsEmpty());
}

TEST(MachineTest, FloatsBehaveAsOnHardware) {
  const std::string tables = R"(
vars { %t type=s64 kind=let; }
storages {
  $x kind=param elem=f32 dims=[32] param_index=0 strides=[1:s64];
  $y kind=param elem=f32 dims=[32] param_index=1 strides=[1:s64];
  $h kind=param elem=bf16 dims=[32] param_index=2 strides=[1:s64];
}
params { name="x" elem=f32 shaped=true storage=$x; name="y" elem=f32 shaped=true written=true storage=$y; name="h" elem=bf16 shaped=true written=true storage=$h; })";
  const std::string text = LoweredText(tables, "threads=32", R"(
    let var=%t value=s64(tid())
    st storage=$h index=%t value=bf16($x[%t])
    st storage=$y index=%t value=((tid() < 8) ? exp2($x[%t]) : max($x[%t], 1.0)))");
  std::vector<float> x(32, 0.0f), y(32);
  std::vector<bf16> h(32);
  x[0] = -INFINITY;
  x[1] = -130.0f;  // a subnormal result is flushed
  x[2] = 3.0f;
  x[3] = 1.00390625f;  // halfway between two bf16: to even, down
  x[4] = 1.01171875f;  // halfway: to even, up
  x[8] = NAN;
  const Report report =
      RunKernel(text, row_major(x.data(), 32), row_major(y.data(), 32), row_major(h.data(), 32));
  EXPECT_THAT(Kinds(report), IsEmpty());
  EXPECT_EQ(y[0], 0.0f);
  EXPECT_EQ(y[1], 0.0f);
  EXPECT_EQ(y[2], 8.0f);
  EXPECT_EQ(y[8], 1.0f);
  EXPECT_EQ(static_cast<float>(h[3]), 1.0f);
  EXPECT_EQ(static_cast<float>(h[4]), 1.015625f);
}

const char* const kCounterTables = R"(
vars { %i type=s32 kind=loop; %old type=s32 kind=let; }
storages {
  $out kind=param elem=s32 dims=[64] param_index=0 strides=[1:s64];
  $s kind=shared elem=s32 dims=[64] swizzle=0 byte_offset=0 tile_bytes=256;
}
params { name="out" elem=s32 shaped=true written=true storage=$out; })";

std::vector<std::string> CounterKinds(const std::string& body, std::vector<int32_t>& out,
                                      int ctas = 2, uint64_t seed = 0) {
  out.assign(64, 0);
  RunOptions options;
  options.schedule_seed = seed;
  const std::string host =
      fmt::format("grid=[{}:s64, none, none] threads=64 shared_bytes=256", ctas);
  return Kinds(RunKernel(ReadKernel(LoweredText(kCounterTables, host, body)), options,
                         row_major(out.data(), 64)));
}

TEST(MachineTest, AtomicOperationsDoNotRaceWithEachOther) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::vector<int32_t> out;
    EXPECT_THAT(CounterKinds(R"(
      atomic var=%old how=add storage=$out index=0:s64 value=1 loc(2:1)
      if condition=(%old < 32) loc(3:1) then_body {
        atomic how=max storage=$out index=1:s64 value=%old loc(3:2)
        atomic how=min storage=$out index=2:s64 value=(- %old) loc(3:3)
      })",
                             out, 2, seed),
                IsEmpty());
    EXPECT_EQ(out[0], 128);
    EXPECT_EQ(out[1], 31);
    EXPECT_EQ(out[2], -31);
  }
}

TEST(MachineTest, AtomicOperationsRaceWithOrdinaryAccesses) {
  std::vector<int32_t> out;
  const std::string atomic = "atomic how=add storage=$out index=0:s64 value=1 loc(2:1)\n";
  const std::string write =
      "if condition=(tid() == 0) loc(3:1) then_body { st storage=$out index=0:s64 value=7 loc(3:2) "
      "}\n";
  EXPECT_THAT(CounterKinds(atomic + "barrier.cta loc(2:2)\n" + write, out, 1), IsEmpty());
  EXPECT_THAT(CounterKinds(write + "barrier.cta loc(2:2)\n" + atomic, out, 1), IsEmpty());
  EXPECT_THAT(CounterKinds(atomic + write, out, 1), Contains("SimRace 3:2 2:1"));
  // Another CTA is ordered by nothing.
  EXPECT_THAT(CounterKinds(atomic + "barrier.cta loc(2:2)\n" + write, out, 2),
              testing::AnyOf(Contains("SimRace 3:2 2:1"), Contains("SimRace 2:1 3:2")));
  // Also where an atomic operation of its own CTA stands between.
  EXPECT_THAT(CounterKinds(write + "barrier.cta loc(2:2)\n" + atomic, out, 2),
              testing::AnyOf(Contains("SimRace 3:2 2:1"), Contains("SimRace 2:1 3:2")));
  const std::string read =
      "if condition=(tid() == 40) loc(4:1) then_body { st storage=$out index=1:s64 "
      "value=$out[0:s64] loc(4:2) }\n";
  EXPECT_THAT(CounterKinds(atomic + read, out, 1), Contains("SimRace 4:2 2:1"));
  EXPECT_THAT(CounterKinds(atomic + "barrier.cta loc(2:2)\n" + read, out, 1), IsEmpty());
}

TEST(MachineTest, AtomicOperationsNeedWrittenSharedMemory) {
  std::vector<int32_t> out;
  const std::string atomic = "atomic how=add storage=$s index=3 value=1 loc(2:1)\n";
  EXPECT_THAT(CounterKinds(atomic, out, 1), ElementsAre("SimUninitialisedRead 2:1 0:0"));
  EXPECT_THAT(CounterKinds("if condition=(tid() == 0) loc(1:1) then_body { st storage=$s index=3 "
                           "value=0 loc(1:2) }\nbarrier.cta loc(1:3)\n" +
                               atomic,
                           out, 1),
              IsEmpty());
  // A loop over tasks ends there: what is found is no task.
  EXPECT_THAT(CounterKinds("atomic var=%old how=add storage=$out index=s64((64 + ctaid.x())) "
                           "value=1 loc(2:1)\nif condition=(%old < 1000) loc(3:1) then_body { st "
                           "storage=$out index=0:s64 value=1 loc(3:2) }",
                           out, 1),
              ElementsAre("SimOutOfBounds 2:1 0:0"));
  EXPECT_EQ(out[0], 0);
}

}  // namespace
}  // namespace choreo::sim
