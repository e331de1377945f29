#include "lex/tile_function.h"

#include <array>
#include <string>
#include <utility>

#include "lex/lexer.h"
#include "support/utf8.h"

namespace choreo::lex {
namespace {

namespace kinds = diag::kinds;

// Punctuation that is easily typed with a Chinese or Japanese keyboard, or pasted from a text.
struct LookAlike {
  uint32_t seen;
  std::string_view meant;
};
constexpr std::array<LookAlike, 30> kLookAlikes = {
    {{0xff0c, ","},  {0x3001, ","},  {0xff1b, ";"}, {0xff1a, ":"}, {0xff08, "("}, {0xff09, ")"},
     {0xff5b, "{"},  {0xff5d, "}"},  {0xff3b, "["}, {0xff3d, "]"}, {0x3010, "["}, {0x3011, "]"},
     {0xff1d, "="},  {0xff0b, "+"},  {0xff0d, "-"}, {0x2212, "-"}, {0x2013, "-"}, {0xff0a, "*"},
     {0xff0f, "/"},  {0xff05, "%"},  {0xff1c, "<"}, {0xff1e, ">"}, {0xff01, "!"}, {0xff1f, "?"},
     {0x201c, "\""}, {0x201d, "\""}, {0x2018, "'"}, {0x2019, "'"}, {0xff0e, "."}, {0x3002, "."}}};

class FunctionReader {
 public:
  FunctionReader(const PpToken& first, TokenStream& stream, Expander& expander,
                 ExpansionState& state)
      : first_(first), stream_(stream), expander_(expander), state_(state) {}

  TileFunctionRead Run() {
    const size_t errors_before = state_.diags.error_count();
    const TokenStream::Branch branch = stream_.branch();
    const size_t depth = stream_.depth();
    stream_.EnterTileFunction();
    Add(first_);
    while (!closed_) {
      PpToken token = expander_.Next();
      if (state_.stopped) return GiveUp();
      if (token.kind == TokenKind::EndOfFile || token.text == "__co__") {
        if (token.kind != TokenKind::EndOfFile) result_.next = token;
        if (token.kind == TokenKind::EndOfFile && state_.diags.error_count() != errors_before) {
          return GiveUp();  // what was wrong hides the end, as an unterminated comment does
        }
        return Unclosed();
      }
      if (!Clean(token)) continue;
      if (!Follow(token)) return GiveUp();
      Add(token);
      if (!state_.Spend(1, token.use)) return GiveUp();
    }
    result_.definitions = stream_.LeaveTileFunction();
    if (stream_.depth() != depth) {
      state_.diags.Emit(kinds::TileFunctionAcrossFiles, first_.use, Name());
      result_.tokens.clear();
    } else if (!(branch == stream_.branch())) {
      state_.diags.Emit(kinds::TileFunctionAcrossConditional, first_.use, Name());
      result_.tokens.clear();
    }
    return Finish();
  }

 private:
  void Add(PpToken token) {
    if (token.kind == TokenKind::Identifier) token.kind = KeywordOrIdentifier(token.text);
    result_.tokens.push_back(token);
  }

  TileFunctionRead GiveUp() {
    stream_.LeaveTileFunction();
    result_.tokens.clear();
    result_.is_regular = false;
    return std::move(result_);
  }

  TileFunctionRead Finish() {
    if (result_.tokens.empty()) {
      result_.is_regular = false;
      return std::move(result_);
    }
    Token end;
    const SourceRange last = result_.tokens.back().use;
    end.range = SourceRange({last.begin.file, last.end}, last.end);
    end.use = end.range;
    result_.tokens.push_back(end);
    return std::move(result_);
  }

  // Follows the function's shape. False: it ended without a body.
  bool Follow(const PpToken& token) {
    if (open_.empty()) {
      if (token.kind == TokenKind::LParen) ++parentheses_;
      if (token.kind == TokenKind::RParen && parentheses_ > 0) --parentheses_;
      const bool ends =
          token.kind == TokenKind::RBrace || (token.kind == TokenKind::Semi && parentheses_ == 0);
      if (ends) {
        state_.diags.Emit(kinds::TileFunctionWithoutBody, token.range, Name());
        return false;
      }
      const bool after_parameters =
          result_.tokens.back().kind == TokenKind::RParen && parentheses_ == 0;
      if (after_parameters && token.kind != TokenKind::LBrace && token.kind != TokenKind::RParen) {
        result_.is_regular = false;
      }
    }
    if (token.kind == TokenKind::LBrace) {
      open_.push_back(result_.tokens.size());
    } else if (token.kind == TokenKind::RBrace) {
      const size_t closes = open_.back();
      open_.pop_back();
      closed_ = open_.empty();
      NotePlausibleEnd(token, closes);
    }
    return true;
  }

