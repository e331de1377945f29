#include "lex/encoding.h"

#include "support/utf8.h"

namespace choreo::lex {

bool CheckEncoding(const SourceManager& sources, FileId file, diag::Emitter& diags) {
  const std::string_view text = sources.Text(file);
  const auto at = [&](size_t offset) { return SourceLoc{file, static_cast<uint32_t>(offset)}; };
  if (text.size() > kMaxFileBytes) {
    diags.Emit(diag::kinds::FileTooLarge, SourceRange(at(0), 0), kMaxFileBytes >> 20);
    return false;
  }
  bool ok = true;
  if (const size_t nul = text.find('\0'); nul != text.npos) {
    diags.Emit(diag::kinds::NulByte, at(nul));
    ok = false;
  }
  if (const size_t bad = FindInvalidUtf8(text); bad != text.npos) {
    diags.Emit(diag::kinds::InvalidUtf8, at(bad), static_cast<unsigned char>(text[bad]));
    ok = false;
  }
  return ok;
}

}  // namespace choreo::lex
