#include "ir/raw_text.h"

#include <gtest/gtest.h>

namespace choreo::ir {
namespace {

TEST(RawTextTest, MentionsWholeWordsOnly) {
  EXPECT_TRUE(Mentions("acc[0] = 1;", "acc"));
  EXPECT_TRUE(Mentions("x=acc", "acc"));
  EXPECT_TRUE(Mentions("my_acc + acc", "acc"));
  EXPECT_FALSE(Mentions("acc_s[0]", "acc"));
  EXPECT_FALSE(Mentions("my_acc", "acc"));
  EXPECT_FALSE(Mentions("acc2", "acc"));
  EXPECT_FALSE(Mentions("anything", ""));
  EXPECT_FALSE(Mentions("", "acc"));
}

}  // namespace
}  // namespace choreo::ir
