// Connects the option table with CLI11.
#ifndef COORDINATOR_COMMAND_LINE_TABLE_OPTIONS_H_
#define COORDINATOR_COMMAND_LINE_TABLE_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "coordinator/option/iozone_letters.h"
#include "coordinator/option/option.h"

namespace iobench {

// Lets CLI11 parse the options of the table, and the single letters that are refused.
class TableOptions {
 public:
  // Adds the options to `app`, which must outlive this object. Call it once. Letters with `+` are known to `app` only
  // by their long names: WithLongOptions replaces them first.
  void AddTo(CLI::App& app);

  // Returns the options that were given. InvalidArgument: a refused letter or an invalid value. REQUIRES: the app has
  // parsed.
  absl::StatusOr<GivenOptions> Given() const;

 private:
  std::vector<std::pair<const OptionSpec*, CLI::Option*>> rows_;
  std::vector<std::pair<const RefusedLetter*, CLI::Option*>> refused_;
};

// Expands shorthands for other options (-A, or a suite that is a list of options) and checks the result with
// CheckOptions. Options that the user gave take precedence over those of a suite. InvalidArgument: a rule is violated,
// or a suite's options are wrong. NotFound: the suites are not installed.
absl::StatusOr<GivenOptions> Complete(GivenOptions given);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_TABLE_OPTIONS_H_
