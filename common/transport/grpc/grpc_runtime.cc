#include "common/transport/grpc/grpc_runtime.h"

#include <grpc/support/log.h>
#include <malloc.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "common/mutex.h"
#include "common/open_file_limit.h"
#include "common/process/thread.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc/openssl_types.h"

namespace iobench {
namespace {

// On the server's side, gRPC reports a failed handshake only in its log.
struct LastTlsError {
  Mutex mutex;
  std::string reason ABSL_GUARDED_BY(mutex);
  std::string of_certificate ABSL_GUARDED_BY(mutex);  // why the peer's certificate was not accepted
};

LastTlsError& TheLastTlsError() {
  static LastTlsError* const last = new LastTlsError;  // gRPC's threads may outlive main()
  return *last;
}

// Lines such as "Handshake failed with fatal error SSL_ERROR_SSL: error:0A000086:SSL routines::certificate verify
// failed."
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

int KeepWhyNotAccepted(int is_accepted, X509_STORE_CTX* verification) {
  if (is_accepted == 1) return 1;
  MutexLock lock(TheLastTlsError().mutex);
  TheLastTlsError().of_certificate = X509_verify_cert_error_string(X509_STORE_CTX_get_error(verification));
  return 0;
}

void CheckRevocation(X509_STORE* store) {
  MutexLock lock(TheRevocationLists().mutex);
  if (TheRevocationLists().pem.empty()) return;
  const OwnedBio bio = ReadingBio(TheRevocationLists().pem);
  while (const OwnedRevocationList list = NextRevocationList(bio.get())) X509_STORE_add_crl(store, list.get());
  ERR_clear_error();  // the end of the text
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
}

// gRPC gives no access to its SSL objects, but OpenSSL passes each new context to this callback, which is registered as if
// for extra data. (It passes each new connection as well, but from 3.2 on before it can be used.)
void PrepareContext(void* parent, void*, CRYPTO_EX_DATA*, int, long, void*) {
  auto* const context = static_cast<SSL_CTX*>(parent);
  SSL_CTX_set_msg_callback(context, SaveMemoryAtFirstMessage);
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  X509_STORE_set_verify_cb(store, KeepWhyNotAccepted);
  CheckRevocation(store);
}

}  // namespace

absl::Status PrepareGrpc() {
  static const bool done = [] {
    SSL_CTX_get_ex_new_index(0, nullptr, PrepareContext, nullptr, nullptr);
    // Debian builds Abseil with assertions, so every lock that gRPC takes is checked for deadlocks in one graph of all
    // locks, under one spin lock.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function(KeepTlsError);
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

std::string PopLastTlsError() {
  LastTlsError& last = TheLastTlsError();
  MutexLock lock(last.mutex);
  const std::string reason = std::exchange(last.reason, ""), of_certificate = std::exchange(last.of_certificate, "");
  return of_certificate.empty() ? reason : of_certificate;
}

void UseRevocationLists(const std::string& crl_pem) {
  MutexLock lock(TheRevocationLists().mutex);
  TheRevocationLists().pem = crl_pem;
}

void ExpectConnections(bool expect) {
  constexpr int kBioBytes = 17 << 10;
  constexpr int kOtherwiseBytes = 4 << 20;  // glibc's own threshold grows to as much, unless it is set
  mallopt(M_MMAP_THRESHOLD, expect ? kBioBytes : kOtherwiseBytes);
}

void AllowManyConnections() {
  RaiseOpenFileLimit();  // on failure, the limit stays as it was
}

}  // namespace iobench
