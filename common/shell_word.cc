#include "common/shell_word.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace iobench {
namespace {

// No shell gives these a meaning, wherever in a word they stand (which is not true of ~ and #).
bool IsPlain(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("/._-+,:@%=").find(c) != std::string_view::npos;
}

}  // namespace

std::string ShellWord(std::string_view text) {
  const std::string word(text);
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsPlain)) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

}  // namespace iobench
