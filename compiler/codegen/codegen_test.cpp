#include "codegen/codegen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "ir/reader.h"

namespace choreo::codegen {
namespace {

using testing::HasSubstr;
using testing::Not;

ir::Module Read(const std::string& text) {
  SourceManager sources;
  diag::Emitter diags;
  auto module = ir::ReadModule(sources, sources.Add("test.ir", text), diags);
  for (const auto& d : diags.diagnostics()) {
    const LineColumn at = sources.Position(d.range.begin);
    ADD_FAILURE() << at.line << ":" << at.column << ": " << d.message;
  }
  return module ? std::move(*module) : ir::Module();
}

// A kernel with one output `y` and the body; `tables` adds variables, `storages` storages.
std::string Kernel(const std::string& body, const std::string& vars = "",
                   const std::string& storages = "", const std::string& rest = "",
                   const std::string& params = "") {
  return fmt::format(R"(module state=lowered source="dir/k.co"
line 7 "y.at(i) = 1; \ "
kernel "k" loc(5:1) {{
  vars {{ %n type=s32 kind=dim; %m type=s32 kind=mutable; {} }}
  storages {{ $y kind=param elem=f32 dims=[%n] param_index=0 strides=[1:s64]; {} }}
  params {{ name="y" elem=f32 shaped=true written=true storage=$y; {} }}
  host {{ grid=[s64(%n), none, none] threads=64 {} body {{ }} }}
  body {{ {} }}
}})",
                     vars, storages, params, rest, body);
}

std::string Cuda(const std::string& ir, LineDirectives lines = LineDirectives::Generated) {
  const ir::Module module = Read(ir);
  return PrintCuda({module, {}, {}, "1.2.3", "00ff", "", lines});
}

// The statement that assigns `value` to a variable of the type.
std::string Value(const std::string& value, const std::string& type = "s32") {
  const std::string text = Cuda(Kernel(
      fmt::format("let var=%v value={}", value),
      fmt::format("%v type={} kind=let; %a type=s32 kind=param; %f type=f32 kind=param; "
                  "%d type=f64 kind=param; %l type=s64 kind=param; "
                  "%u type=u32 kind=param; %c type=bool kind=param;",
                  type),
      "$h kind=shared elem=bf16 dims=[8] swizzle=0 byte_offset=0 tile_bytes=16;", "shared_bytes=16",
      "elem=s32 var=%a; elem=f32 var=%f; elem=f64 var=%d; elem=s64 var=%l; "
      "elem=u32 var=%u; elem=bool var=%c;"));
  const size_t at = text.find(" v = ");
  if (at == std::string::npos) return text;
  return text.substr(at + 5, text.find(";\n", at) - at - 5);
}

TEST(CodegenExprTest, ParenthesesWhereTheyMatter) {
  EXPECT_EQ(Value("((%a + 1) * 2)"), "(a + 1) * 2");
  EXPECT_EQ(Value("((%a * 2) + 1)"), "a * 2 + 1");
  EXPECT_EQ(Value("(%a - (%n - 1))"), "a - (n - 1)");
  EXPECT_EQ(Value("((%a - %n) - 1)"), "a - n - 1");
  EXPECT_EQ(Value("(%a / (%n * 2))"), "a / (n * 2)");
  EXPECT_EQ(Value("((%a + 1) << 2)"), "(a + 1) << 2");
  EXPECT_EQ(Value("((%a & 3) | 4)"), "(a & 3) | 4");
  EXPECT_EQ(Value("(- (- %a))"), "-(-a)");
  EXPECT_EQ(Value("(%a - -3)"), "a - -3");
  EXPECT_EQ(Value("(((%a < 1) && (%n < 2)) || (%a == 3))", "bool"), "(a < 1 && n < 2) || a == 3");
  EXPECT_EQ(Value("(! (%a == 1))", "bool"), "!(a == 1)");
  EXPECT_EQ(Value("((%a < 1) ? 2 : ((%n < 2) ? 3 : 4))"), "a < 1 ? 2 : n < 2 ? 3 : 4");
  EXPECT_EQ(Value("(((%a < 1) ? 2 : 3) + 1)"), "(a < 1 ? 2 : 3) + 1");
}

TEST(CodegenExprTest, ConstantsAreExact) {
  EXPECT_EQ(Value("(%f * 0.12751743)", "f32"), "f * 0.12751743f");
  EXPECT_EQ(Value("1.0", "f32"), "1.0f");
  EXPECT_EQ(Value("1e-45", "f32"), "1e-45f");
  EXPECT_EQ(Value("-inf", "f32"), "-INFINITY");
  EXPECT_EQ(Value("nan", "f32"), "NAN");
  EXPECT_EQ(Value("inf:f64", "f64"), "static_cast<double>(INFINITY)");
  EXPECT_EQ(Value("(%d * 0.1:f64)", "f64"), "d * 0.1");
  EXPECT_EQ(Value("-2147483648"), "(-2147483647 - 1)");
  EXPECT_EQ(Value("4294967295:u32", "u32"), "4294967295u");
  EXPECT_EQ(Value("(%u ^ (%u >> 16:u32))", "u32"), "u ^ (u >> 16)");
  EXPECT_EQ(Value("(%l + 5:s64)", "s64"), "l + 5");
  EXPECT_EQ(Value("5:s64", "s64"), "5L");
  EXPECT_EQ(Value("true", "bool"), "true");
}

TEST(CodegenExprTest, FunctionsAndCasts) {
  EXPECT_EQ(Value("exp2(%f)", "f32"), "ptx::ex2_approx_ftz_f32(f)");
  EXPECT_EQ(Value("exp((%f + 1.0))", "f32"), "ptx::ex2_approx_ftz_f32((f + 1.0f) * 1.44269504f)");
  EXPECT_EQ(Value("(1.0 / log(%f))", "f32"), "1.0f / (ptx::lg2_approx_ftz_f32(f) * 0.693147182f)");
  EXPECT_EQ(Value("max(%f, 0.0)", "f32"), "fmaxf(f, 0.0f)");
  EXPECT_EQ(Value("min(%a, 3)"), "min(a, 3)");
  EXPECT_EQ(Value("cdiv(%a, 128)"), "choreo::cdiv<int>(a, 128)");
  EXPECT_EQ(Value("fma(%f, %f, %f)", "f32"), "fmaf(f, f, f)");
  EXPECT_EQ(Value("s64((%a + 1))", "s64"), "static_cast<int64_t>(a + 1)");
  EXPECT_EQ(Value("f32(%a)", "f32"), "static_cast<float>(a)");
  EXPECT_EQ(Value("bool(%a)", "bool"), "(a != 0)");
  EXPECT_EQ(Value("f32($h[3])", "f32"), "choreo::to_f32(h[3])");
  EXPECT_EQ(Value("bf16(%f)", "bf16"), "choreo::from_f32<__nv_bfloat16>(f)");
  EXPECT_EQ(Value("f16(%a)", "f16"), "choreo::from_f32<__half>(static_cast<float>(a))");
  EXPECT_EQ(Value("s32(bf16(%f))"),
            "static_cast<int>(choreo::to_f32("
            "choreo::from_f32<__nv_bfloat16>(f)))");
  EXPECT_EQ(Value("shfl.xor(%a, 4)"),
            "static_cast<int>(ptx::shfl_sync_bfly<4>(static_cast<uint32_t>(a)))");
  EXPECT_EQ(Value("warp()"), "warp");
  EXPECT_EQ(Value("desc($h, (%a * 16), 16, 128, 0)", "u64"),
            "choreo::make_smem_desc<16>(choreo::shared_address(h) + a * 16, 16, 128)");
}

TEST(CodegenKernelTest, LoopsEvaluateTheirBoundsOnce) {
  const std::string vars = "%i type=s32 kind=loop; %s type=s32 kind=param;";
  const auto loop = [&](const std::string& fields) {
    const std::string text = Cuda(Kernel("var var=%m init=3 for var=%i " + fields + " body { }",
                                         vars, "", "", "elem=s32 var=%s;"));
    const size_t at = text.find("  for (");
    return text.substr(at + 2, text.find(" {", at) - at - 2);
  };
  EXPECT_EQ(loop("low=0 high=%n step=1"), "for (int i = 0; i < n; ++i)");
  EXPECT_EQ(loop("low=0 high=%m step=2"), "for (int i = 0, i_end = m; i < i_end; i += 2)");
  EXPECT_EQ(loop("low=%n high=0 step=-1"), "for (int i = n; i > 0; --i)");
  EXPECT_EQ(loop("low=%n high=0 step=-3"), "for (int i = n; i > 0; i -= 3)");
  EXPECT_EQ(loop("low=0 high=%n step=%s"), "for (int i = 0; s > 0 ? i < n : i > n; i += s)");
  EXPECT_THAT(Cuda(Kernel("for var=%i low=0 high=4 step=1 unroll=-1 body { }", vars, "", "",
                          "elem=s32 var=%s;")),
              HasSubstr("#pragma unroll\n  for (int i"));
  EXPECT_THAT(Cuda(Kernel("for var=%i low=0 high=4 step=1 unroll=3 body { }", vars, "", "",
                          "elem=s32 var=%s;")),
              HasSubstr("#pragma unroll 3\n"));
}

TEST(CodegenKernelTest, NamesAreUniqueWhereVisibleAndNeverReserved) {
  const std::string text = Cuda(Kernel(
      R"(let var=%x value=1
         if condition=true then_body { let var=%x.1 value=%x } else_body { let var=%x.2 value=%x }
         let var=%float value=2 let var=%"a b" value=3 let var=%ptx value=4)",
      "%x type=s32 kind=let; %x.1 type=s32 kind=let; %x.2 type=s32 kind=let; "
      "%float type=s32 kind=let; %\"a b\" type=s32 kind=let; %ptx type=s32 kind=let;"));
  EXPECT_THAT(text,
              HasSubstr("{\n    const int x_1 = x;\n  } else {\n    const int x_1 = x;\n  }"));
  EXPECT_THAT(text, HasSubstr("const int float_1 = 2;"));
  EXPECT_THAT(text, HasSubstr("const int a_b = 3;"));
  EXPECT_THAT(text, HasSubstr("const int ptx_1 = 4;"));
}

