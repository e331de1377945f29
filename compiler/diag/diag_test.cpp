#include "diag/diag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diag/explain.h"
#include "diag/fixit.h"

namespace choreo::diag {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DiagTest : public testing::Test {
 protected:
  SourceRange At(uint32_t begin, uint32_t end) const { return SourceRange({file_, begin}, end); }
  SourceManager sources_;
  FileId file_ = sources_.Add("a.co", "alpha beta gamma\n");
  Emitter diags_;
};

TEST_F(DiagTest, FormatsAndCounts) {
  diags_.Emit(kinds::UnknownDirective, At(0, 5), "foo");
  ASSERT_EQ(diags_.diagnostics().size(), 1u);
  EXPECT_EQ(diags_.diagnostics()[0].message, "`#foo` is not a directive");
  EXPECT_EQ(diags_.error_count(), 1u);
  EXPECT_TRUE(diags_.has_errors());
}

TEST_F(DiagTest, DropsARepetitionWithItsNotes) {
  diags_.Emit(kinds::NulByte, At(0, 1)).Note(At(2, 3), "first");
  diags_.Emit(kinds::NulByte, At(0, 1)).Note(At(2, 3), "second").Fix(At(0, 1), "x");
  diags_.Emit(kinds::NulByte, At(1, 2));
  ASSERT_EQ(diags_.diagnostics().size(), 2u);
  EXPECT_EQ(diags_.diagnostics()[0].notes.size(), 1u);
  EXPECT_TRUE(diags_.diagnostics()[0].fixits.empty());
  EXPECT_EQ(diags_.error_count(), 2u);
}

TEST(Registry, NamesAreFoundAgainAndTextsAreThere) {
  for (size_t i = 0; i < static_cast<size_t>(DiagKind::kCount_); ++i) {
    const auto kind = static_cast<DiagKind>(i);
    const KindInfo& info = Info(kind);
    EXPECT_EQ(KindFromName(info.name), kind);
    EXPECT_FALSE(info.message.empty()) << info.name;
    EXPECT_GT(info.explanation.size(), 30u) << info.name << " wants an explanation";
    EXPECT_FALSE(info.message.ends_with('.')) << info.name;
    EXPECT_FALSE(info.message[0] >= 'A' && info.message[0] <= 'Z' && info.message[1] >= 'a' &&
                 info.message[1] <= 'z')
        << info.name << ": messages start in lower case";
  }
  EXPECT_EQ(KindFromName("no_such_kind"), DiagKind::kCount_);
}

TEST(Explain, SaysTheRuleOrSuggestsKinds) {
  const auto text = Explain("[UnknownDirective]");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("error: `#…` is not a directive [UnknownDirective]\n\n"));
  EXPECT_THAT(*text, HasSubstr("first character of a line"));
  EXPECT_THAT(*Explain("UnmatchedBrace"), HasSubstr("error: `}` closes nothing"));
  EXPECT_FALSE(Explain("UnkownDirective"));
  EXPECT_THAT(SimilarKinds("UnkownDirective"), testing::Contains("UnknownDirective"));
  EXPECT_THAT(ListKinds(), HasSubstr("\nNulByte "));
}

TEST_F(DiagTest, AppliesFixItsButNotHints) {
  diags_.Emit(kinds::NulByte, At(0, 5)).Fix(At(0, 5), "ALPHA").Fix(At(16, 16), "!");
  diags_.Emit(kinds::NulByte, At(6, 10)).Hint(At(6, 10), "hint");
  const Fixes fixes = ApplyFixIts(sources_, diags_.diagnostics());
  ASSERT_EQ(fixes.files.size(), 1u);
  EXPECT_EQ(fixes.files[0].text, "ALPHA beta gamma!\n");
  EXPECT_EQ(fixes.applied, 1u);
  EXPECT_EQ(fixes.skipped, 0u);
}

TEST_F(DiagTest, SkipsAFixThatOverlapsAnEarlierOne) {
  diags_.Emit(kinds::NulByte, At(0, 10)).Fix(At(0, 10), "x");
  diags_.Emit(kinds::NulByte, At(6, 16)).Fix(At(6, 16), "y").Fix(At(16, 16), "z");
  diags_.Emit(kinds::NulByte, At(11, 16)).Fix(At(10, 10), ";");
  const Fixes fixes = ApplyFixIts(sources_, diags_.diagnostics());
  ASSERT_EQ(fixes.files.size(), 1u);
  EXPECT_EQ(fixes.files[0].text, "x; gamma\n") << "all fix-its of a diagnostic, or none";
  EXPECT_EQ(fixes.applied, 2u);
  EXPECT_EQ(fixes.skipped, 1u);
}

TEST_F(DiagTest, AppliesTheSameFixOnce) {
  diags_.Emit(kinds::NulByte, At(0, 5)).Fix(At(5, 5), ";");
  diags_.Emit(kinds::NulByte, At(1, 5)).Fix(At(5, 5), ";");
  const Fixes fixes = ApplyFixIts(sources_, diags_.diagnostics());
  ASSERT_EQ(fixes.files.size(), 1u);
  EXPECT_EQ(fixes.files[0].text, "alpha; beta gamma\n");
}

}  // namespace
}  // namespace choreo::diag
