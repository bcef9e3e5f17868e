// Handles words on the command line that are not valid options, and suggests the intended ones.
#ifndef COORDINATOR_COMMAND_LINE_TYPED_WORDS_H_
#define COORDINATOR_COMMAND_LINE_TYPED_WORDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace iobench {

// The names of one command's options, without dashes.
struct LongNames {
  std::vector<std::string> known;  // all that are accepted
  std::vector<std::string> shown;  // shown by the help; a typo most likely means one of these
};

// Checks long names up to "--" as CLI11 will read them. InvalidArgument: an unknown name, a dash that a word processor
// made of two hyphens, or a long name after a single hyphen; the message suggests the likely name, or else the help of
// `command`.
absl::Status CheckLongNames(const std::vector<std::string>& arguments, const LongNames& names,
                            const std::string& command);

// Looks at a command with a workload. InvalidArgument: options that only another tool has, with one answer for all of
// them: what they are here, or the translated line. REQUIRES: at least one argument, the command.
absl::Status CheckNoForeignNames(const std::vector<std::string>& arguments, const LongNames& names);

// Adds to the refusal of a line that has only letters what it would be here if it is another tool's. `typed`: the line
// without the program's name.
absl::Status WithMeantLine(const absl::Status& status, const std::vector<std::string>& typed);

// Replaces names that other programs use for our options, and that we accept too: --threads 4 is --lanes 4.
std::vector<std::string> WithOurNames(std::vector<std::string> arguments, const LongNames& names);

// True if a word of `run` that belongs to no option is a directory to test, so that --path is not needed: it contains a
// slash, is `.`, `..` or an nfs:// URL, or names a directory that is there. The name of an operation is none, since it may
// lack its --op.
bool NamesDirectory(const std::string& word);

// InvalidArgument: the first word is similar to a command, so `run` is not assumed. OK for an option, a directory or
// the name of an operation.
absl::Status CheckFirstWord(const std::string& word, std::span<const std::string_view> commands);

// Returns InvalidArgument for a word that is not a directory, with what may have been intended. `arguments`: as typed,
// to name the flag that the word follows.
absl::Status RefusalOfWord(const std::string& word, const std::vector<std::string>& arguments);

// InvalidArgument: what follows -- looks like an option and names no file, or the command takes no words. REQUIRES: at
// least one argument.
absl::Status CheckAllOptions(const std::vector<std::string>& arguments);

// InvalidArgument: an option has an empty argument, which CLI11 treats as missing.
absl::Status CheckNoneEmpty(const CLI::App& command);

// InvalidArgument: an argument is not UTF-8, so reports could not show it.
absl::Status CheckUtf8(const std::vector<std::string>& typed);

// Returns CLI11's message in our words, on one line. `command`: the one whose help says more.
std::string MessageOf(const CLI::ParseError& error, const std::string& command);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_TYPED_WORDS_H_
