// Connects the option table with CLI11.
#ifndef COORDINATOR_OPTION_TABLE_OPTIONS_H_
#define COORDINATOR_OPTION_TABLE_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "coordinator/option/iozone_letters.h"
#include "coordinator/option/option.h"

namespace iobench {

class TableOptions {
 public:
  // Adds the options to `app`, which must outlive this object. Call it once.
  void AddTo(CLI::App& app);

  // Returns the options that were given. InvalidArgument: a refused letter or an invalid value. REQUIRES: the app has
  // parsed.
  absl::StatusOr<GivenOptions> Given() const;

 private:
  std::vector<std::pair<const OptionSpec*, CLI::Option*>> rows_;
  std::vector<std::pair<const RefusedLetter*, CLI::Option*>> refused_;
};

// Expands shorthands for other options (-A, or a suite that is a list of options) and checks the result with
// CheckOptions. Options that the user gave take precedence over those of a suite.
absl::StatusOr<GivenOptions> Complete(GivenOptions given);

}  // namespace iobench

#endif  // COORDINATOR_OPTION_TABLE_OPTIONS_H_
