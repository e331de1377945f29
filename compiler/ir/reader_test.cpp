#include "ir/reader.h"

#include <random>

#include "ir/ir_test_util.h"

namespace choreo::ir {
namespace {

// Every construct of the text at least once.
const char* const kModule = R"(module state=lowered source="a b.co"
line 3 "x = \"q\"\t\\;"

kernel "copy" loc(1:2) {
  vars {
    %n type=s32 kind=dim loc(1:20);
    %n.1 type=s64 kind=let;
    %"odd name" type=f32 kind=mutable;
    %i type=s32 kind=loop bound=%n;
    %stride type=s64 kind=stride;
    %scale type=f32 kind=param;
    %ticket type=u32 kind=let;
  }
  storages {
    $x kind=param elem=bf16 dims=[%n, 64] param_index=0 strides=[%stride, 1:s64] loc(1:9);
    $tile kind=shared elem=bf16 dims=[64, 64] array_size=2 swizzle=128 anonymous=true byte_offset=0 tile_bytes=8192;
    $acc kind=frag elem=f32 dims=[64, 64] layout=accumulator;
    $p kind=frag elem=bf16 dims=[64, 64] layout=accumulator;
    $row kind=frag elem=f32 dims=[64] layout=row;
    $own kind=local elem=f32 dims=[4];
    $tickets kind=shared elem=u32 dims=[2] swizzle=0 byte_offset=16384 tile_bytes=8;
    $turn kind=event elem=u64 array_size=2 byte_offset=16368 tile_bytes=8 slot_names="turn_1 turn_2";
  }
  views {
    #0 storage=$x base_extents=[%n, 64] start=[0, 0] axes=[(base_axis=0 extent=%n step=2), (base_axis=1 extent=64)];
  }
  params {
    name="x" elem=bf16 shaped=true written=true storage=$x;
    name="scale" elem=f32 var=%scale;
  }
  host { grid=[s64(cdiv(%n, 64)), none, none] threads=128 shared_bytes=16400 checks=[(kind=base_alignment param=0 axis=0 value=16)] covers=[(param=0 line=8 column=4)] body {
    assert condition=((%n % 64) == 0) message="n % 64" loc(2:3)
  } }
  errors {
    text="index" loc(9:1);
  }
  body {
    let var=%n.1 value=(s64(ctaid.x()) * 64:s64) loc(3:1)
    var var=%"odd name" init=(- (1e-07 + -inf)) loc(3:2)
    decl storage=$acc
    decl storage=$p
    decl storage=$row
    decl storage=$own
    for var=%i low=0 high=%n step=1 unroll=-1 loc(4:1) body {
      if condition=((tid() < 3) && (! (lane() == -1))) loc(5:1) then_body {
        break loc(5:9)
      } else_body {
        continue
      }
      cp.async dst=$tile dst_index=swizzle128((tid() * 8)) src=$x src_index=(%n.1 + s64(%i)) bytes=16 valid_bytes=none
      frag.set frag=$acc index=[%i] value=(($acc[%i] > 0.5) ? exp2($acc[%i]) : shfl.xor($row[1], 2))
      frag.pack frag=$p word=0 low=$acc[0] high=f32($x[0:s64])
      st storage=$own index=3 value=%"odd name"
      atomic var=%ticket how=max storage=$tickets index=0 value=1:u32
      while condition=false body {}
    }
    wgmma.mma acc=$acc a_desc=none a_frag=$p a_word=0 b_desc=desc($tile, 8192, 16, 1024, 128) n=64 elem=bf16 trans_b=true scale_d=(%n > 0)
    error.latch code=1
    opaque.cpp text="asm(\"\");\n"
  }
}
)";

TEST(ReaderTest, RoundTrip) {
  ReadResult first = ReadText(kModule);
  ASSERT_EQ(first.text, "");
  const std::string printed = Print(*first.module);
  ReadResult second = ReadText(printed);
  ASSERT_EQ(second.text, "");
  EXPECT_EQ(Print(*second.module), printed);
  // The text above is already in the printed form but for an empty region.
  std::string expected = kModule;
  const std::string empty = "body {}\n";
  expected.replace(expected.find(empty), empty.size(), "body {\n      }\n");
  EXPECT_EQ(printed, expected);
}

TEST(ReaderTest, StructureSurvives) {
  ReadResult read = ReadText(kModule);
  ASSERT_TRUE(read.module);
  const Kernel& kernel = read.module->kernels[0];
  EXPECT_EQ(kernel.vars[VarId(1)].name, "n");
  EXPECT_EQ(kernel.vars[VarId(2)].name, "odd name");
  EXPECT_EQ(kernel.vars[VarId(0)].loc, (Loc{1, 20}));
  EXPECT_EQ(read.module->lines[0].text, "x = \"q\"\t\\;");
  EXPECT_EQ(kernel.storages[StorageId(1)].array_size, 2);
  EXPECT_EQ(kernel.storages[StorageId(7)].slot_names, "turn_1 turn_2");
  EXPECT_EQ(std::get<For>(kernel.body.ops[6].node).unroll, -1);
  EXPECT_TRUE(std::get<Wgmma>(kernel.body.ops[7].node).trans_b);
}

TEST(ReaderTest, FloatsKeepTheirBits) {
  for (const double value : {0.1, 0.12751743, 1e-45, 3.4028234e38, -0.0, 1.0 / 3}) {
    for (const Elem elem : {Elem::kF32, Elem::kF64}) {
      const double exact = elem == Elem::kF32 ? static_cast<float>(value) : value;
      Module module;
      Kernel& kernel = module.kernels.emplace_back();
      const ExprId id = kernel.exprs.Add({elem, FloatConst{exact}});
      const VarId var = kernel.vars.Add({"v", elem, VarKind::Let, {}, {}});
      kernel.body.ops.push_back({{}, Let{var, id}});
      ReadResult read = ReadText(Print(module), false);
      ASSERT_EQ(read.text, "");
      const Kernel& back = read.module->kernels[0];
      const auto& let = std::get<Let>(back.body.ops[0].node);
      const double got = std::get<FloatConst>(back.exprs[let.value].node).value;
      EXPECT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(exact)) << value;
    }
  }
}