TEST(CodegenKernelTest, MacrosOfTheHostTextAreAvoided) {
  const ir::Module module = Read(Kernel("let var=%x value=1", "%x type=s32 kind=let;"));
  const std::string text =
      PrintCuda({module, {{"#  define x 3\n", 1, -1}, {"", 0, 0}}, {{"n", "1"}}, "1", "2", ""});
  EXPECT_THAT(text, HasSubstr("const int x_1 = 1;"));
  EXPECT_THAT(text, HasSubstr("const int n_1 = static_cast<int>(y.extent[0]);"));
}

TEST(CodegenKernelTest, CommentsNameTheLineOnce) {
  const std::string body =
      "st storage=$y index=0:s64 value=1.0 loc(7:3) "
      "st storage=$y index=1:s64 value=1.0 loc(7:9)";
  const std::string text = Cuda(Kernel(body));
  EXPECT_THAT(text, HasSubstr("  // 7: y.at(i) = 1;\n  y[0L] = 1.0f;\n  y[1L] = 1.0f;\n}"));
  EXPECT_THAT(Cuda(Kernel(body), LineDirectives::Source),
              HasSubstr("  // 7: y.at(i) = 1;\n#line 7 \"dir/k.co\"\n  y[0L] = 1.0f;\n"
                        "#line 7 \"dir/k.co\"\n  y[1L] = 1.0f;\n"));
}

