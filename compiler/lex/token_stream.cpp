#include "lex/token_stream.h"

#include <algorithm>
#include <utility>

namespace choreo::lex {

namespace kinds = diag::kinds;

TokenStream::TokenStream(SourceManager& sources, FileId main,
                         const std::vector<std::string>& include_dirs, ExpansionState& state)
    : sources_(sources),
      state_(state),
      includes_(sources, include_dirs, state.diags),
      error_limit_(state.diags.error_count() + kMaxErrors) {
  Enter(main);
}

void TokenStream::Enter(FileId file) {
  frames_.push_back(
      {file, Lexer(sources_.Text(file), file, state_.spellings, &state_.diags), {}, {}});
}

void TokenStream::ReadFirst(FileId file) { Enter(file); }

PpToken TokenStream::Take(Frame& frame) {
  if (frame.ahead) return *std::exchange(frame.ahead, std::nullopt);
  return PpToken(frame.lexer.Next());
}

TokenStream::Line TokenStream::TakeLine(const PpToken& hash) {
  Line line{hash.range, {}};
  Frame& frame = frames_.back();
  while (true) {
    PpToken token = Take(frame);
    if (token.starts_line || token.kind == TokenKind::EndOfFile) {
      frame.ahead = std::move(token);
      return line;
    }
    if (line.tokens.size() < ExpansionState::kMaxTokens) {
      line.tokens.push_back(std::move(token));
    } else {
      state_.Stop(hash.range, fmt::format("{} tokens in a directive", ExpansionState::kMaxTokens));
    }
  }
}

bool TokenStream::Active() const {
  const std::vector<Conditional>& conditionals = frames_.back().conditionals;
  return conditionals.empty() || conditionals.back().active;
}

bool TokenStream::IsCertain() const {
  return std::all_of(frames_.begin(), frames_.end(), [](const Frame& frame) {
    return std::all_of(frame.conditionals.begin(), frame.conditionals.end(),
                       [](const Conditional& c) { return c.certain; });
  });
}

void TokenStream::EndFile() {
  for (const Conditional& conditional : frames_.back().conditionals) {
    if (state_.diags.error_count() > error_limit_) break;
    state_.diags.Emit(kinds::UnterminatedConditional, conditional.start);
  }
  frames_.back().conditionals.clear();
}

PpToken TokenStream::Next() {
  while (!state_.stopped) {
    Frame& frame = frames_.back();
    PpToken token = Take(frame);
    if (state_.diags.error_count() > error_limit_) {
      state_.Stop(token.range, fmt::format("{} errors before parsing", kMaxErrors));
      break;
    }
    if (token.kind == TokenKind::EndOfFile) {
      EndFile();
      if (frames_.size() == 1) return token;
      frames_.pop_back();
    } else if (token.kind == TokenKind::Hash && token.starts_line) {
      Directive(token);
    } else if (Active()) {
      return token;
    } else if (token.text == "__co__" && in_main_file() && !hidden_tile_function_.valid()) {
      hidden_tile_function_ = token.range;
    }
  }
  return {};
}

SourceRange TokenStream::included_program() const {
  return frames_.back().is_program ? frames_.back().program_line : SourceRange();
}

TokenStream::Branch TokenStream::branch() const {
  // The main file is a program, so there is one.
  const auto program = std::find_if(frames_.rbegin(), frames_.rend(),
                                    [](const Frame& frame) { return frame.is_program; });
  const std::vector<Conditional>& conditionals = program->conditionals;
  if (conditionals.empty()) return {};
  return {conditionals.size(), conditionals.back().serial};
}

std::vector<SourceRange> TokenStream::LeaveTileFunction() {
  in_tile_function_ = false;
  return std::exchange(definitions_, {});
}

}  // namespace choreo::lex
