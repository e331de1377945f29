#include "driver/generate.h"

#include <fmt/format.h>

#include <deque>
#include <vector>

#include "lex/device_functions.h"
#include "lex/lexer.h"

namespace choreo::driver {
namespace {

class Hasher {  // FNV-1a, 64 bits; each part is preceded by its length
 public:
  void Add(std::string_view text) {
    const uint64_t size = text.size();
    for (int shift = 0; shift < 64; shift += 8) Byte(static_cast<uint8_t>(size >> shift));
    for (const char c : text) Byte(static_cast<uint8_t>(c));
  }
  std::string Text() const { return fmt::format("{:016x}", state_); }

 private:
  void Byte(uint8_t byte) { state_ = (state_ ^ byte) * 0x100000001b3u; }

  uint64_t state_ = 0xcbf29ce484222325u;
};

// The host text for the simulator: device functions, which a host compiler cannot read, are blanks.
std::string WithoutDeviceFunctions(const lex::Segment& segment, std::string_view text,
                                   const std::vector<lex::HostFunction>& functions) {
  std::string result(text);
  const uint32_t begin = segment.text.begin.offset;
  for (const lex::HostFunction& function : functions) {
    if (!function.device || function.host) continue;
    if (function.text.begin.file != segment.text.begin.file) continue;
    if (function.text.begin.offset < begin || function.text.end > segment.text.end) continue;
    for (uint32_t i = function.text.begin.offset; i < function.text.end; ++i) {
      char& c = result[i - begin];
      if (c != '\n') c = ' ';
    }
  }
  return result;
}

// The host text and the places of the kernels; definitions made inside a tile function hold after
// it.
std::vector<codegen::Segment> Segments(const SourceManager& sources, const lex::Unit& unit,
                                       Target target, std::deque<std::string>& texts) {
  std::vector<codegen::Segment> segments;
  std::vector<lex::HostFunction> functions;
  if (target == Target::Sim) functions = lex::FindHostFunctions(sources, unit);
  const auto add_text = [&](SourceRange range) {
    segments.push_back({sources.Text(range), sources.Position(range.begin).line, -1});
  };
  for (const lex::Segment& segment : unit.segments) {
    if (segment.kind == lex::Segment::Kind::Host) {
      add_text(segment.text);
      if (target == Target::Sim) {
        texts.push_back(WithoutDeviceFunctions(segment, segments.back().text, functions));
        segments.back().text = texts.back();
      }
      continue;
    }
    segments.push_back({{}, 0, static_cast<int>(segment.function)});
    for (SourceRange definition : unit.functions[segment.function].definitions) {
      const std::string_view text = sources.Text(definition.begin.file);
      const size_t line_end = text.find('\n', definition.end);
      definition.end = static_cast<uint32_t>(line_end == text.npos ? text.size() : line_end + 1);
      add_text(definition);
    }
  }
  return segments;
}

bool IsCudaName(std::string_view name) {
  const bool call = name.starts_with("cuda") && name.size() > 4 && name[4] >= 'A' && name[4] <= 'Z';
  return call || name == "__global__" || name == "__device__";
}

// One warning, at the first place in the host text that only CUDA understands.
void WarnOfCuda(const SourceManager& sources, const lex::Unit& unit, diag::Emitter& diags) {
  std::deque<std::string> spellings;
  for (const lex::Segment& segment : unit.segments) {
    if (segment.kind != lex::Segment::Kind::Host) continue;
    lex::Lexer lexer(sources.Text(segment.text), unit.file, spellings, nullptr,
                     segment.text.begin.offset);
    for (lex::Token token = lexer.Next(); token.kind != lex::TokenKind::EndOfFile;
         token = lexer.Next()) {
      if (token.kind != lex::TokenKind::Identifier || !IsCudaName(token.text)) continue;
      diags.Emit(diag::kinds::NotSimulated, token.range, token.text);
      return;
    }
  }
}

}  // namespace

std::string InputHash(const GenerateInput& input) {
  const SourceManager& sources = input.sources;
  Hasher hasher;
  hasher.Add(CROQTILE_VERSION);
  hasher.Add(input.target == Target::Cuda ? "cuda" : "sim");
  if (input.debug_waits_ms > 0) hasher.Add(fmt::to_string(input.debug_waits_ms));
  if (input.mbarriers_only) hasher.Add("mbarriers only");
  for (const lex::CommandLineDefine& define : input.unit.command_line_defines) {
    hasher.Add(define.name);
    hasher.Add(define.body);
  }
  // Contents only: where a file lies does not change what it means.
  for (uint32_t i = 0; i < sources.file_count(); ++i) hasher.Add(sources.Text(FileId(i)));
  return hasher.Text();
}

std::string GenerateProgram(const GenerateInput& input, diag::Emitter& diags) {
  const lex::Unit& unit = input.unit;
  codegen::Program program{input.module, {}, {}, CROQTILE_VERSION, {}};
  program.input_hash = InputHash(input);
  program.line_directives = input.line_directives;
  program.debug_waits_ms = input.debug_waits_ms;
  std::deque<std::string> texts;  // of host text that is not passed through as it is
  program.segments = Segments(input.sources, unit, input.target, texts);
  for (const lex::CommandLineDefine& define : unit.command_line_defines) {
    program.defines.push_back({define.name, define.body});
  }
  if (input.target == Target::Cuda) return codegen::PrintCuda(program);
  WarnOfCuda(input.sources, unit, diags);
  return codegen::PrintSim(program);
}

}  // namespace choreo::driver
