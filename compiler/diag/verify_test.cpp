#include "diag/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace choreo::diag {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// One file whose line N gets, for each N in `lines`, an UnknownDirective "N" with a note on line 1.
std::string Verify(const std::string& text, std::initializer_list<uint32_t> lines) {
  SourceManager sources;
  const FileId file = sources.Add("t.co", text);
  Emitter diags;
  for (const uint32_t line : lines) {
    const auto offset =
        static_cast<uint32_t>(sources.Line(file, line).data() - sources.Text(file).data());
    diags.Emit(kinds::UnknownDirective, SourceLoc{file, offset}, std::to_string(line))
        .Note(SourceRange(SourceLoc{file, 0}), "a note");
  }
  return VerifyDiagnostics(sources, diags.diagnostics()).report;
}

TEST(Verify, AcceptsWhatIsExpected) {
  EXPECT_EQ(Verify("nothing\n", {}), "");
  EXPECT_EQ(Verify("x // expected-error {{`#1` is}} [UnknownDirective]\n", {1}), "");
  EXPECT_EQ(Verify("// expected-error@+1 {{#2}} [UnknownDirective]\nx\n", {2}), "");
  EXPECT_EQ(Verify("x\n/* expected-error@-1 {{#1}} [UnknownDirective] */\n", {1}), "");
  EXPECT_EQ(Verify("x\n\n// expected-error@1 {{#1}} [UnknownDirective]\n", {1}), "");
  EXPECT_EQ(Verify("x\n\n// expected-error@* {{#1}} [UnknownDirective]\n", {1}), "");
  EXPECT_EQ(Verify("x // expected-error {{#1}} [UnknownDirective] expected-note {{a note}}\n", {1}),
            "");
  EXPECT_EQ(Verify("// expected-error@+1 {{#2}} [UnknownDirective] "
                   "expected-error@+2 {{#3}} [UnknownDirective]\nx\ny\n",
                   {2, 3}),
            "");
  EXPECT_EQ(Verify("// expected-error@* 2 {{is not}} [UnknownDirective]\nx\n", {1, 2}), "");
}

TEST(Verify, ReportsWhatIsNotExpected) {
  EXPECT_EQ(Verify("x\n", {1}),
            "t.co:1:1: error not expected: `#1` is not a directive [UnknownDirective]\n");
  EXPECT_THAT(Verify("x // expected-warning {{#1}} [UnknownDirective]\n", {1}),
              AllOf(HasSubstr("error not expected"), HasSubstr("warning expected on line 1")));
  EXPECT_THAT(Verify("x // expected-error {{#1}} [NulByte]\n", {1}), HasSubstr("not expected"));
  EXPECT_THAT(Verify("x // expected-error {{#2}} [UnknownDirective]\n", {1}),
              HasSubstr("not expected"));
}

TEST(Verify, ReportsWhatIsMissing) {
  EXPECT_EQ(Verify("x // expected-error {{abc}} [NulByte]\n", {}),
            "t.co:1:6: error expected on line 1 but not seen: {{abc}} [NulByte]\n");
  EXPECT_THAT(Verify("// expected-error@* 2 {{is not}} [UnknownDirective]\n", {1}),
              HasSubstr("expected anywhere but not seen"));
  EXPECT_THAT(
      Verify("x // expected-error {{#1}} [UnknownDirective] expected-note {{other}}\n", {1}),
      HasSubstr("note expected on line 1"));
}

TEST(Verify, ReportsMalformedExpectations) {
  EXPECT_THAT(Verify("// expected-error {{no kind}}\n", {}), HasSubstr("expected `[kind]`"));
  EXPECT_THAT(Verify("// expected-error {{x}} [NoSuch]\n", {}), HasSubstr("no kind `NoSuch`"));
  EXPECT_THAT(Verify("// expected-error@+9 {{x}} [NulByte]\n", {}), HasSubstr("malformed"));
  EXPECT_THAT(Verify("// expected-error no braces\n", {}), HasSubstr("malformed"));
  EXPECT_EQ(Verify("\"expected-error\" outside a comment\n", {}), "");
}

}  // namespace
}  // namespace choreo::diag
