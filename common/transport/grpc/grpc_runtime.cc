#include "common/transport/grpc/grpc_runtime.h"

#include <grpcpp/version_info.h>
#include <openssl/ssl.h>
#if GRPC_CPP_VERSION_MINOR < 65
#include <grpc/support/log.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "common/open_file_limit.h"
#include "common/process/thread.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/guard/tls_context.h"

namespace iobench {
namespace {

// OpenSSL keeps 33 KiB of buffers for each connection, unless it is told to release them while idle. Session tickets
// are for clients that come back; workers use none. Called with a connection's first message, before it has sent a ticket.
void SaveMemoryAtFirstMessage(int, int, int, const void*, size_t, SSL* ssl, void*) {
  SSL_set_msg_callback(ssl, nullptr);
  SSL_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
  SSL_set_num_tickets(ssl, 0);
}

struct RevocationLists {
  Mutex mutex;
  std::string pem ABSL_GUARDED_BY(mutex);
};

RevocationLists& TheRevocationLists() {
  static RevocationLists* const lists = new RevocationLists;
  return *lists;
}

// gRPC gives no access to its SSL objects, but OpenSSL passes each new context to this callback, which is registered as if
// for extra data. (It passes each new connection as well, but from 3.2 on before it can be used.)
void PrepareContext(void* parent, void*, CRYPTO_EX_DATA*, int, long, void*) {
  auto* const context = static_cast<SSL_CTX*>(parent);
  SSL_CTX_set_msg_callback(context, SaveMemoryAtFirstMessage);
  MutexLock lock(TheRevocationLists().mutex);
  RefuseRevoked(context, TheRevocationLists().pem);
}

}  // namespace

absl::Status PrepareGrpc() {
  static const bool done = [] {
    SSL_CTX_get_ex_new_index(0, nullptr, PrepareContext, nullptr, nullptr);
    // Debian builds Abseil with assertions, so every lock that gRPC takes is checked for deadlocks in one graph of all
    // locks, under one spin lock.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#if GRPC_CPP_VERSION_MINOR < 65
    if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
#else  // it logs through Abseil
    setenv("GRPC_VERBOSITY", "NONE", 0);
#endif
    return true;
  }();
  (void)done;
  // gRPC starts threads of its own, waits for what those that could not be started would do, and says nothing.
  return TryThreads(GrpcThreadCount());
}

uint32_t GrpcThreadCount() {
  // gRPC 1.51: a pool with a thread per processor, and two queues with half as many each.
  constexpr uint32_t kTimersAndExecutors = 8;
  const uint32_t processors = std::max(1u, std::thread::hardware_concurrency());
  return kTimersAndExecutors + std::clamp(processors, 2u, 32u) + 2 * std::clamp(processors / 2, 2u, 16u);
}

void UseRevocationLists(const std::string& crl_pem) {
  MutexLock lock(TheRevocationLists().mutex);
  TheRevocationLists().pem = crl_pem;
}

void AllowManyConnections() {
  RaiseOpenFileLimit();  // on failure, the limit stays as it was
}

}  // namespace iobench
