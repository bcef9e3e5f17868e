// Quotes text for shell commands that the program runs or tells the user to type.
#ifndef COMMON_TEXT_SHELL_WORD_H_
#define COMMON_TEXT_SHELL_WORD_H_

#include <string>
#include <string_view>

namespace iobench {

// Returns `text` as one POSIX shell word: unchanged if it consists of letters, digits and /._-+,:@%= only, otherwise in
// single quotes. The empty text becomes ''.
std::string ShellWord(std::string_view text);

}  // namespace iobench

#endif  // COMMON_TEXT_SHELL_WORD_H_
