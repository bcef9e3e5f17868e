// The options of a command line that a test gives.
#ifndef TESTS_SUPPORT_COMMAND_WORDS_H_
#define TESTS_SUPPORT_COMMAND_WORDS_H_

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "coordinator/command_line/cli.h"

namespace iobench {

// Those of `run`, or of another command that has workers. REQUIRES: the arguments do not ask for a list.
inline absl::StatusOr<JobOptions> JobFrom(const std::vector<std::string>& arguments) {
  const absl::StatusOr<Command> command = ParseCommandLine(arguments);
  if (!command.ok()) return command.status();
  return std::visit(
      [](const auto& each) -> JobOptions {
        if constexpr (std::is_base_of_v<JobOptions, std::decay_t<decltype(each)>>) return each;
        return {};
      },
      *command);
}

// The help that the arguments ask for.
inline std::string TextFrom(const std::vector<std::string>& arguments) {
  return std::get<TextAnswer>(*ParseCommandLine(arguments)).text;
}

}  // namespace iobench

#endif  // TESTS_SUPPORT_COMMAND_WORDS_H_
