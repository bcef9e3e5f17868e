// Compares what a file system does with what the model expects.
#ifndef COORDINATOR_VALIDATE_CONSISTENCY_MISMATCH_H_
#define COORDINATOR_VALIDATE_CONSISTENCY_MISMATCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/validate/consistency/step.h"

namespace iobench {

// What a file system gave for a step.
struct Answer {
  int error = 0;               // errno; 0: success
  std::string message = {};    // of the error
  uint64_t bytes = 0;          // read …
  uint64_t contents_xxh3 = 0;  // … and their hash
  uint64_t size = 0;           // of the file that was read
};

// Performs the steps of one client, in their order, after all earlier calls. Returns as many answers.
using Perform = std::function<absl::StatusOr<std::vector<Answer>>(std::span<const Step> turn)>;

struct Mismatch {
  size_t index = 0;   // of the step in the script
  std::string found;  // "reads 12 bytes instead of 300"
};

// Performs the script on new files until an answer differs from the model's; nullopt: none does. Errors are those of
// `perform`.
absl::StatusOr<std::optional<Mismatch>> FindMismatch(std::span<const Step> script, const Perform& perform);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CONSISTENCY_MISMATCH_H_
