// How the conductor examines its workers before the first phase: who joins, what each of them sees, and who is left
// out.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "coordinator/analysis/phase/client_roster.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/mix/phase_of_mix.h"
#include "coordinator/plan/background.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/server_phases.h"
#include "coordinator/preflight/refusal.h"
#include "coordinator/run/conductor.h"
#include "coordinator/run/data/access_check.h"

namespace iobench {
namespace {

// By client: the fewest lanes with files in any phase that its workers do on files. `max_per_worker`: of lanes that
// count; 0: all.
std::map<uint32_t, uint32_t> FewestLanesWithFiles(const v1::Plan& plan, std::span<const Member> members,
                                                  uint32_t max_per_worker) {
  std::map<uint32_t, uint32_t> fewest;
  for (const v1::Phase& phase : plan.phases()) {
    uint32_t per_worker = ShapeOf(plan, phase).lanes_per_worker;
    if (max_per_worker > 0) per_worker = std::min(per_worker, max_per_worker);
    const WorkerAssignments assignments(phase, members.size());
    std::map<uint32_t, uint32_t> lanes;
    for (const Member& member : members) {
      const v1::Assignment* const assignment = assignments.Of(member.number);
      if (member.facts.server() || assignment == nullptr || IsMetadata(assignment->operation())) continue;
      lanes[member.client] += assignment->operation().first_lane_files() ? 1 : per_worker;
    }
    for (const auto& [client, count] : lanes) {
      uint32_t& least = fewest.emplace(client, count).first->second;
      least = std::min(least, count);
    }
  }
  return fewest;
}

// Counts the faults of clients from which no worker has joined.
uint32_t ClientsOfNobody(std::span<const JoinFault> faults, std::span<const Member> members) {
  uint32_t count = 0;
  for (const JoinFault& fault : faults) count += JoinedThere(fault, members).empty() ? 1 : 0;
  return count;
}

}  // namespace

absl::Status Conductor::GatherWorkers() {
  const CoordTime begin = options_.clock();
  const absl::Status gathered = cluster_.Gather(
      options_.worker_count, options_.join_deadline, options_.version,
      [this](uint32_t joined) {
        any_joined_ |= joined > 0;
        observer_.WorkersJoin(joined, options_.worker_count);
      },
      options_.join_watch, options_.preflight_only || options_.skip_bad ? &join_faults_ : nullptr);
  join_s_ = SecondsFrom(options_.clock() - begin);
  return gathered;
}

// Repeats LookOnce until no worker that takes part has a fault, or the run is refused.
absl::StatusOr<std::unique_ptr<Conductor::Look>> Conductor::LookAtWorkers() {
  // Workers may bring their own targets.
  const v1::Plan given_plan = options_.skip_bad ? plan_ : v1::Plan();
  if (options_.skip_bad) {
    // Workers that did join on such a client leave with the others that have a fault.
    std::erase_if(join_faults_, [this](const JoinFault& fault) {
      if (!JoinedThere(fault, cluster_.members()).empty()) return false;
      NoteLeftOut(fault.client, 0, {fault.problem});
      return true;
    });
  }
  for (uint32_t pass = 0;; ++pass) {
    IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<Look> look, LookOnce(pass));
    const absl::Status refusal = RefusalFor(cluster_.members(), preflight_.findings);
    if (refusal.ok() || options_.preflight_only) {
      // With options_.examine, Measure decides when the phases run.
      const bool decides_now = refusal.ok() && options_.examine == nullptr;
      const absl::Status decided = decides_now ? DecideAboutData(*look) : absl::OkStatus();
      if (!options_.preflight_only) IOBENCH_RETURN_IF_ERROR(decided);
      if (!decided.ok()) NoteDataFault(decided);
      return look;
    }
    std::set<uint32_t> bad;
    if (options_.skip_bad) bad = WorkersToLeaveOut(cluster_.members(), preflight_.findings);
    if (bad.empty()) return refusal;
    if (!LeavesClients(cluster_.members(), bad)) {
      return Annotate(refusal, "--skip-bad would leave no client");
    }
    NoteLeftOut(bad);
    cluster_.Exclude(bad, "the coordinator leaves this client out of the run (--skip-bad)");
    join_faults_.clear();
    plan_ = given_plan;
    if (!options_.resume.has_value()) *record_.mutable_plan() = plan_;
  }
}

