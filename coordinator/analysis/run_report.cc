// The report of a run without its phases: workers and targets.
#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/digest/sha256.h"
#include "common/model/plan_targets.h"
#include "common/text/units.h"
#include "coordinator/analysis/client_differences.h"
#include "coordinator/analysis/error_report.h"
#include "coordinator/analysis/phase/align.h"
#include "coordinator/analysis/phase/client_roster.h"
#include "coordinator/analysis/phase/server_figures.h"
#include "coordinator/analysis/summarize.h"

namespace iobench {
namespace {

void FillInfo(const v1::RunRecord& run, v1::RunInfo& info) {
  info.set_id(run.id());
  info.set_command(run.command());
  *info.mutable_plan() = run.plan();
  info.set_started_at(run.started_at());
  // Versions before 2 did not distinguish 0 from none.
  if (run.has_exit_code() || run.finished()) info.set_exit_code(run.exit_code());
  info.set_program_version(run.program_version());
  info.set_label(run.label());
  info.set_program_sha256(run.program_sha256());
  info.set_plan_sha256(Sha256Of({run.plan().SerializeAsString()}));
  if (run.has_iozone()) *info.mutable_iozone() = run.iozone();
  *info.mutable_resumptions() = run.resumptions();
  info.set_transport(run.transport());
  const auto workers =
      static_cast<uint32_t>(std::count_if(run.workers().begin(), run.workers().end(),
                                          [](const v1::WorkerFacts& worker) { return !worker.server(); }));
  info.set_worker_count(workers);
  info.set_lane_count(workers * run.plan().lanes_per_worker());
  info.set_finished(run.finished());
  info.set_coordinator_host(run.coordinator().host());
  for (const v1::Problem& problem : run.problems()) *info.add_problems() = ErrorFrom(problem);
  *info.mutable_left_out() = run.left_out();
  for (const v1::WorkerFacts& sampler : run.samplers()) {
    *info.add_servers() = ServerFactsOf(sampler);
  }
  *info.mutable_skipped_phases() = run.skipped_phases();
  *info.mutable_shortened_phases() = run.shortened_phases();
}

// What the run did without: clients with a fault, and phases for which --max-duration left no time.
std::vector<std::string> NotesOnMissing(const v1::RunRecord& run) {
  const std::string option = absl::StrCat("--max-duration ", FormatSeconds(run.max_duration_s()));
  std::vector<std::string> notes;
  if (!run.left_out().empty()) {
    std::vector<std::string> clients;
    for (const v1::LeftOutClient& client : run.left_out()) {
      clients.push_back(client.client().empty() ? "some that did not join" : client.client());
    }
    notes.push_back(absl::StrCat("clients left out because of a fault (--skip-bad): ",
                                 absl::StrJoin(clients, ", "), "; no figure counts them"));
  }
  if (!run.shortened_phases().empty()) {
    notes.push_back(
        absl::StrCat(option, " ended ", absl::StrJoin(run.shortened_phases(), ", "), " before it was done"));
  }
  if (!run.skipped_phases().empty()) {
    notes.push_back(absl::StrCat(option, " was over: ", run.skipped_phases_size(), " of ",
                                 static_cast<uint32_t>(run.plan().phases_size()) * run.plan().repetitions(),
                                 " phases did not begin: ", absl::StrJoin(run.skipped_phases(), ", ")));
  }
  return notes;
}

// Index is the worker number; null: not in the record, or lost.
std::vector<const v1::WorkerPhaseResult*> ResultsByWorker(const v1::PhaseRecord* phase, size_t worker_count) {
  std::vector<const v1::WorkerPhaseResult*> results(worker_count, nullptr);
  if (phase == nullptr) return results;
  for (const v1::WorkerPhaseResult& worker : phase->workers()) {
    if (worker.worker() < worker_count && !worker.lost()) results[worker.worker()] = &worker;
  }
  return results;
}

// The clock of the first worker of a client that has one. `at`: start of the phase.
void FillClock(std::span<const uint32_t> workers, std::span<const v1::WorkerPhaseResult* const> results,
               CoordTime at, v1::ClientClock& clock) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  clock.set_offset_ns(nan);
  clock.set_error_ns(nan);
  for (const uint32_t worker : workers) {
    if (results[worker] == nullptr) continue;
    const absl::StatusOr<FittedClock> fitted = FitClock(*results[worker]);
    if (!fitted.ok()) continue;
    clock.set_offset_ns(fitted->map.offset_ns(at));
    clock.set_error_ns(static_cast<double>(fitted->map.error_ns(at)));
    clock.set_same_clock(results[worker]->bursts().empty());
    return;
  }
}

// What any worker of the client has seen, in the order of the plan's targets.
// Processors and memory, and how much of the host's they are.
void FillResources(const v1::RunRecord& run, std::span<const uint32_t> workers, v1::ClientReport& report) {
  std::vector<const v1::WorkerFacts*> facts;
  for (const uint32_t worker : workers) facts.push_back(&run.workers(static_cast<int>(worker)));
  report.set_memory_bytes(MemoryOfWorkers(facts));
  report.set_processors(facts.front()->processors());
  for (const v1::WorkerFacts* const worker : facts) {
    report.set_host_processors(std::max(report.host_processors(), worker->host_processors()));
    report.set_host_memory_bytes(std::max(report.host_memory_bytes(), worker->host_memory_bytes()));
    if (worker->has_cpu_quota_processors() && !(report.cpu_quota_processors() < worker->cpu_quota_processors() &&
                                                report.has_cpu_quota_processors())) {
      report.set_cpu_quota_processors(worker->cpu_quota_processors());
    }
  }
}

void FillTargets(const v1::RunRecord& run, std::span<const uint32_t> workers, v1::ClientReport& report) {
  std::map<uint32_t, const v1::TargetFacts*> seen_targets;
  for (const uint32_t worker : workers) {
    if (static_cast<int>(worker) >= run.targets_size()) continue;
    const v1::WorkerTargets& seen = run.targets(static_cast<int>(worker));
    for (int i = 0; i < seen.targets_size(); ++i)
      seen_targets.emplace(NumberOfSeen(seen, i), &seen.targets(i));
  }
  for (const auto& [number, seen] : seen_targets) {
    if (number >= static_cast<uint32_t>(run.plan().targets_size())) break;
    if (run.plan().targets(static_cast<int>(number)).server()) continue;
    v1::TargetReport& target = *report.add_targets();
    target.set_path(run.plan().targets(static_cast<int>(number)).path());
    target.set_filesystem(seen->filesystem());
    target.set_mount_source(seen->mount_source());
    target.set_mount_options(seen->mount_options());
    *target.mutable_settings() = seen->settings();
  }
}

}  // namespace

