#include "lex/device_functions.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string_view>

#include "lex/include.h"
#include "lex/lexer.h"

namespace choreo::lex {
namespace {

struct Specifiers {
  bool device = false, force_inline = false, host = false;
};

// Words that a parenthesis follows in the head of a declaration without being its name.
constexpr std::array<std::string_view, 8> kNoNames = {
    "__launch_bounds__", "__attribute__", "__align__", "alignas",
    "decltype",          "noexcept",      "explicit",  "requires"};

bool IsOpening(TokenKind kind) {
  return kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace;
}
bool IsClosing(TokenKind kind) {
  return kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace;
}

// Reads declarations of one text after the other; macros of earlier texts hold in later ones.
class Scan {
 public:
  explicit Scan(std::vector<HostFunction>& found) : found_(found) {}

  void Text(std::string_view text, FileId file, uint32_t base) {
    Lexer lexer(text, file, spellings_, nullptr, base);
    bool directive = false;
    std::vector<Token> line;  // of the directive
    for (Token token = lexer.Next();; token = lexer.Next()) {
      if (directive && (token.starts_line || token.kind == TokenKind::EndOfFile)) {
        Directive(line);
        line.clear();
        directive = false;
      }
      if (token.kind == TokenKind::EndOfFile) break;
      if (token.starts_line && token.text == "#") directive = true;
      if (directive) {
        line.push_back(token);
      } else {
        Feed(token);
      }
    }
  }
  // A tile function, or the end of a file: what follows starts anew.
  void Cut() { head_.clear(); }

 private:
  // `# define NAME specifiers…`
  void Directive(const std::vector<Token>& line) {
    if (line.size() < 3 || line[1].text != "define") return;
    Specifiers all;
    for (size_t i = 3; i < line.size(); ++i) Add(line[i], all);
    macros_[std::string(line[2].text)] = all;
  }

  void Add(const Token& token, Specifiers& to) const {
    to.device |= token.text == "__device__";
    to.force_inline |= token.text == "__forceinline__";
    to.host |= token.text == "__host__";
    const auto macro = macros_.find(std::string(token.text));
    if (macro == macros_.end()) return;
    to.device |= macro->second.device;
    to.force_inline |= macro->second.force_inline;
    to.host |= macro->second.host;
  }

  void Feed(const Token& token) {
    if (skipped_ > 0) {  // a body
      skipped_ += IsOpening(token.kind) ? 1 : IsClosing(token.kind) ? -1 : 0;
      if (skipped_ == 0 && token.kind == TokenKind::RBrace && ended_) {
        if (!found_.empty()) found_.back().text.end = token.range.end;
        Cut();
      }
      return;
    }
    if (token.kind == TokenKind::Semi) {
      const size_t before = found_.size();
      Declaration();
      if (found_.size() != before) found_.back().text.end = token.range.end;
    } else if (token.kind == TokenKind::LBrace) {
      const bool scope = OpensScope();
      // `= {…}` and `x{…}` are part of a declaration that goes on.
      ended_ = !scope && Declaration();
      if (scope) return Cut();
      skipped_ = 1;
    } else if (token.kind == TokenKind::RBrace) {
      Cut();
    } else {
      head_.push_back(token);
    }
  }

  // A brace whose inside holds declarations: of a namespace, a linkage or a class.
  bool OpensScope() const {
    bool scope = false;
    for (size_t i = 0; i < head_.size(); ++i) {
      const std::string_view text = head_[i].text;
      if (head_[i].kind == TokenKind::LParen) return false;
      scope |= text == "namespace" || text == "class" || text == "struct" || text == "union" ||
               (text == "extern" && i + 1 < head_.size() && head_[i + 1].kind == TokenKind::String);
    }
    return scope;
  }

  // The head up to here: a function's? Then it is noted, and what follows is another declaration.
  bool Declaration() {
    std::vector<Token> head;
    head.swap(head_);
    HostFunction function;
    Specifiers specifiers;
    size_t i = 0;
    if (!head.empty() && head[0].text == "template") i = AfterTemplate(head);
    for (; i < head.size(); ++i) {
      const Token& token = head[i];
      if (token.text == "using" || token.text == "typedef") return false;
      if (token.text == "=") return false;
      if (token.text == "__device__") function.device_word = token.range;
      Add(token, specifiers);
      if (token.kind == TokenKind::LParen && i > 0 && IsName(head[i - 1])) break;
      if (token.kind == TokenKind::LParen) i = Close(head, i);
    }
    if (i >= head.size()) return false;
    function.name = std::string(head[i - 1].text);
    function.range = head[i - 1].range;
    function.text = SourceRange(head[0].range.begin, function.range.end);
    CountArguments(head, i, function);
    // Attributes may also stand behind: `void f() __attribute__((…))` says nothing of these two.
    function.device = specifiers.device;
    function.force_inline = specifiers.force_inline;
    function.host = specifiers.host;
    found_.push_back(std::move(function));
    return true;
  }

