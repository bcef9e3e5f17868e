#include "coordinator/conduct/resumption.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/plan_targets.h"
#include "common/roster/roster.h"
#include "common/text/units.h"

namespace iobench {
namespace {

// For each worker the first one of the same client, by which workers are grouped.
std::vector<uint32_t> FirstOfClients(const v1::RunRecord& run) {
  const Roster roster = RosterOf(run);
  std::vector<uint32_t> firsts;
  for (const Roster::Worker& worker : roster.workers) firsts.push_back(roster.clients[worker.client].workers.front());
  return firsts;
}

// Collects differences of one worker, each once for all workers.
class Differ {
 public:
  void Add(const std::string& where, const std::string& what, const std::string& was, const std::string& is) {
    if (was == is) return;
    const std::string text = absl::StrCat(where, ": ", what, " ", is, ", was ", was);
    if (seen_.insert(text).second) all_.push_back(text);
  }
  std::vector<std::string> Take() { return std::move(all_); }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::set<std::string> seen_;
  std::vector<std::string> all_;
};

std::string StorageOf(const v1::TargetFacts& target) {
  // A local device has no name that lasts.
  return target.network() ? absl::StrCat(target.filesystem(), " from ", target.mount_source())
                          : target.filesystem();
}

void CompareWorker(const v1::RunRecord& saved, const v1::RunRecord& now, int worker, Differ& fatal,
                   Differ& noted) {
  const v1::WorkerFacts& was = saved.workers(worker);
  const v1::WorkerFacts& is = now.workers(worker);
  fatal.Add(absl::StrCat("worker ", worker), "on", was.host(), is.host());
  noted.Add(is.host(), "kernel", was.kernel(), is.kernel());
  noted.Add(is.host(), "processors", absl::StrCat(was.processors()), absl::StrCat(is.processors()));
  noted.Add(is.host(), "memory", FormatBytes(static_cast<double>(was.memory_bytes())),
            FormatBytes(static_cast<double>(is.memory_bytes())));
  if (worker >= saved.targets_size() || worker >= now.targets_size()) return;
  const v1::WorkerTargets& sees = now.targets(worker);
  for (int i = 0; i < sees.targets_size(); ++i) {
    const uint32_t target = NumberOfSeen(sees, i);
    const v1::TargetFacts* const saw = SeenOf(saved.targets(worker), target);
    if (saw == nullptr) continue;
    const std::string where =
        absl::StrCat(is.host(), " ", now.plan().targets(static_cast<int>(target)).path());
    fatal.Add(where, "file system", StorageOf(*saw), StorageOf(sees.targets(i)));
    if (sees.targets(i).network()) {
      noted.Add(where, "mount options", saw->mount_options(), sees.targets(i).mount_options());
    }
  }
}

std::string PathsOf(const v1::Plan& plan) {
  return absl::StrJoin(plan.targets(), ", ", [](std::string* out, const v1::Target& target) {
    absl::StrAppend(out, target.path());
  });
}

// A phase that --max-duration shortened and that is measured again, this time perhaps as a whole, is no longer noted.
void ForgetShortened(const ResumePoint& point, v1::RunRecord& run) {
  if (point.repeats_shortened && !run.shortened_phases().empty()) {
    run.mutable_shortened_phases()->RemoveLast();
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> DifferencesSince(const v1::RunRecord& saved,
                                                          const v1::RunRecord& now) {
  Differ fatal, noted;
  fatal.Add("the run", "workers", absl::StrCat(saved.workers_size()), absl::StrCat(now.workers_size()));
  fatal.Add("the run", "paths", PathsOf(saved.plan()), PathsOf(now.plan()));
  noted.Add("the run", "transport", saved.transport(), now.transport());
  const std::vector<uint32_t> were_first = FirstOfClients(saved), are_first = FirstOfClients(now);
  for (int worker = 0; worker < std::min(saved.workers_size(), now.workers_size()); ++worker) {
    CompareWorker(saved, now, worker, fatal, noted);
    const auto index = static_cast<size_t>(worker);
    fatal.Add(absl::StrCat("worker ", worker), "on the client of worker", absl::StrCat(were_first[index]),
              absl::StrCat(are_first[index]));
  }
  if (fatal.all().empty()) return noted.Take();
  return absl::FailedPreconditionError(
      absl::StrCat("these are not the clients that began the run: ", absl::StrJoin(fatal.all(), "; "),
                   ": resume it on the same clients and storage, or start a new run"));
}

v1::RunRecord ResumedRecord(const ResumePoint& point, const std::string& resumed_at, uint64_t run_id,
                            double max_duration_s) {
  v1::RunRecord run = point.run;
  run.clear_exit_code();
  run.clear_problems();
  run.clear_skipped_phases();  // they are run now
  ForgetShortened(point, run);
  // Without a limit of its own, this part leaves the one that shortened an earlier phase in the report.
  if (max_duration_s > 0 || run.shortened_phases().empty()) run.set_max_duration_s(max_duration_s);
  run.set_finished(false);
  run.set_phase_count(point.part.first_phase);
  run.add_resumed_run_ids(run_id);
  v1::Resumption& resumption = *run.add_resumptions();
  resumption.set_resumed_at(resumed_at);
  resumption.set_first_phase(point.part.first_phase);
  resumption.mutable_measured_again()->Assign(point.part.again.begin(), point.part.again.end());
  for (const std::string& client : point.without) resumption.add_without(client);
  resumption.set_ended_by(point.ended_by);
  return run;
}

}  // namespace iobench
