// The checks of what the file system must answer, whatever its speed. Errors are those of FileCalls; what the file
// system does wrong is a verdict. Each blocks the cluster's thread until it has ended.
#ifndef COORDINATOR_VALIDATE_CHECKS_CHECKS_H_
#define COORDINATOR_VALIDATE_CHECKS_CHECKS_H_

#include <span>

#include "absl/status/status.h"
#include "coordinator/validate/checks/check_context.h"

namespace iobench {

// mount_checks.cc
absl::Status CheckMounts(CheckContext& context, Outcome& outcome);
absl::Status CheckStorage(CheckContext& context, Outcome& outcome);
// client_identity_check.cc
absl::Status CheckClientIdentity(CheckContext& context, Outcome& outcome);
// space_check.cc
absl::Status CheckSpace(CheckContext& context, Outcome& outcome);
// network_check.cc
absl::Status CheckNetwork(CheckContext& context, Outcome& outcome);
// owner_checks.cc
absl::Status CheckClocks(CheckContext& context, Outcome& outcome);
absl::Status CheckIdentity(CheckContext& context, Outcome& outcome);
// group_check.cc
absl::Status CheckGroups(CheckContext& context, Outcome& outcome);
// features.cc
absl::Status CheckFeatures(CheckContext& context, Outcome& outcome);
// quota_check.cc
absl::Status CheckQuota(CheckContext& context, Outcome& outcome);
// coherence_checks.cc
absl::Status CheckCloseToOpen(CheckContext& context, Outcome& outcome);
absl::Status CheckMmap(CheckContext& context, Outcome& outcome);
absl::Status CheckDelegations(CheckContext& context, Outcome& outcome);
absl::Status CheckOpenUnlink(CheckContext& context, Outcome& outcome);
// cache_mode_check.cc
absl::Status CheckCacheModes(CheckContext& context, Outcome& outcome);
// consistency_check.cc
absl::Status CheckConsistency(CheckContext& context, Outcome& outcome);
// rename_check.cc
absl::Status CheckRenames(CheckContext& context, Outcome& outcome);
// rule_check.cc
absl::Status CheckRules(CheckContext& context, Outcome& outcome);
std::span<const char* const> PosixRules();  // the names of the trials that CheckRules asks for
// visibility_check.cc
absl::Status CheckVisibility(CheckContext& context, Outcome& outcome);
// race_checks.cc
absl::Status CheckRaces(CheckContext& context, Outcome& outcome);
absl::Status CheckAppend(CheckContext& context, Outcome& outcome);
// lock_checks.cc
absl::Status CheckLocks(CheckContext& context, Outcome& outcome);
// name_checks.cc
absl::Status CheckListings(CheckContext& context, Outcome& outcome);
absl::Status CheckLimits(CheckContext& context, Outcome& outcome);
// fault_checks.cc: all judge the same fault.
absl::Status CheckDurability(CheckContext& context, Outcome& outcome);
absl::Status CheckFailover(CheckContext& context, Outcome& outcome);
absl::Status CheckLockReclaim(CheckContext& context, Outcome& outcome);
// dead_client_check.cc
absl::Status CheckDeadClient(CheckContext& context, Outcome& outcome);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_CHECKS_H_