absl::StatusOr<std::unique_ptr<Conductor::Look>> Conductor::LookOnce(uint32_t pass) {
  MetRecord().clear_workers();
  MetRecord().clear_targets();
  auto look = std::make_unique<Look>();
  look->clocks.emplace(
      cluster_, coordinator_.boot_id(),
      options_.always_measure_clocks ? ClockSync::Measured::kAllClocks : ClockSync::Measured::kOtherClocks,
      options_.max_burst_clocks);
  IOBENCH_RETURN_IF_ERROR(MeetWorkers(*look->clocks));
  look->layout.emplace(plan_, ClientsOfWorkers());
  look->data.emplace(cluster_, plan_, *look->layout, met_.started_at(), coordinator_.host(),
                     options_.resume.has_value() ? options_.resume->first_phase : 0,
                     options_.resume.has_value() && options_.resume->begun_before);
  IOBENCH_RETURN_IF_ERROR(look->data->Inspect());
  // The first phase of a run measures the clocks by itself.
  if (options_.preflight_only) IOBENCH_RETURN_IF_ERROR(look->clocks->Burst());
  IOBENCH_RETURN_IF_ERROR(CheckStorage(*look, pass));
  for (const v1::WorkerTargets& facts : look->data->facts()) *MetRecord().add_targets() = facts;
  preflight_.findings = FindingsOn(*look);
  preflight_.client_count = cluster_.client_count() + ClientsOfNobody(join_faults_, cluster_.members());
  preflight_.worker_count = options_.worker_count;
  return look;
}

absl::Status Conductor::MeetWorkers(ClockSync& clocks) {
  // First, because it determines which workers share a client.
  IOBENCH_RETURN_IF_ERROR(clocks.Verify());
  for (const Member& member : cluster_.members()) *MetRecord().add_workers() = member.facts;
  IOBENCH_RETURN_IF_ERROR(UseWorkersPaths());
  IOBENCH_RETURN_IF_ERROR(SpreadMixes());
  IOBENCH_RETURN_IF_ERROR(SpreadOverClients());
  IOBENCH_RETURN_IF_ERROR(SizeFiles());  // when it is known which workers do which part of a phase
  LetServersMeasure();
  return CheckForWorkers(plan_, static_cast<uint32_t>(cluster_.members().size()));
}

// --mix: which workers do which part follows from the clients that they are on.
absl::Status Conductor::SpreadMixes() {
  std::vector<uint32_t> clients = ClientsOfWorkers();
  clients.resize(cluster_.client_workers());
  bool any = false;
  for (v1::Phase& phase : *plan_.mutable_phases()) {
    if (!phase.has_spreading()) continue;
    any = true;
    IOBENCH_RETURN_IF_ERROR(SpreadOverWorkers(clients, phase));
  }
  if (any && !options_.resume.has_value()) *record_.mutable_plan() = plan_;
  return absl::OkStatus();
}

// --per-client, --background: which workers share a client is known only now.
absl::Status Conductor::SpreadOverClients() {
  const bool has_background = HasBackground(plan_);
  if (!plan_.per_client() && !has_background) return absl::OkStatus();
  const bool by_worker = cluster_.client_count() == 1;
  std::vector<WorkersOfClient> clients(by_worker ? cluster_.members().size() : cluster_.client_count());
  std::map<std::string, uint32_t> times;  // clones may share a host name
  for (const Member& member : cluster_.members()) {
    WorkersOfClient& client = clients[by_worker ? member.number : member.client];
    if (client.workers.empty()) {
      const std::string name = by_worker ? member.Name() : member.facts.host();
      const uint32_t number = ++times[name];
      client.name = number == 1 ? name : absl::StrCat(name, " (", number, ")");
    }
    client.workers.push_back(member.number);
  }
  if (has_background) {
    IOBENCH_RETURN_IF_ERROR(SetBesideBackground(clients, by_worker, plan_));
    if (!options_.resume.has_value()) *record_.mutable_plan() = plan_;
    return absl::OkStatus();
  }
  // A validation does without the comparison.
  if (clients.size() == 1 && options_.examine == nullptr) {
    return absl::InvalidArgumentError(
        "--per-client compares clients, and there is only one worker: use more clients (--hosts, --listen, mpirun), or "
        "several workers on this one (--spawn)");
  }
  LetEachClientWorkAlone(clients, plan_);
  if (!options_.resume.has_value()) *record_.mutable_plan() = plan_;
  return absl::OkStatus();
}

