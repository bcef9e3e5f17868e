// Connects the option table with CLI11.
#ifndef COORDINATOR_COMMAND_LINE_TABLE_OPTIONS_H_
#define COORDINATOR_COMMAND_LINE_TABLE_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "coordinator/options/command_table.h"
#include "coordinator/options/iozone_letters.h"
#include "coordinator/options/option.h"

namespace iobench {

// Lets CLI11 parse the options of a command, and the single letters that are refused.
class TableOptions {
 public:
  // Options that fill members of Struct store into `object`, which must outlive the parsing.
  template <typename Struct>
  void Bind(Struct& object) {
    objects_.emplace_back(&kStructTag<Struct>, &object);
  }

  // Adds the options of kPlanOptions that the command has to `app`, which must outlive this object. Letters with `+` are
  // known to `app` only by their long names: WithLongOptions replaces them first.
  void AddPlanOptions(CLI::App& app, OptionCommand command);
  // Adds those of CommandOptions. REQUIRES: their structs are bound.
  void AddCommandOptions(CLI::App& app, const CommandSpec& command);

  // Returns the options of kPlanOptions that were given. InvalidArgument: a refused letter or an invalid value. REQUIRES:
  // the app has parsed.
  absl::StatusOr<GivenOptions> Given() const;

 private:
  void* ObjectOf(const OptionField& field) const;
  CLI::Option* Add(CLI::App& app, const OptionSpec& option, const std::string& help) const;

  std::vector<std::pair<const char*, void*>> objects_;  // by the tags of their structs
  std::vector<std::pair<const OptionSpec*, CLI::Option*>> rows_;
  std::vector<std::pair<const RefusedLetter*, CLI::Option*>> refused_;
};

// Expands shorthands for other options (-A, or a suite that is a list of options) and checks the result with
// CheckOptions. Options that the user gave take precedence over those of a suite. InvalidArgument: a rule is violated,
// or a suite's options are wrong. NotFound: the suites are not installed.
absl::StatusOr<GivenOptions> Complete(GivenOptions given);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_TABLE_OPTIONS_H_
