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

std::string ShellCommand(std::span<const std::string> words) {
  std::string command;
  for (const std::string& word : words) absl::StrAppend(&command, command.empty() ? "" : " ", ShellWord(word));
  return command;
}

std::optional<std::vector<QuotedWord>> WordsOfCommand(std::string_view command) {
  std::vector<QuotedWord> words;
  bool in_word = false;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    QuotedWord& word = words.back();
    if (c == '\'') {
      const size_t end = command.find('\'', i + 1);
      if (end == std::string_view::npos) return std::nullopt;
      word.text += command.substr(i + 1, end - i - 1);
      word.quoted = true;
      i = end;
    } else if (c == '\\' && i + 1 < command.size()) {
      word.text += command[++i];
      word.quoted = true;
    } else if (IsPlain(c)) {
      word.text += c;
    } else {
      return std::nullopt;
    }
  }
  return words;
}

}  // namespace iobench
