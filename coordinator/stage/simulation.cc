#include "coordinator/stage/simulation.h"

#include <signal.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/open_file_limit.h"
#include "common/status_util.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc/token_file.h"
#include "common/transport/grpc_address.h"
#include "common/unique_fd.h"
#include "coordinator/stage/join_setup.h"
#include "coordinator/launch/child_processes.h"
#include "coordinator/process/failure.h"
#include "coordinator/process/signals.h"

namespace iobench {
namespace {

constexpr char kLoopback[] = "127.0.0.1:0";
constexpr uint32_t kClientsPerProcess = 2500;
constexpr uint64_t kOwnDescriptors = 64;  // of a process with simulated clients, besides their connections

// Each connection takes a descriptor at both ends.
uint32_t ClientsPerProcess() {
  const uint64_t allowed = OpenFileLimit();
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(allowed > kOwnDescriptors ? allowed - kOwnDescriptors : 1, 1, kClientsPerProcess));
}

absl::Status StartClients(uint32_t count, const std::string& address, const JoinSecurity& security,
                          ChildProcesses& processes) {
  const uint32_t most = ClientsPerProcess();
  const uint32_t process_count = (count + most - 1) / most;
  for (uint32_t i = 0; i < process_count; ++i) {
    const uint32_t clients = count / process_count + (i < count % process_count ? 1 : 0);
    std::vector<std::string> arguments = {
        "cluster-iobench",    "worker", "--spawned", "--join", address, "--root", "none", "--simulate",
        absl::StrCat(clients)};
    UniqueFd input;
    if (security.insecure) {
      arguments.push_back("--insecure");
    } else {
      arguments.insert(arguments.end(), {"--token-file", "-"});
      // As workers on other hosts get them.
      IOBENCH_ASSIGN_OR_RETURN(input, TokenInput(security.for_workers));
    }
    IOBENCH_RETURN_IF_ERROR(
        processes.Start("/proc/self/exe", arguments, /*output_fd=*/-1, SIGKILL, input.get()));
  }
  return absl::OkStatus();
}

}  // namespace

int RunSimulation(const Job& job) {
  const uint32_t count = job.simulate;
  const bool insecure = job.options.cluster.insecure;
  const auto loopback = ParseGrpcAddress(kLoopback);
  if (!loopback.ok()) return Fail(loopback.status(), kExitUsage);
  JoinSecurityOptions options;
  options.insecure = insecure;
  options.needs_token = !insecure;
  const auto security = MakeJoinSecurity(*loopback, options);
  if (!security.ok()) return Fail(security.status(), kExitUsage);
  const JoinSetup setup = {.security = *security, .is_single_run = true};
  auto transport = GrpcCoordinator::Listen(kLoopback, ListenOptionsFor(setup, count, LanesPerWorker(job)));
  if (!transport.ok()) return Fail(transport.status(), kExitUsage);
  ChildProcesses processes(SIGTERM);
  const absl::Status started = StartClients(count, (*transport)->bound_address(), *security, processes);
  if (!started.ok()) return Fail(started, kExitUsage);
  JoinWatch watch;
  watch.check = [&processes] {
    const auto ended = processes.NextEnded();
    if (!ended) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("process ", ended->index,
                     " with simulated clients ended before all had joined: ", ended->ending.Text()));
  };
  watch.started_here = [](const v1::WorkerFacts&) { return true; };  // others do not have the token
  const int exit_code = CarryOutConnected(job, **transport, count, std::move(watch));
  transport->reset();  // disconnect first, so that the clients end on their own
  if (TheInterrupt().raised()) processes.Hurry();
  return exit_code;
}

}  // namespace iobench
