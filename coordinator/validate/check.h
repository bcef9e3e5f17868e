// The table of validate's checks: their names, what they need, and their functions.
#ifndef COORDINATOR_VALIDATE_CHECK_H_
#define COORDINATOR_VALIDATE_CHECK_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "coordinator/validate/checks/check_context.h"

namespace iobench {

// A row of the table of checks.
struct Check {
  const char* name;   // for --only, --skip and --waive
  const char* title;  // what is checked, one clause
  uint32_t min_peers = 1;
  // What it needs of the options: --fault-hook; --client-hook; --per-client, --whole or rates in --expect; --expect;
  // --consistency.
  enum class Needs { kNothing, kFaultHook, kClientHook, kMeasurement, kExpectations, kConsistency } needs = Needs::kNothing;
  // Checks that follow each other with equal numbers run side by side: none needs what another finds, and none is disturbed
  // by the others' calls. 0: nothing runs beside it.
  uint32_t round = 0;
  // Errors are those of FileCalls; what the file system does wrong is a verdict.
  absl::Status (*run)(CheckContext& context, Outcome& outcome) = nullptr;
};

// In the order in which they run, or are judged if they run side by side. A new check is a row here and a function in a file of its own or of its kind.
std::span<const Check> Checks();
const Check* CheckNamed(std::string_view name);  // null: there is none

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECK_H_
