// Finds a short part of a script that still fails (delta debugging, Zeller and Hildebrandt 2002).
#ifndef COORDINATOR_VALIDATE_CONSISTENCY_SHRINK_H_
#define COORDINATOR_VALIDATE_CONSISTENCY_SHRINK_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "coordinator/validate/consistency/step.h"

namespace iobench {

struct Shrunk {
  Script script;
  uint32_t tries = 0;
  bool complete = false;  // no single step can be left out; otherwise the time was up
};

// `fails`: whether a part fails when it is performed; `in_time`: whether there is time for another one. REQUIRES: the
// whole script fails. Errors are those of `fails`.
absl::StatusOr<Shrunk> Shrink(Script script, const std::function<absl::StatusOr<bool>(const Script&)>& fails,
                              const std::function<bool()>& in_time);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CONSISTENCY_SHRINK_H_