v1::RunReport SummarizeRun(const v1::RunRecord& run, const v1::PhaseRecord* newest) {
  v1::RunReport report;
  report.set_schema("cluster-iobench result 1");
  FillInfo(run, *report.mutable_run());
  *report.mutable_notes() = run.plan().notes();
  for (const std::string& note : NotesOnMissing(run)) report.add_notes(note);
  const ClientRoster roster(run);
  for (size_t client = 0; client < roster.client_count(); ++client) {
    if (roster.IsServer(client)) continue;
    const uint32_t first_worker = roster.WorkersOf(client).front();
    const v1::WorkerFacts& facts = run.workers(static_cast<int>(first_worker));
    v1::ClientReport& table = *report.add_clients();
    table.set_host(roster.NameOf(client));
    table.set_boot_id(facts.boot_id());
    table.set_clone(facts.clone());
    table.set_worker_count(static_cast<uint32_t>(roster.WorkersOf(client).size()));
    FillResources(run, roster.WorkersOf(client), table);
    table.set_l2_cache_bytes(facts.l2_cache_bytes());
    table.set_l3_cache_bytes(facts.l3_cache_bytes());
    table.set_kernel(facts.kernel());
    table.set_clock(facts.clock());
    table.set_clock_read_ns(facts.clock_read_ns());
    table.set_loop_ns(facts.loop_ns());
    *table.mutable_settings() = facts.settings();
    FillTargets(run, roster.WorkersOf(client), table);
    if (!roster.OtherHostsOf(client).empty()) {
      report.add_notes(absl::StrCat(
          roster.NameOf(client), " and ", absl::StrJoin(roster.OtherHostsOf(client), ", "),
          " report the same boot id and count as one client; containers on one host do, and so do "
          "cloned machines: give each clone its own identity"));
    }
  }
  UpdateClocks(ClocksOf(run, newest), report);
  FillDifferences(report);
  return report;
}

google::protobuf::RepeatedPtrField<v1::ClientClock> ClocksOf(const v1::RunRecord& run,
                                                             const v1::PhaseRecord* phase) {
  const ClientRoster roster(run);
  const std::vector<const v1::WorkerPhaseResult*> results = ResultsByWorker(phase, roster.worker_count());
  const CoordTime at{phase == nullptr ? 0 : phase->start_coord_ns()};
  google::protobuf::RepeatedPtrField<v1::ClientClock> clocks;
  for (size_t client = 0; client < roster.client_count(); ++client) {
    if (!roster.IsServer(client)) FillClock(roster.WorkersOf(client), results, at, *clocks.Add());
  }
  return clocks;
}

void UpdateClocks(const google::protobuf::RepeatedPtrField<v1::ClientClock>& clocks, v1::RunReport& report) {
  assert(clocks.size() == report.clients_size());
  for (int client = 0; client < clocks.size(); ++client) {
    v1::ClientReport& noted = *report.mutable_clients(client);
    noted.set_clock_offset_ns(clocks[client].offset_ns());
    noted.set_clock_error_ns(clocks[client].error_ns());
    noted.set_same_clock(clocks[client].same_clock());
  }
}

}  // namespace iobench
