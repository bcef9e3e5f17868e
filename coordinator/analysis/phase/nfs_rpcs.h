// The cost of NFS requests that move data, from the clients' mountstats.
#ifndef COORDINATOR_ANALYSIS_PHASE_NFS_RPCS_H_
#define COORDINATOR_ANALYSIS_PHASE_NFS_RPCS_H_

#include <map>
#include <optional>
#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns READ, WRITE and COMMIT of one client together: their number, retransmissions and major timeouts, and the mean
// times in milliseconds that a request waited to be sent and then for its reply. `mount_of_target`: targets on the same
// mount read the same counters, which count once; a target that is not in the map has its own mount. nullopt: no target
// is on NFS, or the kernel does not provide the counters. Means are NaN if there were no such requests.
std::optional<v1::NfsRpcReport> NfsRpcsOf(const v1::HostDelta& host,
                                          const std::map<uint32_t, std::string>& mount_of_target);

// Adds two reports; means are weighted by the number of requests.
v1::NfsRpcReport Sum(const v1::NfsRpcReport& a, const v1::NfsRpcReport& b);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_NFS_RPCS_H_
