#include "coordinator/validate/check.h"

#include <algorithm>
#include <iterator>

#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/performance/performance_checks.h"

namespace iobench {
namespace {

using Needs = Check::Needs;

constexpr Check kChecks[] = {
    {"mounts", "mounted alike everywhere, with options that fit shared data", 0, Needs::kNothing, 0,
     CheckMounts},
    {"client-identity", "the server can tell the clients apart", 2, Needs::kNothing, 0, CheckClientIdentity},
    {"storage", "all clients see the same storage there", 0, Needs::kNothing, 0, CheckStorage},
    {"space", "bytes and inodes are free there", 0, Needs::kNothing, 0, CheckSpace},
    {"network", "much data passes between each client and the server at once, and no packets are lost", 1,
     Needs::kNothing, 0, CheckNetwork},
    {"clocks", "clocks of clients and file system agree", 1, Needs::kNothing, 1, CheckClocks},
    {"identity", "owners, groups and permissions mean the same everywhere", 1, Needs::kNothing, 1,
     CheckIdentity},
    {"groups", "a user has the rights of its supplementary groups", 1, Needs::kNothing, 1, CheckGroups},
    {"features", "what the file system offers, or does in its own way: facts", 1, Needs::kNothing, 1,
     CheckFeatures},
    // Alone: clients that are busy with other checks would not be together in their contests.
    {"races", "of clients that create, rename, link or remove one name, exactly one wins", 2, Needs::kNothing,
     0, CheckRaces},
    {"close-to-open", "what one client writes and closes, others that then open it read", 2, Needs::kNothing,
     2, CheckCloseToOpen},
    {"visibility", "how long until others see a change without opening anything", 2, Needs::kNothing, 2,
     CheckVisibility},
    {"mmap", "what one client writes through a mapping and closes, others read", 2, Needs::kNothing, 2,
     CheckMmap},
    {"locks", "fcntl and flock locks exclude other clients", 2, Needs::kNothing, 2, CheckLocks},
    {"append", "what becomes of records that clients append at the same time", 2, Needs::kNothing, 2,
     CheckAppend},
    {"delegations", "a conflicting open is not held up", 2, Needs::kNothing, 2, CheckDelegations},
    {"open-unlink", "a file that is removed while open stays readable, and then goes", 1, Needs::kNothing, 2,
     CheckOpenUnlink},
    {"renames", "renamed files and directories stay usable where they are open", 2, Needs::kNothing, 2,
     CheckRenames},
    {"posix", "rules of POSIX that applications rely on", 1, Needs::kNothing, 2, CheckRules},
    {"listings", "no name is missing or listed twice, also while others create and remove", 1,
     Needs::kNothing, 2, CheckListings},
    {"limits", "longest names, largest offsets, UTF-8 and holes", 1, Needs::kNothing, 2, CheckLimits},
    // After locks, which may explain it.
    {"cache-modes", "buffered, direct and mapped I/O of clients fit together, after close and under locks", 2,
     Needs::kNothing, 0, CheckCacheModes},
    {"quota", "writing more than a quota allows is an error, and nothing acknowledged is lost", 1,
     Needs::kNothing, 0, CheckQuota},
    {"consistency", "random work of all clients on shared files, compared with a model", 1,
     Needs::kConsistency, 0, CheckConsistency},
    {"durability", "what fsync and close acknowledged survives the fault", 1, Needs::kFaultHook, 0,
     CheckDurability},
    {"failover", "I/O goes on after the fault, within the limit and without errors", 1, Needs::kFaultHook, 0,
     CheckFailover},
    {"lock-reclaim", "locks held during the fault are still held after it", 2, Needs::kFaultHook, 0,
     CheckLockReclaim},
    {"client-rates", "each client alone writes and reads as fast as the others", 2, Needs::kMeasurement, 0,
     CheckClientRates},
    {"network-limit", "one client alone comes near what its network carries", 1, Needs::kMeasurement, 0,
     CheckNetworkLimit},
    {"scaling", "what all clients together reach of the sum of each alone, and how evenly", 2,
     Needs::kMeasurement, 0, CheckScaling},
    {"metadata-rates", "creating, looking up and removing small files, by each client alone and by all", 1,
     Needs::kMeasurement, 0, CheckMetadataRates},
    {"latency-tail", "p99 and longest op of all that was measured", 1, Needs::kMeasurement, 0,
     CheckLatencyTail},
    {"expected", "rates and facts are as --expect says", 1, Needs::kExpectations, 0, CheckExpected},
    // The last one: after it, a client is missing.
    {"dead-client", "a lock is free again after its holder has lost its power", 2, Needs::kClientHook, 0,
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
