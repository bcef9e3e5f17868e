// What the program's commands accept, taken from CLI11's parser: the source of the man page and of shell completion.
#ifndef COORDINATOR_COMMAND_LINE_COMMAND_HELP_H_
#define COORDINATOR_COMMAND_LINE_COMMAND_HELP_H_

#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace iobench {

struct OptionHelp {
  std::vector<std::string> names;  // as typed: "-c", "-+p", "--close-in-timing"; for a positional "DIR"
  bool positional = false;
  std::string argument;              // "SIZE", "json|csv"; empty: a flag
  std::vector<std::string> choices;  // all values that the argument may have, if they are known
  bool takes_path = false;           // the argument is a file or directory
  std::string help;
  std::string group;  // title of its section in the help
};

struct CommandHelp {
  std::string name;  // "run"
  std::string help;
  std::vector<OptionHelp> options;  // in the order of the help; hidden ones are left out
};

// Returns the commands of the program, `run` first. IOzone's letters with `+`, which CLI11 does not know, are names
// too.
std::vector<CommandHelp> CommandsOf(const CLI::App& app);

// The options that --help shows: those that most users need (most_used.h), or all.
enum class HelpLength { kMostUsed, kAll };

// Writes --help in lines of at most `columns`: examples first; arguments have one form everywhere, "DIR" or, if there may
// be several, "DIR...", and the usage begins with the program's name.
std::shared_ptr<CLI::FormatterBase> HelpFormatter(size_t columns, HelpLength length);

// Returns what `--generate` writes: the man page, completion for bash, zsh or fish, or docs/coming-from.md. InvalidArgument: none of these.
absl::StatusOr<std::string> Generated(const std::string& what, const std::vector<CommandHelp>& commands);

// Implemented in man_page.cc and completion.cc.
std::string ManPage(const std::vector<CommandHelp>& commands);
std::string BashCompletion(const std::vector<CommandHelp>& commands);
std::string ZshCompletion(const std::vector<CommandHelp>& commands);
std::string FishCompletion(const std::vector<CommandHelp>& commands);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_COMMAND_HELP_H_
