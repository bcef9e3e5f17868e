#include "coordinator/commands/on_workers.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/host_identity.h"
#include "common/model/plan_targets.h"
#include "common/process/usable_memory.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/version.h"
#include "coordinator/files/files.h"
#include "coordinator/files/file_patience.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/launch/host_list.h"
#include "coordinator/launch/worker_needs.h"
#include "coordinator/plan/check/target_check.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_yaml.h"
#include "coordinator/process/failure.h"
#include "coordinator/process/signals.h"
#include "coordinator/report/result_lock.h"
#include "coordinator/saved_run/resume_point.h"
#include "coordinator/stage/stage.h"
#include "coordinator/stage/transports.h"
#include "worker/engine/io_engine.h"

namespace iobench {
namespace {

absl::StatusOr<std::vector<ClientEntry>> ListedClients(const JobOptions& options) {
  const std::string& list = options.cluster.client_list;
  if (list.empty()) return std::vector<ClientEntry>();
  auto clients = LoadClientList(list);
  if (!clients.ok() || !SaysWhere(options.given)) return clients;
  for (const ClientEntry& entry : *clients) {
    if (entry.path.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the client list ", list,
                     " names directories to test in its fourth fields, and --path, -f or -F name ",
                     "them too: use only one of the two"));
  }
  return clients;
}

// Adapts a plan to the clients of a list and keeps only the clients that take part. A user's own plan sets the lanes
// per worker and runs on all clients.
absl::Status FitToClients(const JobSpec& job, std::vector<ClientEntry>& clients, v1::Plan& plan) {
  const GivenOptions& given = job.options.given;
  const bool says_workers =
      job.list_says_workers && !given.Has("plan") && (!given.Has("suite") || given.Has("lanes"));
  if (says_workers) {
    IOBENCH_ASSIGN_OR_RETURN(
        clients, FirstClients(std::move(clients), plan.lanes_per_worker(), job.options.cluster.client_list));
    LanesBecomeWorkers(plan.lanes_per_worker(), plan);
  }
  if (SaysWhere(given)) return absl::OkStatus();
  std::vector<std::string> paths;
  paths.reserve(clients.size());
  for (const ClientEntry& entry : clients) paths.push_back(entry.tested_path());
  const std::vector<v1::Target> targets = TargetsOf(paths);
  plan.mutable_targets()->Assign(targets.begin(), targets.end());
  return absl::OkStatus();
}

// Random, so that no run writes the same data as another. Below 2^48, so that every JSON reader represents it exactly.
uint64_t DrawSeed() {
  std::random_device random;
  return (uint64_t{random()} << 16 ^ random()) & ((uint64_t{1} << 48) - 1);
}

// Returns the exit code if there is nothing to resume, after saying why; nullopt: `point` says where to resume.
// `has_ranks`: other ranks wait to be dismissed, which the command does.
std::optional<int> FindWhatToResume(const JobSpec& job, bool has_ranks, ResumePoint& point) {
  auto found = FindResumePoint(job.resume, kProgramVersion);
  if (found.ok()) {
    if (const absl::Status left_out = LeaveOutClients(job.options.cluster.without, *found); !left_out.ok())
      return Fail(left_out, kExitUsage);
  }
  if (!found.ok()) return Fail(found.status(), absl::IsDataLoss(found.status()) ? kExitIo : kExitUsage);
  point = *std::move(found);
  if (!point.complete || has_ranks) return std::nullopt;
  SayComplete(point);
  return ExitOfPrinting(kExitOk, kExitIo);
}

// The servers measure with as many workers as the clients.
absl::Status GiveServersWorkers(const JobSpec& job, const v1::Plan& plan, uint32_t client_workers,
                                std::vector<HostEntry>& servers) {
  if (plan.server_path().empty()) return absl::OkStatus();
  if (!job.measures_servers) {
    return absl::InvalidArgumentError("--server-path (server_path) is for `run`: leave it out");
  }
  if (servers.empty() && job.options.cluster.samplers == 0) {
    return absl::InvalidArgumentError(
        "--server-path (server_path) is measured by the samplers of servers: it needs --sampler-hosts LIST, or --listen "
        "with --samplers N");
  }
  for (HostEntry& server : servers) {
    server.slots = 1 + WorkersOfEachServer(client_workers, static_cast<uint32_t>(servers.size()));
  }
  return absl::OkStatus();
}

// The servers of --sampler-hosts; none if it is not given.
absl::StatusOr<std::vector<HostEntry>> SamplerHostsOf(const ClusterOptions& place) {
  std::vector<HostEntry> servers;
  if (place.sampler_hosts.empty()) return servers;
  IOBENCH_ASSIGN_OR_RETURN(servers, HostsOf(place.sampler_hosts));
  for (HostEntry& server : servers) {
    if (server.slots > 1) {
      return absl::InvalidArgumentError(absl::StrCat("--sampler-hosts: one sampler sees all of ",
                                                     server.ToText(), ": leave out *", server.slots));
    }
    server.sampler = true;
  }
  return servers;
}

// Who takes part, as the options name them.
struct Participants {
  std::vector<ClientEntry> clients;  // of the client list
  std::vector<HostEntry> hosts;      // of --hosts
  std::vector<HostEntry> sampler_hosts;
};

absl::StatusOr<Participants> ParticipantsOf(const JobOptions& options) {
  Participants named;
  IOBENCH_ASSIGN_OR_RETURN(named.clients, ListedClients(options));
  if (!options.cluster.hosts.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(named.hosts, HostsOf(options.cluster.hosts));
  }
  IOBENCH_ASSIGN_OR_RETURN(named.sampler_hosts, SamplerHostsOf(options.cluster));
  return named;
}

// Returns the checked plan. Keeps only those clients of the list that take part. `worker_count`: 0 if it is not known yet.
absl::StatusOr<v1::Plan> CheckedPlan(const JobSpec& job, bool local, uint32_t worker_count,
                                     std::vector<ClientEntry>& clients) {
  const GivenOptions& given = job.options.given;
  const uint32_t processors = std::max(1u, std::thread::hardware_concurrency());
  const uint32_t default_lanes = local ? std::min(4u, processors) : 1;
  // ListMix refuses a list in any case.
  const bool lanes_are_clients = !clients.empty() && (!job.lanes_on_each_client || given.Has("mix"));
  if (job.lanes_on_each_client && !clients.empty()) worker_count = static_cast<uint32_t>(clients.size());
  IOBENCH_ASSIGN_OR_RETURN(
      v1::Plan plan,
      BuildPlan(given,
                {.default_lanes = clients.empty() ? default_lanes : static_cast<uint32_t>(clients.size()),
                 .worker_count = worker_count,
                 .client_list = lanes_are_clients,
                 .memory_bytes = MemoryOfThisProcess().bytes,
                 .has_own_method = job.has_own_method,
                 .queue_engine = CheckEngineHere("uring").ok() ? "uring" : "posix-aio",
                 .drawn_seed = DrawSeed()}));
  if (!clients.empty()) IOBENCH_RETURN_IF_ERROR(FitToClients(job, clients, plan));
  if (job.adapt_plan != nullptr) IOBENCH_RETURN_IF_ERROR(job.adapt_plan(plan));
  IOBENCH_RETURN_IF_ERROR(CheckPlan(plan));
  if (job.writes_results) {
    const std::string& out = job.options.cluster.out;
    IOBENCH_RETURN_IF_ERROR(CheckOutDirectory(out.empty() ? "." : out));
  }
  return plan;
}

// PermissionDenied: the directory for the results is there, and somebody else's. What else creating it would meet is left to
// that.
absl::Status CheckOwnerOfResults(const JobSpec& job) {
  const std::string& directory = job.resume.empty() ? job.options.cluster.out : job.resume;
  if (directory.empty()) return absl::OkStatus();
  return Annotate(files::CheckOwnDirectory(directory), job.resume.empty() ? "--out" : "--resume");
}

// What a command does. Empty on MPI ranks other than 0, which get their work from rank 0.
struct Work {
  v1::Plan plan;                      // empty for selftest
  std::optional<ResumePoint> resume;  // nullopt: nothing is resumed
  std::shared_ptr<ResultLock> results_lock;  // null: there is no directory for results yet
};

// Takes the directory of the results, if it is there, before anything in it is read for a decision.
absl::Status TakeResults(const JobSpec& job, Work& work) {
  const bool writes = job.writes_results && !job.dry_run && !job.options.cluster.net_test;
  const std::string directory = !job.resume.empty() ? job.resume : writes ? job.options.cluster.out : "";
  if (directory.empty()) return absl::OkStatus();
  if (!files::IsDirectory(directory)) return files::UnansweredCall(directory, errno);
  const auto if_out_of_sight =
      job.options.cluster.force ? ResultLock::IfOutOfSight::kAccept : ResultLock::IfOutOfSight::kRefuse;
  IOBENCH_ASSIGN_OR_RETURN(work.results_lock, ResultLock::Take(directory, if_out_of_sight));
  return absl::OkStatus();
}

// Sets `work`, checked, and removes from `named` those who do not take part. Returns the exit code if the command ends
// here: after an error, which it prints, or because no worker is needed (--print-plan, a complete run).
std::optional<int> SetUp(const JobSpec& job, const TransportSpec& chosen, const MpiLaunch& launch,
                         Participants& named, Work& work) {
  if (job.before_plan != nullptr) {
    if (const absl::Status fine = job.before_plan(); !fine.ok()) return Fail(fine, kExitUsage);
  }
  // Before anything there is read.
  if (const absl::Status ours = CheckOwnerOfResults(job); !ours.ok()) return Fail(ours, kExitUsage);
  ClusterOptions place = job.options.cluster;
  if (job.simulate > 0) place.insecure = false;  // simulated clients join over loopback, with TLS or without
  if (const absl::Status useful = CheckUsesOf(place, chosen.name); !useful.ok())
    return Fail(useful, kExitUsage);

  const std::string transport = chosen.name;
  const uint32_t worker_count =
      named.hosts.empty() ? chosen.worker_count(job.options.cluster, launch) : WorkersOn(named.hosts);
  if (const absl::Status taken = job.print_plan ? absl::OkStatus() : TakeResults(job, work); !taken.ok())
    return Fail(taken, kExitUsage);
  if (!job.resume.empty()) {
    work.resume.emplace();
    if (const std::optional<int> done = FindWhatToResume(job, transport == "mpi", *work.resume)) return done;
    work.plan = work.resume->run.plan();
    const auto workers =
        static_cast<size_t>(work.resume->run.workers_size()) - work.resume->absent_workers.size();
    if (named.clients.size() > workers) named.clients.resize(workers);
  } else if (job.has_plan) {
    auto plan = CheckedPlan(job, transport == "local", worker_count, named.clients);
    if (!plan.ok()) return Fail(plan.status(), kExitUsage);
    work.plan = *std::move(plan);
    if (job.print_plan) {
      std::cout << PlanToYaml(work.plan) << std::flush;
      return kExitOk;
    }
  }
  absl::Status status = job.after_plan == nullptr ? absl::OkStatus() : job.after_plan(work.plan);
  status.Update(GiveServersWorkers(job, work.plan, worker_count, named.sampler_hosts));
  if (!status.ok()) return Fail(status, kExitUsage);
  return std::nullopt;
}

}  // namespace

