// The commands, and the part of the option table that fills their structs.
#ifndef COORDINATOR_OPTIONS_COMMAND_TABLE_H_
#define COORDINATOR_OPTIONS_COMMAND_TABLE_H_

#include <span>
#include <string_view>

#include "coordinator/options/option_spec.h"

namespace iobench {

struct CommandSpec {
  OptionCommand command;
  std::string_view name;
  std::string_view help;
  bool has_sections;  // false: its help shows all options in one
  std::string_view footer;
};

// In the order of the help.
std::span<const CommandSpec> Commands();

// The options that fill a member of their command's struct (command_options.h). Each command has its own in this order,
// after those of kPlanOptions.
std::span<const OptionSpec> CommandOptions();

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_COMMAND_TABLE_H_