TEST(CodegenKernelTest, VectorStores) {
  const auto store = [](const std::string& elem, const std::string& values) {
    const std::string text = Cuda(
        Kernel("st.vec storage=$s index=0 values=[" + values + "]", "",
               "$s kind=shared elem=" + elem + " dims=[16] swizzle=0 byte_offset=0 tile_bytes=128;",
               "shared_bytes=128"));
    const size_t at = text.find("*reinterpret", text.find("reinterpret") + 1);
    return text.substr(at, text.find(";\n", at) - at);
  };
  EXPECT_EQ(store("bf16", "bf16(1.5), 0.5:bf16"),
            "*reinterpret_cast<uint32_t*>(s) = choreo::pack<__nv_bfloat16>(1.5f, 0.5f)");
  EXPECT_THAT(store("f16", "0.0:f16, 0.0:f16, 0.0:f16, 0.0:f16"), HasSubstr("make_uint2(choreo::"));
  EXPECT_EQ(store("f32", "1.0, 2.0, 3.0, 4.0"),
            "*reinterpret_cast<float4*>(s) = make_float4(1.0f, 2.0f, 3.0f, 4.0f)");
  EXPECT_EQ(store("s64", "1:s64, 2:s64"), "*reinterpret_cast<long2*>(s) = make_long2(1L, 2L)");
}

TEST(CodegenKernelTest, LaunchBoundsOrRegisters) {
  EXPECT_THAT(Cuda(Kernel("")), HasSubstr("__launch_bounds__(64, 1)"));
  EXPECT_THAT(Cuda(Kernel("", "", "", "max_threads_bound=128 min_blocks=2")),
              HasSubstr("__launch_bounds__(128, 2)"));
  const std::string text = Cuda(Kernel("", "", "", "max_registers=96"));
  EXPECT_THAT(text, HasSubstr("__maxnreg__(96)"));
  EXPECT_THAT(text, Not(HasSubstr("__launch_bounds__")));
}

TEST(CodegenKernelTest, RawTextHasItsPlace) {
  const std::string text = Cuda(Kernel("opaque.cpp text=\"asm(1);\\nasm(2);\" loc(9:1)"));
  EXPECT_THAT(text, HasSubstr("#line 9 \"dir/k.co\"\nasm(1);\nasm(2);\n#line "));
}