std::string Errors(std::string_view tables, std::string_view body) {
  return ReadText(KernelText("lowered", tables, body), false).text;
}

TEST(ReaderTest, MalformedTextIsReportedWithItsPlace) {
  EXPECT_EQ(ReadText("").text, "1:1: expected `module`, found the end of the text [IrExpected]\n");
  EXPECT_EQ(ReadText("module state=odd").text,
            "1:14: `odd` is no constant of type `enumeration` [IrBadConstant]\n");
  EXPECT_EQ(ReadText("module @").text, "1:8: \"@\" is no token of the IR text [IrBadToken]\n");
  EXPECT_EQ(ReadText("module source=\"open\n").text,
            "1:15: \"\\\"open\" is no token of the IR text [IrBadToken]\n");
  EXPECT_EQ(Errors("", "jump"), "6:1: there is no op `jump` [IrUnknownOp]\n");
  EXPECT_EQ(Errors("", "break depth=2"), "6:7: `break` has no field `depth` [IrUnknownField]\n");
  EXPECT_EQ(Errors("", "let var=%x value=1"),
            "6:9: `%x` is not in the tables of kernel `k` [IrUndeclared]\n");
  EXPECT_EQ(Errors("vars { %x type=s32; %x type=s32; }", ""),
            "3:21: `%x` stands twice in the tables of its kernel [IrRedeclared]\n");
  const std::string x = "vars { %x type=s32; }";
  EXPECT_EQ(Errors(x, "let var=%x value=3000000000"),
            "6:18: `3000000000` is no constant of type `s32` [IrBadConstant]\n");
  EXPECT_EQ(Errors(x, "let var=%x value=1.5:s32"),
            "6:18: `1.5:s32` is no constant of type `s32` [IrBadConstant]\n");
  EXPECT_EQ(Errors(x, "let var=%x value=1e39"),
            "6:18: `1e39` is no constant of type `f32` [IrBadConstant]\n");
  EXPECT_EQ(Errors(x, "let var=%x value=(%x + 1 + 2)"),
            "6:26: expected `)`, found `+` [IrExpected]\n");
  EXPECT_EQ(Errors(x, "let var=%x value=cdiv(1)"),
            "6:18: expected 2 operands of `cdiv`, found 1 [IrExpected]\n");
}

TEST(ReaderTest, DeepNestingIsRefused) {
  const std::string x = "vars { %x type=s32; }";
  const std::string deep = "let var=%x value=" + std::string(10000, '(');
  EXPECT_THAT(Errors(x, deep), testing::HasSubstr("[IrNesting]"));
  std::string regions;
  for (int i = 0; i < 10000; ++i) regions += "while condition=true body { ";
  EXPECT_THAT(Errors(x, regions), testing::HasSubstr("[IrNesting]"));
}

TEST(ReaderTest, MutatedTextNeverCrashes) {
  std::mt19937 random(7);
  const std::string original = kModule;
  for (int round = 0; round < 3000; ++round) {
    std::string text = original;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      if (text.empty()) text = "{";
      const size_t at = random() % text.size();
      const size_t length = random() % 12;
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, original.substr(random() % original.size(), length));
          break;
        default:
          text.resize(at + 1);
      }
    }
    const ReadResult read = ReadText(text);
    EXPECT_EQ(read.module.has_value(), read.text.empty());
    if (read.module) Print(*read.module);
  }
}

}  // namespace
}  // namespace choreo::ir
