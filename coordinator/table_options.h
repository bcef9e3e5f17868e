// The option table on the command line: its rows as CLI11 knows them, and what was given of them.
#ifndef COORDINATOR_TABLE_OPTIONS_H_
#define COORDINATOR_TABLE_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "coordinator/iozone_letters.h"
#include "coordinator/option.h"

namespace iobench {

class TableOptions {
 public:
  // Once; the app must outlive this.
  void AddTo(CLI::App& app);

  // REQUIRES: the app has parsed. InvalidArgument: a refused letter, a value that cannot be read.
  absl::StatusOr<GivenOptions> Given() const;

 private:
  std::vector<std::pair<const OptionSpec*, CLI::Option*>> rows_;
  std::vector<std::pair<const RefusedLetter*, CLI::Option*>> refused_;
};

// With what is short for other options (-A, a suite that is a list of options) written out, and checked (CheckOptions).
// What was given comes before what a suite says.
absl::StatusOr<GivenOptions> Complete(GivenOptions given);

}  // namespace iobench

#endif  // COORDINATOR_TABLE_OPTIONS_H_
