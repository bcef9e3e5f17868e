// What the file system does for ordinary users: whom their files belong to, and whether modes and groups count.
#ifndef COORDINATOR_VALIDATE_CHECKS_USER_TRIALS_H_
#define COORDINATOR_VALIDATE_CHECKS_USER_TRIALS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/validate/checks/check_context.h"

namespace iobench {

// What the trials show together. The lines of evidence are in the outcome already.
struct UserVerdict {
  std::string fault;        // one clause; empty: none
  std::string doubt;        // what is only worth a warning; empty: nothing
  std::string advice;       // for the fault, or for the doubt
  std::string not_checked;  // and why; empty: all was
};

// Whose file a process's new file is, as the file system shows it on that client.
struct OwnerSeen {
  uint32_t process_user = 0;
  uint32_t owner = 0;
};

// Tries owners and modes on all peers: as two users that no account has (kTrialUserId) if the workers are root, otherwise
// as the workers' own user, who shows less. `own`: by peer that could create a file. Errors are those of FileCalls.
absl::StatusOr<UserVerdict> TryUsers(CheckContext& context, uint32_t directory,
                                     const std::map<uint32_t, OwnerSeen>& own, Outcome& outcome);

inline constexpr uint32_t kTrialUserId = 61234, kOtherTrialUserId = 61235;

// What to do if names do not reach the other end as numbers, or are not known there.
inline constexpr char kIdmapAdvice[] =
    "let NFSv4 carry numbers (nfs4_disable_idmapping=Y for nfsd on the server and for nfs on the clients), or let "
    "idmapd run at both ends with one Domain in /etc/idmapd.conf";

// 65534, or 4294967294 of NFS: whom a name belongs to that cannot be told.
inline bool IsNobody(uint32_t id) {
  return id == 65534 || id == 4294967294;
}

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_USER_TRIALS_H_
