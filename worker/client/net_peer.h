// The worker's end of the network test.
#ifndef WORKER_CLIENT_NET_PEER_H_
#define WORKER_CLIENT_NET_PEER_H_

#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Blocks for the duration of the test, limited by its own timeouts. Unavailable: none of the coordinator's addresses
// answers; the message has the error of each. PermissionDenied: none of them is the host that this worker joined
// (WorkerRights::coordinator_host). InvalidArgument: it would take too long or too much memory.
absl::StatusOr<v1::NetTested> TakePartInNetTest(const v1::NetTest& test);

}  // namespace iobench

#endif  // WORKER_CLIENT_NET_PEER_H_
