#include "codegen/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace choreo::codegen {
namespace {

// Keywords of C++20, names and macros that CUDA and the C library bring, and what printed code
// uses.
constexpr std::string_view kReserved[] = {"alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char8_t",
                                          "char16_t",
                                          "char32_t",
                                          "class",
                                          "compl",
                                          "concept",
                                          "const",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "const_cast",
                                          "continue",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "dynamic_cast",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "long",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "reinterpret_cast",
                                          "requires",
                                          "return",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "static_assert",
                                          "static_cast",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "thread_local",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "union",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq",
                                          "int8_t",
                                          "uint8_t",
                                          "int16_t",
                                          "uint16_t",
                                          "int32_t",
                                          "uint32_t",
                                          "int64_t",
                                          "uint64_t",
                                          "size_t",
                                          "threadIdx",
                                          "blockIdx",
                                          "blockDim",
                                          "gridDim",
                                          "warpSize",
                                          "min",
                                          "max",
                                          "fminf",
                                          "fmaxf",
                                          "fmin",
                                          "fmax",
                                          "fmaf",
                                          "fma",
                                          "fabsf",
                                          "fabs",
                                          "abs",
                                          "float2",
                                          "float4",
                                          "int2",
                                          "int4",
                                          "uint2",
                                          "uint4",
                                          "make_float2",
                                          "make_float4",
                                          "make_int2",
                                          "make_int4",
                                          "make_uint2",
                                          "make_uint4",
                                          "double2",
                                          "make_double2",
                                          "INFINITY",
                                          "NAN",
                                          "NULL",
                                          "EOF",
                                          "assert",
                                          "errno",
                                          "linux",
                                          "unix",
                                          "stdin",
                                          "stdout",
                                          "stderr",
                                          "I",
                                          "choreo",
                                          "std"};

bool IsReserved(std::string_view name) {
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

// A valid identifier that no implementation keeps for itself.
std::string Valid(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) {
    const bool valid = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (valid || (name.empty() ? c == '_' : name.back() != '_')) name += valid ? c : '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "v" + name;
  if (name[0] == '_') name = "v" + name;
  return name;
}

}  // namespace

std::string Names::Take(std::string_view wanted) {
  const std::string base = Valid(wanted);
  std::string name = base;
  for (int i = 1; taken_.contains(name) || IsReserved(name) || reserved_.contains(name); ++i) {
    name = fmt::format("{}_{}", base, i);
  }
  taken_.insert(name);
  taken_order_.push_back(name);
  return name;
}

std::string Names::Define(ir::VarId id) { return vars_[id] = Take(kernel_.vars[id].name); }
std::string Names::Define(ir::StorageId id) {
  return storages_[id] = Take(kernel_.storages[id].name);
}
std::string Names::Define(std::string_view wanted) { return Take(wanted); }

const std::string& Names::Of(ir::VarId id) const {
  const auto found = vars_.find(id);
  CHOREO_CHECK(found != vars_.end(), "variable `{}` has no name yet", kernel_.vars[id].name);
  return found->second;
}

const std::string& Names::Of(ir::StorageId id) const {
  const auto found = storages_.find(id);
  CHOREO_CHECK(found != storages_.end(), "storage `{}` has no name yet", kernel_.storages[id].name);
  return found->second;
}

void Names::Leave() {
  while (taken_order_.size() > scopes_.back()) {
    taken_.erase(taken_order_.back());
    taken_order_.pop_back();
  }
  scopes_.pop_back();
}

void CollectMacros(std::string_view text, std::unordered_set<std::string>& names) {
  constexpr std::string_view kDirective = "define";
  for (size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    size_t i = text.find_first_not_of(" \t", at + 1);
    if (i == std::string_view::npos || text.substr(i, kDirective.size()) != kDirective) continue;
    i = text.find_first_not_of(" \t", i + kDirective.size());
    if (i == std::string_view::npos) continue;
    size_t end = i;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
      ++end;
    }
    names.emplace(text.substr(i, end - i));
  }
}

}  // namespace choreo::codegen