// --server-path: which workers are on which server is known only now.
void Conductor::LetServersMeasure() {
  if (plan_.server_path().empty()) return;
  std::map<uint32_t, std::vector<uint32_t>> workers_of_server;
  for (const Member& member : cluster_.members()) {
    if (member.facts.server()) workers_of_server[member.client].push_back(member.number);
  }
  std::vector<std::vector<uint32_t>> servers;
  for (auto& [number, workers] : workers_of_server) servers.push_back(std::move(workers));
  SetServerTargets(servers, cluster_.client_workers(), plan_);
  AddServerPhases(cluster_.client_workers(), static_cast<uint32_t>(servers.size()), plan_);
  if (!options_.resume.has_value()) *record_.mutable_plan() = plan_;
}

std::vector<uint32_t> Conductor::ClientsOfWorkers() const {
  std::vector<uint32_t> clients;
  for (const Member& member : cluster_.members()) clients.push_back(member.client);
  return clients;
}

// A dry run writes nothing, so it knows only what the mounts show.
absl::Status Conductor::CheckStorage(Look& look, uint32_t pass) {
  preflight_.not_checked.clear();
  storage_.clear();
  if (options_.dry_run) return absl::OkStatus();
  if (!UsesFiles(plan_)) {
    preflight_.not_checked.push_back("same storage, writable: the plan writes no files of its own");
    return absl::OkStatus();
  }
  const auto members = static_cast<uint32_t>(cluster_.members().size());
  StorageCheck check(cluster_, plan_, *look.layout, look.data->facts(), options_.share_wait_ns,
                     pass * options_.worker_count);
  // A run on one worker finds out by itself whether it can write.
  IOBENCH_RETURN_IF_ERROR(check.Run(options_.preflight_only ? 1 : 2));
  storage_ = check.sights();
  look.data->NoteStorageSights(storage_);
  if (members == 1) preflight_.not_checked.push_back("same storage: there is only one worker");
  return absl::OkStatus();
}

std::vector<Finding> Conductor::FindingsOn(const Look& look) {
  const std::vector<Member>& members = cluster_.members();
  std::vector<int64_t> clock_error_ns;
  for (const Member& member : members) {
    clock_error_ns.push_back(look.clocks->MapOf(member.number).error_ns(cluster_.Now()));
  }
  std::vector<SpaceNeed> space;
  // Without a phase that creates files, the run uses kept data, or Decide refuses it.
  if (UsesFiles(plan_) && (CreatesData(plan_) || FillPercent(plan_) > 0)) {
    space = SpaceNeeds(plan_, *look.layout, members, look.data->facts());
  }
  preflight_.fills = FillEstimates(plan_, space);
  return Judge({.plan = plan_,
                .layout = *look.layout,
                .members = members,
                .targets = look.data->facts(),
                .limits = look.data->limits(),
                .unmet = look.data->unmet(),
                .clock_error_ns = clock_error_ns,
                .storage = storage_,
                .space = space,
                .join_faults = join_faults_,
                .force = options_.force});
}

absl::Status Conductor::DecideAboutData(Look& look) {
  std::vector<uint64_t> earlier_runs;
  if (options_.resume.has_value()) earlier_runs = RunIdsOf(options_.resume->run);
  IOBENCH_RETURN_IF_ERROR(look.data->Decide(options_.force, earlier_runs));
  bytes_needed_ = look.data->decision().bytes_needed;
  return absl::OkStatus();
}

