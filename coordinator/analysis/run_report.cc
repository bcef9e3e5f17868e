// The report of a run without its phases: workers and targets.
#include <limits>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/analysis/error_report.h"
#include "coordinator/analysis/phase/align.h"
#include "coordinator/analysis/phase/client_roster.h"
#include "coordinator/analysis/summarize.h"

namespace iobench {
namespace {

void FillInfo(const v1::RunRecord& run, v1::RunInfo& info) {
  info.set_id(run.id());
  info.set_command(run.command());
  *info.mutable_plan() = run.plan();
  info.set_started_at(run.started_at());
  info.set_exit_code(run.exit_code());
  info.set_program_version(run.program_version());
  info.set_transport(run.transport());
  info.set_worker_count(static_cast<uint32_t>(run.workers_size()));
  info.set_lane_count(static_cast<uint32_t>(run.workers_size()) * run.plan().lanes_per_worker());
  info.set_finished(run.finished());
  info.set_coordinator_host(run.coordinator().host());
  for (const v1::Problem& problem : run.problems()) *info.add_problems() = ErrorFrom(problem);
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
               CoordTime at, v1::ClientReport& report) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  report.set_clock_offset_ns(nan);
  report.set_clock_error_ns(nan);
  report.set_same_clock(false);
  for (const uint32_t worker : workers) {
    if (results[worker] == nullptr) continue;
    const absl::StatusOr<FittedClock> clock = FitClock(*results[worker]);
    if (!clock.ok()) continue;
    report.set_clock_offset_ns(clock->map.offset_ns(at));
    report.set_clock_error_ns(static_cast<double>(clock->map.error_ns(at)));
    report.set_same_clock(results[worker]->bursts().empty());
    return;
  }
}

void FillTargets(const v1::RunRecord& run, uint32_t worker, v1::ClientReport& report) {
  if (static_cast<int>(worker) >= run.targets_size()) return;
  const v1::WorkerTargets& seen = run.targets(static_cast<int>(worker));
  for (int i = 0; i < seen.targets_size() && i < run.plan().targets_size(); ++i) {
    v1::TargetReport& target = *report.add_targets();
    target.set_path(run.plan().targets(i).path());
    target.set_filesystem(seen.targets(i).filesystem());
    target.set_mount_source(seen.targets(i).mount_source());
    target.set_mount_options(seen.targets(i).mount_options());
  }
}

}  // namespace

v1::RunReport SummarizeRun(const v1::RunRecord& run, const v1::PhaseRecord* newest) {
  v1::RunReport report;
  report.set_schema("cluster-iobench result 1");
  FillInfo(run, *report.mutable_run());
  *report.mutable_notes() = run.plan().notes();
  const ClientRoster roster(run);
  for (size_t client = 0; client < roster.client_count(); ++client) {
    const uint32_t first_worker = roster.WorkersOf(client).front();
    const v1::WorkerFacts& facts = run.workers(static_cast<int>(first_worker));
    v1::ClientReport& table = *report.add_clients();
    table.set_host(roster.NameOf(client));
    table.set_boot_id(facts.boot_id());
    table.set_worker_count(static_cast<uint32_t>(roster.WorkersOf(client).size()));
    table.set_processors(facts.processors());
    table.set_memory_bytes(facts.memory_bytes());
    table.set_kernel(facts.kernel());
    table.set_clock(facts.clock());
    table.set_clock_read_ns(facts.clock_read_ns());
    table.set_loop_ns(facts.loop_ns());
    FillTargets(run, first_worker, table);
    if (!roster.OtherHostsOf(client).empty()) {
      report.add_notes(absl::StrCat(
          roster.NameOf(client), " and ", absl::StrJoin(roster.OtherHostsOf(client), ", "),
          " report the same boot id and count as one client; containers on one host do, and so do "
          "cloned machines: give each clone its own identity"));
    }
  }
  NoteClocks(run, newest, report);
  return report;
}

void NoteClocks(const v1::RunRecord& run, const v1::PhaseRecord* newest, v1::RunReport& report) {
  const ClientRoster roster(run);
  const std::vector<const v1::WorkerPhaseResult*> results = ResultsByWorker(newest, roster.worker_count());
  const CoordTime at{newest == nullptr ? 0 : newest->start_coord_ns()};
  for (int client = 0; client < report.clients_size(); ++client) {
    FillClock(roster.WorkersOf(static_cast<size_t>(client)), results, at, *report.mutable_clients(client));
  }
}

}  // namespace iobench
