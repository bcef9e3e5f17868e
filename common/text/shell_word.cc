#include "common/text/shell_word.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace iobench {
namespace {

// These have no special meaning in any shell, at any position in a word (unlike ~ and #).
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
