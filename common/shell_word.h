// Texts of the user's in commands that a shell reads: ours, or those that we tell people to type.
#ifndef COMMON_SHELL_WORD_H_
#define COMMON_SHELL_WORD_H_

#include <string>
#include <string_view>

namespace iobench {

// One word of a POSIX shell that means `text`: as it is where that is safe, else in single quotes.
std::string ShellWord(std::string_view text);

}  // namespace iobench

#endif  // COMMON_SHELL_WORD_H_
