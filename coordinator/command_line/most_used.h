// Which options the help of a command shows, unless `--help all` asks for every one.
#ifndef COORDINATOR_COMMAND_LINE_MOST_USED_H_
#define COORDINATOR_COMMAND_LINE_MOST_USED_H_

#include <span>
#include <string_view>

namespace iobench {

// The names of those options of `run` that most of its users need. Other commands that have workers show the same of the
// options that they share with it.
std::span<const std::string_view> MostUsedOptions();

// True for a section of the help, by its title, of which only the most used options are shown.
bool IsShortened(std::string_view section);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_MOST_USED_H_
