// Runs the checks of a validation one after the other, and makes the report.
#ifndef COORDINATOR_VALIDATE_VALIDATOR_H_
#define COORDINATOR_VALIDATE_VALIDATOR_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/validate/check.h"
#include "coordinator/validate/choice.h"
#include "iobench/v1/validate.pb.h"

namespace iobench {

// Called before each check, with its number from 1.
using OnCheck = std::function<void(const Check& check, size_t number, size_t count)>;

// Runs the checks and adds them to `report`, with their counts. What they have made is removed, also after an error.
// Returns how it ended: OK, or the first that applies: Cancelled: interrupted; Unavailable: a worker was lost, after
// which the remaining checks are skipped; Internal: what validate made could not be removed.
absl::Status RunChecks(const CheckChoice& choice, CheckContext& context, const OnCheck& on_check,
                       v1::ValidateReport& report);

// Adds the chosen checks to `report` as skipped for this reason, with their counts: none could begin.
void SkipChecks(const CheckChoice& choice, const std::string& why, v1::ValidateReport& report);

// Returns one worker of each client that sees the same storage and can write there, or all workers if only one client
// does; `left_out`: how many clients do not.
std::vector<uint32_t> PeersOf(std::span<const Member> members, std::span<const Finding> findings,
                              uint32_t& left_out);

// The clients as workers have reported them, and what most of them see at the path.
void RecordClients(const CheckContext& context, v1::ValidateReport& report);

// True if a check failed that has no waiver.
bool HasNewFailure(const v1::ValidateReport& report);
// True if some check ended with a verdict of its own: neither skipped nor following from another.
bool HasVerdict(const v1::ValidateReport& report);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_VALIDATOR_H_