TEST(CodegenHostTest, WaitsUnlessAsync) {
  EXPECT_THAT(Cuda(Kernel("")), HasSubstr("launch.wait();"));
  EXPECT_THAT(Cuda(Kernel("", "", "", "async=true")), Not(HasSubstr("wait()")));
}

const char* const kHostMemory = R"(module state=lowered source="k.co"
kernel "k" {
  vars { %n type=s32 kind=dim; %a type=s64 kind=stride; }
  storages {
    $x kind=param elem=f16 dims=[4, %n] param_index=0 strides=[%a, 1:s64];
    $y kind=param elem=f16 dims=[%n] param_index=1 strides=[1:s64];
  }
  params {
    name="x" elem=f16 shaped=true host_memory=true storage=$x;
    name="y" elem=f16 shaped=true host_memory=true written=true storage=$y;
  }
  host { threads=32 checks=[(kind=base_alignment param=0 axis=0 value=8)] body { } }
  errors { text="say \"what\""; }
  body { st storage=$y index=%a value=$x[%a] error.latch code=1 }
})";

TEST(CodegenHostTest, HostMemoryIsStaged) {
  const std::string text = Cuda(kHostMemory);
  EXPECT_THAT(text, HasSubstr("host::Launch launch(function, stream, {});"));
  EXPECT_THAT(text, HasSubstr("host::Staged x_staged(x, stream);\n"
                              "  const auto x_device = x_staged.device();"));
  EXPECT_THAT(text, HasSubstr("host::check_base_alignment(x_device_tensor, 8);"));
  EXPECT_THAT(text, HasSubstr("const int64_t a = x_device.stride[0];"));
  EXPECT_THAT(text, HasSubstr("y_staged.copy_back();"));
  EXPECT_THAT(text, Not(HasSubstr("x_staged.copy_back();")));
  EXPECT_THAT(text, HasSubstr("{\"say \\\"what\\\"\", \"k.co\"},"));
  EXPECT_THAT(text, HasSubstr("launch.wait(errors);"));
}

TEST(CodegenProgramTest, HostTextIsByteForByteUnderItsLines) {
  const ir::Module module = Read(Kernel(""));
  const std::string before = "int a;\t// é\r\n", after = "\nint b; // no line end";
  const Program program{module,
                        {{before, 1, -1}, {"", 0, 0}, {after, 12, -1}},
                        {{"D", "64"}, {"F(x)", "x"}},
                        "1.2.3",
                        "00ff",
                        ""};
  for (const std::string& text : {PrintCuda(program), PrintSim(program)}) {
    EXPECT_THAT(text,
                testing::StartsWith("// Generated by choreo 1.2.3 from dir/k.co; do not edit. "
                                    "Inputs: 00ff.\n"));
    EXPECT_THAT(text, HasSubstr("#ifndef D\n#define D 64\n#endif\n"));
    EXPECT_THAT(text, HasSubstr("#ifndef F\n#define F(x) x\n#endif\n"));
    EXPECT_THAT(text, HasSubstr("\n#line 1 \"dir/k.co\"\n" + before + "#line "));
    EXPECT_THAT(text, HasSubstr("\n#line 12 \"dir/k.co\"\n" + after + "\n"));
  }
  // The line directive behind host text names the line it precedes.
  const std::string text = PrintCuda(program);
  const size_t at = text.find(" \"k.cu\"\n");
  ASSERT_NE(at, std::string::npos);
  const size_t number = text.rfind(' ', at - 1) + 1;
  const auto line = std::count(text.begin(), text.begin() + static_cast<long>(at), '\n') + 2;
  EXPECT_EQ(text.substr(number, at - number), std::to_string(line));
}

TEST(CodegenProgramTest, Deterministic) { EXPECT_EQ(Cuda(kHostMemory), Cuda(kHostMemory)); }

TEST(CodegenProgramTest, SimEmbedsTheModule) {
  const ir::Module module = Read(kHostMemory);
  const std::string text = PrintSim({module, {}, {}, "1", "2", ""});
  EXPECT_THAT(text, HasSubstr("#define CHOREO_TARGET_SIM 1"));
  EXPECT_THAT(text, HasSubstr("constexpr char kLoweredIr[] =\nR\"ir(module state=lowered"));
  EXPECT_THAT(text,
              HasSubstr("void k(choreo::view<const choreo::f16, 2> x, "
                        "choreo::view<choreo::f16, 1> y,\n    choreo::Stream stream = {}) {"));
  EXPECT_THAT(text, HasSubstr("choreo::sim::Launch(choreo_gen::kLoweredIr, \"k\", x, y);"));
  EXPECT_THAT(text, Not(HasSubstr("cuda")));
}

}  // namespace
}  // namespace choreo::codegen
