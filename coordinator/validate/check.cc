#include "coordinator/validate/check.h"

#include <algorithm>
#include <iterator>

#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/performance/performance_checks.h"

namespace iobench {
namespace {

using Needs = Check::Needs;

constexpr Check kChecks[] = {
    {"mounts", "mounted alike everywhere, with options that fit shared data", 1, Needs::kNothing,
     CheckMounts},
    {"storage", "all clients see the same storage there", 1, Needs::kNothing, CheckStorage},
    {"clocks", "clocks of clients and file system agree", 1, Needs::kNothing, CheckClocks},
    {"identity", "owners, groups and permissions mean the same everywhere", 1, Needs::kNothing,
     CheckIdentity},
    {"groups", "a user has the rights of its supplementary groups", 1, Needs::kNothing, CheckGroups},
    {"close-to-open", "what one client writes and closes, others that then open it read", 2, Needs::kNothing,
     CheckCloseToOpen},
    {"visibility", "how long until others see a change without opening anything", 2, Needs::kNothing,
     CheckVisibility},
    {"mmap", "what one client writes through a mapping and closes, others read", 2, Needs::kNothing,
     CheckMmap},
    {"races", "of clients that create, rename, link or remove one name, exactly one wins", 2, Needs::kNothing,
     CheckRaces},
    {"locks", "fcntl and flock locks exclude other clients", 2, Needs::kNothing, CheckLocks},
    {"append", "what becomes of records that clients append at the same time", 2, Needs::kNothing,
     CheckAppend},
    {"delegations", "a conflicting open is not held up", 2, Needs::kNothing, CheckDelegations},
    {"open-unlink", "a file that is removed while open stays readable, and then goes", 1, Needs::kNothing,
     CheckOpenUnlink},
    {"listings", "no name is missing or listed twice, also while others create and remove", 1,
     Needs::kNothing, CheckListings},
    {"limits", "longest names, largest offsets, UTF-8 and holes", 1, Needs::kNothing, CheckLimits},
    {"quota", "writing more than a quota allows is an error, and nothing acknowledged is lost", 1,
     Needs::kNothing, CheckQuota},
    {"durability", "what fsync and close acknowledged survives the fault", 1, Needs::kFaultHook,
     CheckDurability},
    {"failover", "I/O goes on after the fault, within the limit and without errors", 1, Needs::kFaultHook,
     CheckFailover},
    {"lock-reclaim", "locks held during the fault are still held after it", 2, Needs::kFaultHook,
     CheckLockReclaim},
    {"client-rates", "each client alone writes and reads as fast as the others", 2, Needs::kMeasurement,
     CheckClientRates},
    {"network-limit", "one client alone comes near what its network carries", 1, Needs::kMeasurement,
     CheckNetworkLimit},
    {"scaling", "what all clients together reach of the sum of each alone, and how evenly", 2,
     Needs::kMeasurement, CheckScaling},
    {"metadata-rates", "creating, looking up and removing small files, by each client alone and by all", 1,
     Needs::kMeasurement, CheckMetadataRates},
    {"latency-tail", "p99 and longest op of all that was measured", 1, Needs::kMeasurement, CheckLatencyTail},
    {"expected", "rates and facts are as --expect says", 1, Needs::kExpectations, CheckExpected},
    // The last one: after it, a client is missing.
    {"dead-client", "a lock is free again after its holder has lost its power", 2, Needs::kClientHook,
     CheckDeadClient},
};

}  // namespace

std::span<const Check> Checks() {
  return kChecks;
}

const Check* CheckNamed(std::string_view name) {
  const auto found = std::find_if(std::begin(kChecks), std::end(kChecks),
                                  [name](const Check& check) { return name == check.name; });
  return found == std::end(kChecks) ? nullptr : found;
}

}  // namespace iobench
