// A worker's end of the network test.
#ifndef WORKER_NET_TEST_H_
#define WORKER_NET_TEST_H_

#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Blocks for as long as the test takes, bounded by timeouts of its own. Unavailable: none of the coordinator's
// addresses answers, with what each one said.
absl::StatusOr<v1::NetTested> TakePartInNetTest(const v1::NetTest& test);

}  // namespace iobench

#endif  // WORKER_NET_TEST_H_
