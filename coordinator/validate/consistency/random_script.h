// Makes random scripts.
#ifndef COORDINATOR_VALIDATE_CONSISTENCY_RANDOM_SCRIPT_H_
#define COORDINATOR_VALIDATE_CONSISTENCY_RANDOM_SCRIPT_H_

#include <cstdint>
#include <set>

#include "coordinator/validate/consistency/step.h"

namespace iobench {

// Returns `length` steps of `clients` clients, and then a read of every page of every file by each of them. The same seed
// gives the same script on every machine. `unusable`: kinds that the file system does not offer. No file grows beyond
// kScriptFileBytes.
Script RandomScript(uint64_t seed, uint32_t clients, size_t length, const std::set<Step::Kind>& unusable);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CONSISTENCY_RANDOM_SCRIPT_H_
