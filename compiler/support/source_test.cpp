#include "support/source.h"

#include <gtest/gtest.h>

namespace choreo {
namespace {

TEST(SourceManager, FindsLinesAndColumns) {
  SourceManager sources;
  const FileId file = sources.Add("a.co", "one\r\n\nthree");
  EXPECT_EQ(sources.LineCount(file), 3u);
  EXPECT_EQ(sources.Line(file, 1), "one");
  EXPECT_EQ(sources.Line(file, 2), "");
  EXPECT_EQ(sources.Line(file, 3), "three");
  EXPECT_EQ(sources.Line(file, 4), "");
  EXPECT_EQ(sources.Describe({file, 0}), "a.co:1:1");
  EXPECT_EQ(sources.Describe({file, 5}), "a.co:2:1");
  EXPECT_EQ(sources.Describe({file, 8}), "a.co:3:3");
  EXPECT_EQ(sources.Describe({}), "<no place>");
}

TEST(SourceManager, ClampsRangesToTheText) {
  SourceManager sources;
  const FileId file = sources.Add("a.co", "abc");
  EXPECT_EQ(sources.Text(SourceRange({file, 1}, 2)), "b");
  EXPECT_EQ(sources.Text(SourceRange({file, 1}, 99)), "bc");
  EXPECT_EQ(sources.Text(SourceRange({file, 2}, 1)), "");
}

TEST(SourceRange, JoinsOnlyWithinOneFile) {
  SourceManager sources;
  const FileId a = sources.Add("a", "0123456789"), b = sources.Add("b", "0123456789");
  const SourceRange first({a, 1}, 3), second({a, 5}, 7), other({b, 5}, 7);
  EXPECT_EQ(Join(first, second), SourceRange({a, 1}, 7));
  EXPECT_EQ(Join(first, other), first);
  EXPECT_EQ(Join({}, second), second);
}

}  // namespace
}  // namespace choreo
