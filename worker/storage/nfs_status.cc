#include "worker/storage/nfs_status.h"

#include <nfsc/libnfs.h>
// This requires libnfs.h first.
#include <nfsc/libnfs-raw-nfs.h>

#include <cerrno>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace iobench {

int ErrnoOfNfs(int nfsstat3) {
  switch (nfsstat3) {
    case NFS3ERR_DQUOT:
      return EDQUOT;
    case NFS3ERR_NOTSUPP:
      return EOPNOTSUPP;
    case NFS3ERR_JUKEBOX:
      return EAGAIN;
    case NFS3ERR_STALE:
    case NFS3ERR_BADHANDLE:
      return ESTALE;
    // The numbers are those of the systems on which NFS was developed; Linux has the same.
    case NFS3_OK:
    case NFS3ERR_PERM:
    case NFS3ERR_NOENT:
    case NFS3ERR_IO:
    case NFS3ERR_NXIO:
    case NFS3ERR_ACCES:
    case NFS3ERR_EXIST:
    case NFS3ERR_XDEV:
    case NFS3ERR_NODEV:
    case NFS3ERR_NOTDIR:
    case NFS3ERR_ISDIR:
    case NFS3ERR_INVAL:
    case NFS3ERR_FBIG:
    case NFS3ERR_NOSPC:
    case NFS3ERR_ROFS:
    case NFS3ERR_MLINK:
      return nfsstat3;
    case NFS3ERR_NAMETOOLONG:
      return ENAMETOOLONG;
    case NFS3ERR_NOTEMPTY:
      return ENOTEMPTY;
    default:
      return EIO;
  }
}

std::string NfsStatusName(int nfsstat3) {
  const std::string name = nfsstat3_to_str(nfsstat3);
  return absl::StartsWith(name, "NFS3") ? name : absl::StrCat("nfsstat3 ", nfsstat3);
}

}  // namespace iobench
