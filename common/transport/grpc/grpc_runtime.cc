#include "common/transport/grpc/grpc_runtime.h"

#include <grpc/support/log.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "common/mutex.h"
#include "common/open_file_limit.h"

namespace iobench {
namespace {

// gRPC reports a failed handshake of a server nowhere but in its log.
struct LastTlsError {
  Mutex mutex;
  std::string reason ABSL_GUARDED_BY(mutex);
};

LastTlsError& TheLastTlsError() {
  static LastTlsError* const last = new LastTlsError;  // gRPC's threads may outlive main()
  return *last;
}

// Lines such as "Handshake failed with fatal error SSL_ERROR_SSL: error:0A000086:SSL routines::certificate verify failed."
void KeepTlsError(gpr_log_func_args* line) {
  const std::string_view message = line->message;
  if (message.find("Handshake failed") == std::string_view::npos) return;
  const size_t at = message.rfind("::");
  if (at == std::string_view::npos) return;
  std::string_view reason = message.substr(at + 2);
  while (!reason.empty() && (reason.back() == '.' || reason.back() == ' ')) reason.remove_suffix(1);
  MutexLock lock(TheLastTlsError().mutex);
  TheLastTlsError().reason = std::string(reason);
}

}  // namespace

void PrepareGrpc() {
  static const bool done = [] {
    // Debian builds Abseil with assertions, so that every lock that gRPC takes looks for deadlocks in one graph of all
    // locks, under one spin lock.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function(KeepTlsError);
    return true;
  }();
  (void)done;
}

std::string TakeLastTlsError() {
  MutexLock lock(TheLastTlsError().mutex);
  return std::exchange(TheLastTlsError().reason, "");
}

void AllowManyConnections() {
  RaiseOpenFileLimit();  // on failure, the limit stays as it was
}

}  // namespace iobench