  // A `}` no further right than the function's head, though another brace is still open: if the
  // function turns out not to be closed, this is where it was meant to end. Then the brace that it
  // closed, deeper inside, is the one that was forgotten.
  void NotePlausibleEnd(const PpToken& brace, size_t closes) {
    if (end_size_ != 0 || closed_ || !brace.starts_line) return;
    const SourceManager& sources = state_.sources;
    if (brace.range.begin.file != first_.use.begin.file) return;
    if (sources.Position(brace.range.begin).column > sources.Position(first_.use.begin).column) {
      return;
    }
    end_size_ = result_.tokens.size() + 1;
    end_closes_ = closes;
    end_open_ = open_;
  }

  TileFunctionRead Unclosed() {
    const bool cut = end_size_ != 0;
    const std::vector<size_t>& open = cut ? end_open_ : open_;
    diag::Builder builder = state_.diags.Emit(kinds::UnterminatedTileFunction, first_.use, Name());
    if (!open.empty()) {
      builder.Note(result_.tokens[cut ? end_closes_ : open.back()].range, "this `{` is not closed");
    }
    if (cut) {
      builder.Note(result_.tokens[end_size_ - 1].range,
                   "the function seems to end here, by its indentation");
    }
    if (result_.next) builder.Note(result_.next->range, "the next tile function starts here");
    constexpr size_t kMostBraces = 100;
    // Without a cut at the end of the file, host text was read as if it were the function's.
    if (open.empty() || open.size() > kMostBraces || (!cut && !result_.next)) return GiveUp();

    stream_.LeaveTileFunction();
    if (cut) result_.tokens.resize(end_size_);
    Token brace = result_.tokens.back();
    brace.kind = TokenKind::RBrace;
    brace.text = "}";
    brace.range = SourceRange({brace.range.begin.file, brace.range.end}, brace.range.end);
    brace.use = SourceRange({brace.use.begin.file, brace.use.end}, brace.use.end);
    result_.tokens.insert(result_.tokens.end(), open.size(), brace);
    result_.is_regular = false;
    return Finish();
  }

  // The function's name, if it has one: the last name before its parameters.
  std::string_view Name() const {
    std::string_view name = "?";
    for (const Token& token : result_.tokens) {
      if (token.kind == TokenKind::LParen || token.kind == TokenKind::LBrace) break;
      if (token.kind == TokenKind::Identifier) name = token.text;
    }
    return name;
  }

  // Diagnoses what is not a token of the language. An unterminated literal is closed, so that the
  // parser finds one; any other stray character is left out (false).
  bool Clean(PpToken& token) {
    if (token.kind != TokenKind::Unknown) {
      after_unknown_ = false;
      return true;
    }
    const size_t quote = token.text.find_first_of("\"'");
    if (quote != token.text.npos) {
      state_.diags.Emit(kinds::UnterminatedLiteral, token.range,
                        token.text[quote] == '"' ? "string" : "character literal",
                        token.text[quote]);
      token.kind = TokenKind::String;
      token.text = "\"\"";
      return true;
    }
    return UnknownCharacter(token);
  }

  bool UnknownCharacter(PpToken& token) {
    if (std::exchange(after_unknown_, true)) return false;  // one message for a run of them
    const CodePoint point = DecodeUtf8(token.text);
    std::string seen = fmt::format("U+{:04X}", point.value);
    if (point.value > 0x20 && point.value != 0x7f && point.value != '`') {
      seen = fmt::format("`{}` ({})", token.text, seen);
    }
    diag::Builder builder = state_.diags.Emit(kinds::UnknownCharacter, token.range, seen);
    for (const LookAlike& look_alike : kLookAlikes) {
      if (look_alike.seen != point.value) continue;
      builder.Fix(token.range, std::string(look_alike.meant));
      // The parser goes on with what was meant.
      Lexer lexer(look_alike.meant, token.range.begin.file, state_.spellings, nullptr);
      token.text = look_alike.meant;
      token.kind = lexer.Next().kind;
      after_unknown_ = false;
      return token.kind != TokenKind::Unknown;
    }
    return false;
  }

  const PpToken& first_;
  TokenStream& stream_;
  Expander& expander_;
  ExpansionState& state_;
  TileFunctionRead result_;
  std::vector<size_t> open_;  // places of the open braces in the tokens
  size_t parentheses_ = 0;    // before the body
  bool closed_ = false;
  bool after_unknown_ = false;
  size_t end_size_ = 0;    // tokens up to the plausible end,
  size_t end_closes_ = 0;  // the brace that it closes, and the braces open there
  std::vector<size_t> end_open_;
};

}  // namespace

TileFunctionRead ReadTileFunction(const PpToken& first, TokenStream& stream, Expander& expander,
                                  ExpansionState& state) {
  return FunctionReader(first, stream, expander, state).Run();
}

}  // namespace choreo::lex