// Faults that concern no single client: data that exist already, direct I/O that does not fit.
void Conductor::NoteDataFault(const absl::Status& fault) {
  preflight_.findings.push_back({.severity = Severity::kFault,
                                 .check = PreflightCheck::kData,
                                 .client = "",
                                 .workers = {},
                                 .problem = std::string(fault.message()),
                                 .advice = "",
                                 .of_client = false,
                                 .alone = fault});
}

void Conductor::NoteLeftOut(const std::string& client, uint32_t worker_count,
                            const std::vector<std::string>& problems) {
  v1::LeftOutClient& left_out = *record_.add_left_out();
  left_out.set_client(client);
  left_out.set_worker_count(worker_count);
  for (const std::string& problem : problems) {
    left_out.add_problems(problem);
    LogWarning(absl::StrCat(client.empty() ? "a client" : client, " is left out: ", problem));
  }
}

// All workers of a client leave together.
void Conductor::NoteLeftOut(const std::set<uint32_t>& workers) {
  struct LeftOut {
    std::string host;
    uint32_t worker_count = 0;
    std::vector<std::string> problems;
  };
  std::map<uint32_t, LeftOut> clients;
  for (const uint32_t worker : workers) {
    LeftOut& left_out = clients[cluster_.members()[worker].client];
    if (left_out.worker_count++ == 0) left_out.host = cluster_.members()[worker].facts.host();
  }
  for (const Finding& finding : preflight_.findings) {
    if (finding.severity != Severity::kFault || !finding.of_client) continue;
    std::set<uint32_t> having_it;  // several, if machines are cloned or share a name
    for (const uint32_t worker : finding.workers) {
      if (workers.contains(worker)) having_it.insert(cluster_.members()[worker].client);
    }
    for (const uint32_t client : having_it) clients[client].problems.push_back(finding.problem);
  }
  for (const auto& [client, left_out] : clients) {
    NoteLeftOut(left_out.host, left_out.worker_count, left_out.problems);
  }
}

// Some workers have their path on their own command line, as those of a client list do; the others use the plan's
// paths.
absl::Status Conductor::UseWorkersPaths() {
  std::vector<std::string> paths;
  bool any = false;
  RemoveServerTargets(plan_);
  const std::vector<uint32_t> targets_of_plan =
      TargetOfEachWorker(plan_, static_cast<uint32_t>(cluster_.members().size()));
  for (const Member& member : cluster_.members()) {
    if (member.facts.server()) continue;
    const uint32_t target = targets_of_plan[member.number];
    const std::string& own = member.facts.path();
    paths.push_back(own.empty() ? plan_.targets(static_cast<int>(target)).path() : own);
    any |= !own.empty();
  }
  if (!any) return absl::OkStatus();
  if (!OnlyTargets(plan_).empty()) {
    return absl::InvalidArgumentError(
        "--each-path tests every path with all workers, but some workers have paths of their own (client list, "
        "worker --path): give the paths to the run alone, with --path");
  }
  std::vector<v1::Target> targets = TargetsOf(paths);
  plan_.mutable_targets()->Assign(targets.begin(), targets.end());
  if (!options_.resume.has_value()) *record_.mutable_plan() = plan_;
  return absl::OkStatus();
}

absl::Status Conductor::SizeFiles() {
  // A resumed run goes on with the sizes that it began with, even if a client's memory has changed.
  if (plan_.files().memory_percent() == 0 || options_.resume.has_value()) return absl::OkStatus();
  std::map<uint32_t, std::vector<const v1::WorkerFacts*>> workers_of_client;
  for (const Member& member : cluster_.members()) workers_of_client[member.client].push_back(&member.facts);
  std::vector<ClientMemory> clients;
  for (const auto& [client, lanes] :
       FewestLanesWithFiles(plan_, cluster_.members(), options_.least_lanes_per_worker)) {
    clients.push_back({.memory_bytes = MemoryOfWorkers(workers_of_client[client]), .lane_count = lanes});
  }
  if (clients.empty()) return absl::OkStatus();
  IOBENCH_RETURN_IF_ERROR(SizeFilesByMemory(clients, plan_));
  *record_.mutable_plan() = plan_;
  return absl::OkStatus();
}

}  // namespace iobench
