// Macro expansion by the rules of C: arguments are expanded before they are put in (unless beside
// `#` or
// `##`), the result is read again, and a macro is never expanded inside its own expansion.
// Pulls tokens from a source, gives them expanded. Work is bounded by a budget that all expansions
// of a run share: when it is spent, that is diagnosed once and nothing but EndOfFile follows.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "diag/diag.h"
#include "lex/macro.h"
#include "lex/token.h"
#include "support/source.h"

namespace choreo::lex {

class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual PpToken Next() = 0;  // EndOfFile again and again at the end
};

// The tokens of one line.
class LineSource : public TokenSource {
 public:
  explicit LineSource(const std::vector<PpToken>& tokens) : tokens_(tokens) {}
  PpToken Next() override { return at_ < tokens_.size() ? tokens_[at_++] : PpToken(); }

 private:
  const std::vector<PpToken>& tokens_;
  size_t at_ = 0;
};

// What every expansion of a run shares.
struct ExpansionState {
  const SourceManager& sources;
  diag::Emitter& diags;
  std::deque<std::string>& spellings;  // text of tokens that stand in no file
  size_t tokens_left = kMaxTokens;
  bool stopped = false;  // a limit was passed; nothing more is read

  static constexpr size_t kMaxTokens = 1'000'000;
  static constexpr size_t kMaxTokenBytes = 64 << 10;
  static constexpr size_t kMaxNesting = 200;

  // Diagnoses a passed limit, once, and stops the run.
  void Stop(SourceRange range, std::string_view limit);
  // Counts tokens against the budget; false when it is spent.
  bool Spend(size_t tokens, SourceRange range);
};

class Expander {
 public:
  // `in_condition`: the operand of `defined` is left alone.
  Expander(const MacroTable& macros, TokenSource& source, ExpansionState& state,
           bool in_condition = false);

  PpToken Next();
  // The next token as it stands: for text in which macros are not expanded.
  PpToken NextUnexpanded() { return Read(); }
  // Starts the expansion of the macro that `name`, just read, names: its tokens come next. False if
  // it names none, or has no argument list where it needs one.
  bool ExpandUse(const PpToken& name);
  // Whether tokens of an expansion are still to come before the next one of the source.
  bool InExpansion();
  // The end of the last token that was taken from the source for good.
  SourceLoc source_end() const { return source_end_; }

 private:
  struct Context {
    MacroPtr macro;  // null: an argument or a token put back
    std::vector<PpToken> tokens;
    size_t next = 0;
    bool is_argument = false;  // reading stops at its end until it is popped by hand
  };
  using Arguments = std::vector<std::vector<PpToken>>;

  PpToken Read();
  bool NextIsLeftParen();
  bool Expand(const PpToken& name, const MacroPtr& macro);
  std::vector<PpToken> ExpandDynamic(const PpToken& name, DynamicMacro dynamic);
  std::optional<Arguments> CollectArguments(const PpToken& name, const Macro& macro);
  bool CheckCount(const PpToken& name, const Macro& macro, Arguments& arguments);
  std::vector<PpToken> ExpandArgument(const std::vector<PpToken>& raw);
  void Push(Context context);
  void Pop();
  void NoteOperandOfDefined(const PpToken& token);

  const MacroTable& macros_;
  TokenSource& source_;
  ExpansionState& state_;
  std::vector<Context> contexts_;
  std::unordered_set<const Macro*> disabled_;  // macros whose expansion is being read
  std::optional<PpToken> put_back_;            // a token of the source
  SourceLoc source_end_;
  size_t argument_depth_ = 0;
  bool in_condition_;
  int after_defined_ = 0;  // 1: `defined` was just seen; 2: and its `(`
};

}  // namespace choreo::lex
