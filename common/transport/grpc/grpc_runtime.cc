#include "common/transport/grpc/grpc_runtime.h"

#include <grpc/support/log.h>

#include <cstdlib>

#include "common/open_file_limit.h"

namespace iobench {

void QuietGrpcLog() {
  static const bool done = [] {
    if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function(+[](gpr_log_func_args*) {});
    return true;
  }();
  (void)done;
}

void AllowManyConnections() {
  RaiseOpenFileLimit();  // on failure, the limit stays as it was
}

}  // namespace iobench
