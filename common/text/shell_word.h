// Quotes text for shell commands that the program runs or tells the user to type.
#ifndef COMMON_TEXT_SHELL_WORD_H_
#define COMMON_TEXT_SHELL_WORD_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iobench {

// Returns `text` as one POSIX shell word: unchanged if it consists of letters, digits and /._-+,:@%= only, otherwise in
// single quotes. The empty text becomes ''.
std::string ShellWord(std::string_view text);

// Returns the words as a command line that a shell takes apart into the same words. Whatever the program records or prints
// as a command comes from here.
std::string ShellCommand(std::span<const std::string> words);

// The reverse. A word of a command, and whether it was in quotes, so that it is certainly whole. nullopt: a quote has no
// end, or there is something that only a shell could resolve.
struct QuotedWord {
  std::string text;
  bool quoted = false;
};
std::optional<std::vector<QuotedWord>> WordsOfCommand(std::string_view command);

}  // namespace iobench

#endif  // COMMON_TEXT_SHELL_WORD_H_
