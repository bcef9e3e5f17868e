// Command lines that show what a command is for: at the top of its help, of the man page, and of the short usage text.
#ifndef COORDINATOR_COMMAND_LINE_EXAMPLES_H_
#define COORDINATOR_COMMAND_LINE_EXAMPLES_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace iobench {

struct Example {
  std::string_view line;  // to be typed in a shell
  std::string_view does;
};

// Returns those of a command, the simplest first. Empty: its help shows none.
std::span<const Example> ExamplesOf(std::string_view command);

// Returns them with a title, in lines of at most `columns`, or "" if there are none.
std::string ExamplesText(std::string_view command, size_t columns);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_EXAMPLES_H_
