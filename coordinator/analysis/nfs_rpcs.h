// What the requests that move data cost on NFS: from the clients' mountstats.
#ifndef COORDINATOR_ANALYSIS_NFS_RPCS_H_
#define COORDINATOR_ANALYSIS_NFS_RPCS_H_

#include <map>
#include <optional>
#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// READ, WRITE and COMMIT of one client. `mount_of_target`: targets below one mount read the same counters, which are
// added once; a target that is not in it has a mount of its own. Absent: no target is on NFS, or the kernel does not
// say. Where there were no such requests the means are NaN.
std::optional<v1::NfsRpcReport> NfsRpcsOf(const v1::HostDelta& host,
                                          const std::map<uint32_t, std::string>& mount_of_target);

// The sum of two, means weighted by their requests.
v1::NfsRpcReport Sum(const v1::NfsRpcReport& a, const v1::NfsRpcReport& b);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_NFS_RPCS_H_