  static bool IsName(const Token& token) {
    return token.kind == TokenKind::Identifier &&
           std::find(kNoNames.begin(), kNoNames.end(), token.text) == kNoNames.end();
  }

  // The place of the parenthesis or brace that closes the one at `i`.
  static size_t Close(const std::vector<Token>& head, size_t i) {
    int depth = 0;
    for (; i < head.size(); ++i) {
      depth += IsOpening(head[i].kind) ? 1 : IsClosing(head[i].kind) ? -1 : 0;
      if (depth == 0) return i;
    }
    return head.size();
  }

  static size_t AfterTemplate(const std::vector<Token>& head) {
    int depth = 0;
    for (size_t i = 1; i < head.size(); ++i) {
      depth += head[i].text == "<" ? 1 : head[i].text == ">" ? -1 : head[i].text == ">>" ? -2 : 0;
      if (depth <= 0) return i + 1;
    }
    return head.size();
  }

  static void CountArguments(const std::vector<Token>& head, size_t open, HostFunction& function) {
    const size_t close = Close(head, open);
    int depth = 0, angles = 0, count = 0, defaults = 0;
    bool variadic = false, any = false, is_const = false, pointer = false;
    for (size_t i = open + 1; i < close; ++i) {
      const std::string_view text = head[i].text;
      any = true;
      depth += IsOpening(head[i].kind) ? 1 : IsClosing(head[i].kind) ? -1 : 0;
      if (depth > 0) continue;
      angles += text == "<" ? 1 : text == ">" ? -1 : text == ">>" ? -2 : 0;
      variadic |= text == "...";
      if (angles > 0) continue;
      if (text == ",") {
        function.to_const.push_back(is_const && pointer);
        is_const = pointer = false;
      }
      is_const |= text == "const";
      pointer |= text == "*" || text == "[";
      count += text == "," ? 1 : 0;
      defaults += text == "=" ? 1 : 0;
    }
    function.to_const.push_back(is_const && pointer);
    const bool none = !any || (close == open + 2 && head[open + 1].text == "void");
    function.most_args = variadic ? -1 : none ? 0 : count + 1;
    function.least_args = none || variadic ? 0 : count + 1 - defaults;
  }

  std::vector<HostFunction>& found_;
  std::deque<std::string> spellings_;
  std::map<std::string, Specifiers> macros_;
  std::vector<Token> head_;  // of the declaration so far
  int skipped_ = 0;          // open brackets of what is passed over
  bool ended_ = false;       // behind it, a declaration is over
};

template <class F>
void ForEachTileHeader(const SourceManager& sources, const Unit& unit, F&& f) {
  for (uint32_t i = 0; i < sources.file_count(); ++i) {
    if (FileId(i) != unit.file && IsTileHeader(sources.Name(FileId(i)))) f(FileId(i));
  }
}

}  // namespace

std::vector<HostFunction> FindHostFunctions(const SourceManager& sources, const Unit& unit) {
  std::vector<HostFunction> found;
  Scan scan(found);
  ForEachTileHeader(sources, unit, [&](FileId file) {
    scan.Text(sources.Text(file), file, 0);
    scan.Cut();
  });
  for (const Segment& segment : unit.segments) {
    if (segment.kind == Segment::Kind::Host) {
      scan.Text(sources.Text(segment.text), unit.file, segment.text.begin.offset);
    } else {
      scan.Cut();
    }
  }
  return found;
}

bool IncludesOtherHeaders(const SourceManager& sources, const Unit& unit) {
  const auto includes = [&](std::string_view text, FileId file) {
    std::deque<std::string> spellings;
    Lexer lexer(text, file, spellings, nullptr);
    Token before;
    for (Token token = lexer.Next(); token.kind != TokenKind::EndOfFile; token = lexer.Next()) {
      if (before.starts_line && before.text == "#" && token.text == "include") {
        const size_t at = static_cast<size_t>(token.text.data() - text.data());
        const std::string_view line = text.substr(at, text.find('\n', at) - at);
        const bool standard = line.find_first_of("./") == line.npos;
        const bool known = line.find("choreo/") != line.npos || line.find(".co.h") != line.npos;
        if (!standard && !known) return true;
      }
      before = token;
    }
    return false;
  };
  bool any = false;
  ForEachTileHeader(sources, unit, [&](FileId file) { any |= includes(sources.Text(file), file); });
  for (const Segment& segment : unit.segments) {
    if (segment.kind == Segment::Kind::Host) any |= includes(sources.Text(segment.text), unit.file);
  }
  return any;
}

}  // namespace choreo::lex
