// What locks need besides a server that excludes: that a client which waits for a lock is called when it is free, and, over
// NFSv3, that rpc.statd runs on both ends.
#ifndef COORDINATOR_VALIDATE_CHECKS_LOCK_WAITS_H_
#define COORDINATOR_VALIDATE_CHECKS_LOCK_WAITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/validate/checks/check_context.h"

namespace iobench {

// A lock that is free this long before its waiter has it is late: clients ask again after 30 s if nobody calls them.
inline constexpr double kLateLockS = 5;

struct LockWaits {
  double longest_s = 0;           // from a release to the return of the call that waited
  int waits = 0;                  // measured
  std::vector<std::string> late;  // a line for each client that got its lock late, or not at all
};

// Each client, while another one holds a lock, waits for it in F_OFD_SETLKW or flock(), which the other then releases. Locks
// that cannot be taken at all are left to the rest of the check.
absl::Status WaitForLocks(CheckContext& context, bool flock, LockWaits& waits);
// What to do about late locks.
std::string LateLockAdvice(const CheckContext& context);

// The clients whose locks of this kind do not reach the server, with the option that says so ("c01: local_lock=posix").
std::vector<std::string> LocalLocks(const CheckContext& context, bool flock);

// Over NFSv3 with locks: a line for each end whose rpc.statd does not answer. Without it, locks do not survive a restart, and
// may be refused (ENOLCK). Nothing elsewhere.
absl::Status FindMissingStatd(CheckContext& context, std::vector<std::string>& missing);
inline constexpr char kStatdAdvice[] =
    "start rpcbind and rpc.statd there (Debian: systemctl enable --now rpc-statd), and let firewalls pass both";

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_LOCK_WAITS_H_
