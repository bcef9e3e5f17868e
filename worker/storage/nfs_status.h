// The status of an NFSv3 call (nfsstat3, RFC 1813 section 2.6), in words and as an errno.
#ifndef WORKER_STORAGE_NFS_STATUS_H_
#define WORKER_STORAGE_NFS_STATUS_H_

#include <string>

namespace iobench {

// Returns the errno of an nfsstat3: 0 for NFS3_OK, EIO if there is no equivalent.
int ErrnoOfNfs(int nfsstat3);
// Returns the name, such as "NFS3ERR_NOSPC".
std::string NfsStatusName(int nfsstat3);

}  // namespace iobench

#endif  // WORKER_STORAGE_NFS_STATUS_H_
