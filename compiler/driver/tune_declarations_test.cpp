#include "driver/tune_declarations.h"

#include <gmock/gmock.h>

namespace choreo::driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Problem(const std::string& text) {
  const TuneDeclarations read = ReadTuneDeclarations(text);
  EXPECT_THAT(read.ranges, IsEmpty());
  return read.problems.size() == 1 ? read.problems[0].message : "";
}

TEST(TuneDeclarations, ListsAndRangesInTheOrderOfTheLines) {
  const auto read = ReadTuneDeclarations(
      "// tune: BLOCK_N in 64, 80,96 , 128\n"
      "int x;  //tune: STAGES in 1..3, 8\n"
      "  // tune:LOW in -2..0\r\n"
      "// tune: THRESHOLD in 0.0f, 8.0f");
  EXPECT_THAT(read.problems, IsEmpty());
  ASSERT_EQ(read.ranges.size(), 4u);
  EXPECT_EQ(read.ranges[0].name, "BLOCK_N");
  EXPECT_THAT(read.ranges[0].values, ElementsAre("64", "80", "96", "128"));
  EXPECT_THAT(read.ranges[1].values, ElementsAre("1", "2", "3", "8"));
  EXPECT_EQ(read.ranges[1].comment.begin, 44u);
  EXPECT_THAT(read.ranges[2].values, ElementsAre("-2", "-1", "0"));
  EXPECT_THAT(read.ranges[3].values, ElementsAre("0.0f", "8.0f"));
}

TEST(TuneDeclarations, OnlyLineCommentsCount) {
  for (const char* text :
       {"/* // tune: A in 1 */", "\"// tune: A in 1\"", "R\"x( // tune: A in 1\n)x\"",
        "// not tune: A in 1", "// untuned", "'\"'; \"// tune: A in 1\""}) {
    EXPECT_THAT(ReadTuneDeclarations(text).ranges, IsEmpty()) << text;
    EXPECT_THAT(ReadTuneDeclarations(text).problems, IsEmpty()) << text;
  }
  // Neither a digit separator nor a quote in a comment opens a text.
  EXPECT_EQ(ReadTuneDeclarations("x = 1'000; // it's\n// tune: A in 1\n").ranges.size(), 1u);
}

TEST(TuneDeclarations, WhatIsWrongIsNamed) {
  EXPECT_THAT(Problem("// tune:"), HasSubstr("name of a macro"));
  EXPECT_THAT(Problem("// tune: in 1"), HasSubstr("name of a macro"));
  EXPECT_THAT(Problem("// tune: 1 in 1"), HasSubstr("name of a macro"));
  EXPECT_THAT(Problem("// tune: A"), HasSubstr("`in` after `A`"));
  EXPECT_THAT(Problem("// tune: A inside 1"), HasSubstr("`in` after `A`"));
  EXPECT_THAT(Problem("// tune: A in"), HasSubstr("is missing"));
  EXPECT_THAT(Problem("// tune: A in 1,"), HasSubstr("is missing"));
  EXPECT_THAT(Problem("// tune: A in 3..1"), HasSubstr("`3..1`"));
  EXPECT_THAT(Problem("// tune: A in 1..x"), HasSubstr("`1..x`"));
  EXPECT_THAT(Problem("// tune: A in 0..1024"), HasSubstr("at most 1024"));
  EXPECT_THAT(Problem("// tune: A in 9223372036854775806..9223372036854775807"),
              HasSubstr("range"));
  EXPECT_THAT(Problem("// tune: A in 1..3, 2"), HasSubstr("`2` stands twice"));
}

}  // namespace
}  // namespace choreo::driver
