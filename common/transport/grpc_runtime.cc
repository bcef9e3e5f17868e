#include "common/transport/grpc_runtime.h"

#include <grpc/support/log.h>
#include <sys/resource.h>

#include <cstdlib>

namespace iobench {

void QuietGrpcLog() {
  static const bool done = [] {
    if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function(+[](gpr_log_func_args*) {});
    return true;
  }();
  (void)done;
}

void AllowManyConnections() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);  // a failure leaves what there was
}

}  // namespace iobench
