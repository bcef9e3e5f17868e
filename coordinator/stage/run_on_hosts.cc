#include "coordinator/stage/run_on_hosts.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc_address.h"
#include "common/version.h"
#include "coordinator/stage/join_setup.h"
#include "coordinator/launch/launcher.h"
#include "coordinator/launch/worker_copy.h"
#include "coordinator/launch/worker_needs.h"
#include "coordinator/process/failure.h"
#include "coordinator/saved_run/resume_point.h"

namespace iobench {
namespace {

// If the user does not say how long to wait for the workers of --hosts: a remote shell that takes longer hangs.
constexpr double kHostsJoinTimeoutS = 60;

// The coordinator's end, and what its workers must present.
struct Listener {
  std::unique_ptr<GrpcCoordinator> transport;
  Secret credentials;  // empty: nothing
};

uint32_t WorkersOf(const Job& job) {
  return job.hosts.empty() ? static_cast<uint32_t>(job.clients.size()) : WorkersOn(job.hosts);
}

// The clients, then the servers.
std::vector<HostEntry> AllHosts(const Job& job) {
  std::vector<HostEntry> all = job.hosts;
  all.insert(all.end(), job.sampler_hosts.begin(), job.sampler_hosts.end());
  return all;
}

absl::StatusOr<Listener> ListenFor(const Job& job) {
  const ClusterOptions& place = job.options.cluster;
  std::vector<std::string> names;
  for (const ClientEntry& client : job.clients) names.push_back(HostOfClient(client).host);
  for (const HostEntry& host : AllHosts(job)) names.push_back(host.host);
  const std::string address =
      place.listen.empty() ? ListenAddressFor(names, place.coordinator_host) : place.listen;
  IOBENCH_ASSIGN_OR_RETURN(const GrpcAddress parsed, ParseGrpcAddress(address));
  // A list of this host alone is IOzone's way to test a list: its remote shell may be a script that passes on no input.
  const bool hands_credentials = !place.insecure && (!job.hosts.empty() || parsed.reachable_from_elsewhere());
  IOBENCH_ASSIGN_OR_RETURN(const JoinSetup setup, PrepareSecurity(address, place, hands_credentials));
  const JoinSecurity& security = setup.security;
  IOBENCH_ASSIGN_OR_RETURN(
      std::unique_ptr<GrpcCoordinator> transport,
      GrpcCoordinator::Listen(address,
                              ListenOptionsFor(setup, WorkersOf(job) + WorkersOn(job.sampler_hosts), LanesPerWorker(job))));
  if (security.insecure) std::cerr << kInsecureWarning << std::endl;
  return Listener{.transport = std::move(transport),
                  .credentials = hands_credentials ? SerializeJoinCredentials(security.for_workers) : ""};
}

absl::Status CheckRemoteShell(const Job& job) {
  const std::string shell = LauncherFor(job.options.cluster.launcher);
  std::vector<HostEntry> logins = AllHosts(job);
  for (const ClientEntry& client : job.clients) logins.push_back(HostOfClient(client));
  IOBENCH_RETURN_IF_ERROR(CheckLauncher(shell, logins));
  return CheckLauncherExists(shell);
}

// What to start, and on which hosts. The file of `options` is set if there is something to ship.
absl::StatusOr<std::vector<RemoteStart>> StartsFor(const Job& job, const WorkerArguments& words,
                                                   LaunchOptions& options) {
  const ClusterOptions& place = job.options.cluster;
  const std::string shell = LauncherFor(place.launcher);
  if (job.hosts.empty()) return StartsOfList(job.clients, shell, words);
  std::optional<ShippedProgram> shipped;
  if (place.copy_binary) {
    IOBENCH_ASSIGN_OR_RETURN(shipped, FindWorkerProgram(kProgramVersion));
    options.shipped_file = shipped->file;
  }
  std::error_code error;
  const std::string own_program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  return StartsOnHosts(AllHosts(job), shell, words, own_program, shipped.has_value() ? &*shipped : nullptr);
}

// Whether each worker of a client list tests the path of its own line. A run that is resumed tests what it tested
// before, which its options no longer say.
bool HaveOwnPaths(const Job& job) {
  if (job.resume == nullptr) return !SaysWhere(job.options.given);
  const auto& workers = job.resume->run.workers();
  return std::any_of(workers.begin(), workers.end(),
                     [](const v1::WorkerFacts& worker) { return !worker.path().empty(); });
}

}  // namespace

int RunOnHosts(const Job& job) {
  const ClusterOptions& place = job.options.cluster;
  if (const absl::Status shell = CheckRemoteShell(job); !shell.ok()) return FailEach(shell, kExitUsage);
  auto listener = ListenFor(job);
  if (!listener.ok()) return Fail(listener.status(), kExitUsage);
  const auto address = AddressForClients(listener->transport->bound_address(), place.coordinator_host);
  if (!address.ok()) return Fail(address.status(), kExitUsage);
  LaunchOptions options{
      .credentials = listener->credentials,
      .shipped_file = "",
      .patience_s = job.hosts.empty() || place.join_timeout_given ? place.join_timeout_s : kHostsJoinTimeoutS,
      .on_fault = PrintError};
  WorkerArguments words{.join_address = *address,
                        .own_paths = HaveOwnPaths(job),
                        .insecure = place.insecure,
                        .credentials_piped = !options.credentials.empty()};
  // The workers of a client list have their paths on their own command lines.
  const bool have_paths = words.own_paths && job.hosts.empty();
  words.rights =
      NeedsOfWorkers(job.plan, have_paths ? TargetRoots::kOwnPaths : TargetRoots::kOfPlan).Arguments();
  const auto servers = static_cast<uint32_t>(job.sampler_hosts.size());
  const uint32_t of_each_server = servers > 0 ? WorkersOfEachServer(WorkersOf(job), servers) : 0;
  words.server = ServerArguments(job.plan, of_each_server);
  words.join_timeout_s = std::min(words.join_timeout_s, options.patience_s);
  auto starts = StartsFor(job, words, options);
  if (!starts.ok()) return Fail(starts.status(), kExitUsage);
  auto launcher = Launcher::Start(*std::move(starts), std::move(options));
  if (!launcher.ok()) return Fail(launcher.status(), kExitUsage);
  // Without started_here: a worker that cannot take part reports why to its remote shell, so that its host is named and
  // the other hosts' faults are found too.
  const JoinWatch watch{
      .samplers = servers,
      .server_workers = WorkersOn(job.sampler_hosts) - servers,
      .check = [&launcher] { return launcher->Check(); },
      .presence = [&launcher](const v1::WorkerFacts& worker,
                              bool present) { launcher->SetPresence(worker, present); },
      .started_here = nullptr,
      .missing = [&launcher](const std::vector<v1::WorkerFacts>&) { return launcher->Missing(); },
      .ending = [&launcher](const v1::WorkerFacts& worker) { return launcher->EndingOf(worker); },
      .faults = [&launcher] { return launcher->faults(); }};
  const int exit_code = CarryOutConnected(job, *listener->transport, WorkersOf(job), watch);
  listener->transport.reset();  // disconnect first, so that the workers end on their own
  return exit_code;
}

}  // namespace iobench
