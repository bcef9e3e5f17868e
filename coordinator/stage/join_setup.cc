#include "coordinator/stage/join_setup.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "common/text/shell_word.h"
#include "common/transport/grpc/token_file.h"
#include "coordinator/files/files.h"

namespace iobench {
namespace {

// A worker sends its results in chunks of 1 MiB plus a lane, and a few short messages about all lanes. Each message, and
// all that wait to be handled, must fit.
constexpr uint64_t kBaseEventBytes = 16 << 20;
constexpr uint64_t kEventBytesPerLane = 96 << 10;
constexpr uint64_t kMaxEventBytes = 512 << 20;
// Many workers that dial at the same time wait for each other: a TLS handshake takes about a millisecond.
constexpr double kJoinSecondsPerWorker = 0.003;

SecretReaders ReadersOf(const ClusterOptions& place) {
  return place.token_group ? SecretReaders::kGroup : SecretReaders::kOwner;
}

// Nothing if the file does not exist.
absl::StatusOr<std::optional<JoinCredentials>> ExistingCredentials(const ClusterOptions& place) {
  auto existing = ReadTokenFile(place.token_file, ReadersOf(place));
  if (existing.ok()) return std::optional<JoinCredentials>(*std::move(existing));
  if (absl::IsNotFound(existing.status())) return std::optional<JoinCredentials>();
  return existing.status();
}

}  // namespace

absl::StatusOr<JoinSetup> PrepareSecurity(const std::string& address, const ClusterOptions& place,
                                          bool hands_credentials) {
  IOBENCH_ASSIGN_OR_RETURN(const GrpcAddress parsed, ParseGrpcAddress(address));
  if (place.token_file == "-") {
    return absl::InvalidArgumentError(
        "--token-file -: only workers read it from standard input; name a file");
  }
  if (place.insecure && !place.token_file.empty()) {
    return absl::InvalidArgumentError("--insecure admits everybody: it cannot be combined with --token-file");
  }
  for (const auto& [option, file] : {std::pair{"--token-file", place.token_file}, {"--tls-cert", place.tls_cert},
                                     {"--tls-key", place.tls_key}, {"--tls-ca", place.tls_ca}}) {
    IOBENCH_RETURN_IF_ERROR(files::MountAnswers(option, file));
  }
  JoinSecurityOptions options;
  options.insecure = place.insecure;
  options.tls = {place.tls_cert, place.tls_key, place.tls_ca, place.tls_crl};
  options.needs_token = hands_credentials || !place.token_file.empty();
  if (!place.coordinator_host.empty()) options.more_names.push_back(place.coordinator_host);
  std::optional<JoinCredentials> existing;
  if (!place.token_file.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(existing, ExistingCredentials(place));
    if (existing.has_value()) options.token = existing->token;
  }
  JoinSetup setup;
  IOBENCH_ASSIGN_OR_RETURN(setup.security, MakeJoinSecurity(parsed, options));
  if (!existing.has_value() || setup.security.made_for_run) setup.new_token_file = place.token_file;
  setup.token_limits = {.ttl_s = place.token_ttl_s,
                        .file = place.token_file,
                        .readers = ReadersOf(place),
                        .token = setup.security.token};
  setup.is_single_run = hands_credentials && place.token_file.empty();
  return setup;
}

GrpcListenOptions ListenOptionsFor(const JoinSetup& setup, uint32_t worker_count, uint32_t lanes) {
  GrpcListenOptions options;
  options.security = setup.security;
  if (!setup.security.token.empty()) {
    TokenLimits limits = setup.token_limits;
    limits.seats = setup.is_single_run ? worker_count : 0;
    const auto life = std::make_shared<TokenLife>(std::move(limits), [](const std::string& line) { LogWarning(line); });
    options.why_closed = [life](uint64_t joined_count) { return life->WhyClosed(joined_count); };
    options.on_bound = [life, file = setup.new_token_file, credentials = setup.security.for_workers] {
      // A worker that finds an old file reads it again once it is refused.
      if (!file.empty()) IOBENCH_RETURN_IF_ERROR(WriteTokenFile(file, credentials));
      return life->Start();
    };
  }
  options.expected_workers = worker_count;
  options.join_within_s += kJoinSecondsPerWorker * worker_count;
  options.max_event_bytes = std::min(kMaxEventBytes, kBaseEventBytes + lanes * kEventBytesPerLane);
  options.on_turned_away = [](const std::string& line) { LogWarning(line); };
  options.on_broken = options.on_turned_away;
  return options;
}

std::string WorkerWords(const JoinSecurity& security, const ClusterOptions& place) {
  if (security.insecure) return " --insecure";
  std::string words;
  if (!place.token_file.empty()) absl::StrAppend(&words, " --token-file ", ShellWord(place.token_file));
  if (security.asks_for_certificate) absl::StrAppend(&words, " --tls-cert FILE --tls-key FILE --tls-ca FILE");
  return words;
}

}  // namespace iobench