void SayComplete(const ResumePoint& point) {
  std::cout << Printable(point.directory) << ": this run is complete, all its phases were run (exit code "
            << point.run.exit_code() << "): there is nothing to resume" << std::endl;
}

int OnWorkers(const JobSpec& job, const std::string& typed) {
  FilePatience().limit_ns = NanosFrom(job.options.cluster.stall_timeout_s);
  const MpiLaunch launch = LauncherPromises();
  const bool prints = launch.promised_rank <= 0;
  if (const absl::Status alone = CheckNoRanks(job.options.cluster, launch); !alone.ok()) {
    return prints ? Fail(alone, kExitUsage) : int{kExitOk};
  }
  // As with MPI's ranks, the silent ones succeed: a launcher may end all tasks as soon as one fails.
  if (const std::optional<SeparateTask> task = SeparateTaskHere(); task.has_value())
    return task->speaks ? Fail(task->refusal, kExitUsage) : int{kExitOk};
  if (job.without_workers != nullptr) {
    if (const std::optional<int> done = job.without_workers(prints)) return *done;
  }
  const TransportSpec& chosen = ChosenTransport(job.options.cluster, job.simulate > 0, launch);
  // Only the first MPI rank reads the plan and reports errors in it; mpirun then ends the others.
  const bool follows = std::string(chosen.name) == "mpi" && !prints;
  if (follows && job.print_plan) return kExitOk;
  auto named = ParticipantsOf(job.options);
  if (!named.ok()) return FailEach(named.status(), kExitUsage);

  Work work;
  if (!follows) {
    if (const std::optional<int> done = SetUp(job, chosen, launch, *named, work)) return *done;
  }
  HandleSignals();
  SayAtSecondSignal("no results were saved");
  const std::function<int(const Stage&)> carry_out = [&](const Stage& stage) {
    return job.carry_out(stage, work.plan);
  };
  return chosen.run({.options = job.options,
                     .plan = work.plan,
                     .clients = named->clients,
                     .hosts = named->hosts,
                     .sampler_hosts = named->sampler_hosts,
                     .command = typed,
                     .resume = work.resume.has_value() ? &*work.resume : nullptr,
                     .results_lock = work.results_lock,
                     .simulate = job.simulate,
                     .lanes_per_worker = job.lanes_per_worker,
                     .carry_out = carry_out});
}

}  // namespace iobench
