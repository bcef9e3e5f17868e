#include "coordinator/conduct/data/data_keeper.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/host_identity.h"
#include "common/model/data_content.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/roster/filesystem.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "common/text/shell_word.h"
#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/conduct/data/access_check.h"
#include "coordinator/conduct/data/client_demands.h"
#include "coordinator/conduct/data/sharing_check.h"

namespace iobench {
namespace {

// Returns the names that a run of this plan may use for its files and trees, in any phase.
v1::DataNames NamesOf(const v1::Plan& plan, uint32_t worker_count) {
  v1::DataNames names;
  names.set_lanes(worker_count * plan.lanes_per_worker());
  if (FillPercent(plan) > 0) names.set_fill_lanes(names.lanes());
  for (const v1::Phase& phase : plan.phases()) {
    const v1::FileLayout files = ShapeOf(plan, phase).files;
    names.set_files_per_lane(std::max(names.files_per_lane(), std::max(1u, files.files_per_lane())));
    names.set_shared_file(names.shared_file() || files.shared_file());
  }
  names.set_trees(TreeNumbers(plan).count());
  return names;
}

// After an interrupt, how long the removal of data may make no progress: if something else hangs, and otherwise.
constexpr int64_t kHangsAtEndNs = 400'000'000;
constexpr int64_t kSlowAtEndNs = 10 * kNanosPerSecond;

Cluster::Patience PatienceForPaths() {
  return {.quick_work = "check its paths", .stall_after_ns = 0, .work = "check its paths"};
}

}  // namespace

DataKeeper::DataKeeper(Cluster& cluster, const v1::Plan& plan, const Layout& layout, std::string created_at,
                       std::string created_by, RunPart part)
    : cluster_(cluster),
      plan_(plan),
      layout_(layout),
      part_(std::move(part)) {
  manifest_.set_program("cluster-iobench");
  manifest_.set_format(1);
  manifest_.set_run_id(cluster.run_id());
  manifest_.set_state(v1::Manifest::ACTIVE);
  manifest_.set_created_at(std::move(created_at));
  manifest_.set_created_by(std::move(created_by));
  if (const std::optional<ProcessIdentity> self = OwnIdentity()) {
    manifest_.set_coordinator_boot_id(self->place);
    manifest_.set_coordinator_pid(self->pid);
    manifest_.set_coordinator_start_ticks(self->start_ticks);
  }
  manifest_.set_workers(layout.worker_count());
  manifest_.set_lanes_per_worker(plan.lanes_per_worker());
  // The lanes' files are spread over the targets, or each target has all of them.
  manifest_.set_targets(OnlyTargets(plan).empty() ? static_cast<uint32_t>(plan.targets_size()) : 1);
  *manifest_.mutable_files() = plan.files();
  // The size that a run without one has is that of files which it does not write.
  if (!WorksOnData(plan)) manifest_.mutable_files()->clear_bytes_per_lane();
  *manifest_.mutable_names() = NamesOf(plan, layout.worker_count());
  manifest_.set_seed(plan.seed());
  *manifest_.mutable_data() = plan.data();
  if (HasSectors(plan.data())) manifest_.set_unit_bytes(SectorUnitBytes(plan));
}

absl::Status DataKeeper::Inspect() {
  const std::vector<Member>& members = cluster_.members();
  facts_.assign(members.size(), {});
  unmet_.assign(members.size(), {});
  limits_.assign(members.size(), {});
  std::vector<std::set<uint32_t>> asked(members.size());
  std::vector<v1::Demands> demands(members.size());
  IOBENCH_RETURN_IF_ERROR(cluster_.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        v1::WorkerRequest request;
        v1::Inspect& inspect = *request.mutable_inspect();
        *inspect.mutable_demands() = demands[member.number] =
            DemandsOn(member, plan_, layout_, members, part_);
        asked[member.number] = TargetsToInspect(member, plan_, layout_, inspect.demands(), members);
        for (const uint32_t target : asked[member.number]) {
          *inspect.add_targets() = plan_.targets(static_cast<int>(target));
        }
        *inspect.mutable_existing_files() = plan_.files().existing_files();
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        RecordSeen(member, asked[member.number], received.event.inspected());
        limits_[member.number] = received.event.inspected().limits();
        AddUnmet(member, asked[member.number], demands[member.number], received);
      },
      PatienceForPaths()));
  IOBENCH_RETURN_IF_ERROR(FindOwners());
  JoinSameFilesystems(plan_, members, facts_);
  return absl::OkStatus();
}

void DataKeeper::RecordSeen(const Member& member, const std::set<uint32_t>& asked,
                          const v1::Inspected& answer) {
  if (static_cast<size_t>(answer.targets_size()) != asked.size()) return;
  int index = 0;
  for (const uint32_t target : asked) {
    v1::TargetFacts& seen = AddSeen(facts_[member.number], target);
    seen = answer.targets(index++);
    SetClone(member.facts.clone(), seen);
  }
}

// Whether the run that left data at a target is still running can be seen on the hosts of its coordinator and of the
// worker that claimed the data, which need not use the target now.
absl::Status DataKeeper::FindOwners() {
  std::map<std::string, std::set<uint32_t>> left_by;  // boot id -> targets
  for (const v1::WorkerTargets& targets : facts_) {
    for (int i = 0; i < targets.targets_size(); ++i) {
      const v1::TargetFacts& seen = targets.targets(i);
      const bool unsure = seen.has_manifest() && seen.manifest().state() != v1::Manifest::KEPT &&
                          seen.owner() == v1::TargetFacts::OUT_OF_SIGHT;
      if (!unsure) continue;
      for (const std::string& place : {seen.manifest().boot_id(), seen.manifest().coordinator_boot_id()}) {
        if (!place.empty()) left_by[BootOf(place)].insert(NumberOfSeen(targets, i));
      }
    }
  }
  if (left_by.empty()) return absl::OkStatus();
  std::vector<std::set<uint32_t>> asked(cluster_.members().size());
  std::set<uint32_t> clients;  // one worker of each
  for (const Member& member : cluster_.members()) {
    const auto left = left_by.find(member.facts.boot_id());
    if (member.lost || left == left_by.end() || !clients.insert(member.client).second) continue;
    for (const uint32_t target : left->second) {
      if (SeenOf(facts_[member.number], target) == nullptr) asked[member.number].insert(target);
    }
  }
  return cluster_.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        if (asked[member.number].empty()) return std::nullopt;
        v1::WorkerRequest request;
        for (const uint32_t target : asked[member.number]) {
          *request.mutable_inspect()->add_targets() = plan_.targets(static_cast<int>(target));
        }
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        RecordSeen(member, asked[member.number], received.event.inspected());
      },
      PatienceForPaths());
}

void DataKeeper::AddUnmet(const Member& member, const std::set<uint32_t>& asked, const v1::Demands& demands,
                           const ReceivedEvent& received) {
  const v1::Inspected& seen = received.event.inspected();
  const auto note = [&](const absl::Status& status) {
    if (!status.ok()) unmet_[member.number].push_back(status);
  };
  if (static_cast<size_t>(seen.targets_size()) != asked.size()) {
    note(absl::InternalError(
        absl::StrCat(member.Name(), " did not report on every path: ", received.event.problem().message())));
  }
  note(CheckExistingFiles(plan_, member, seen.existing_files()));
  for (const absl::Status& unmet : UnmetBy(member, seen)) note(unmet);
  note(CheckRemountsHoldTargets(member, plan_, demands, facts_[member.number]));
}

absl::Status DataKeeper::Decide(bool force, std::span<const uint64_t> earlier_runs) {
  CountUsers();
  IOBENCH_ASSIGN_OR_RETURN(
      decision_, DecideAboutData(plan_, layout_, cluster_.members(), facts_, manifest_, force, earlier_runs));
  for (const std::string& note : decision_.notes) LogWarning(note);
  return absl::OkStatus();
}

absl::Status DataKeeper::Claim() {
  if (!decision_.uses_files) return absl::OkStatus();
  for (const auto& [key, worker] : Claimers(layout_, cluster_.members(), facts_)) {
    const v1::TargetFacts& seen = *SeenOf(facts_[worker], key.first);
    claimers_.emplace(key, worker);
    found_[key].set_run_id(seen.manifest().run_id());
    found_[key].set_directory_number(seen.data_directory_number());
  }
  if (decision_.uses_kept_data) {
    claimed_ = true;
    held_ = found_;
    return absl::OkStatus();
  }
  if (decision_.removes_old_data) IOBENCH_RETURN_IF_ERROR(Do(v1::DataStep::REMOVE, OnInterrupt::kReturn));
  claimed_ = true;  // from now on there may be something to remove
  for (const auto& [key, worker] : claimers_) held_[key].set_run_id(manifest_.run_id());
  return Do(v1::DataStep::CLAIM, OnInterrupt::kReturn);
}

void DataKeeper::CountUsers() {
  users_.clear();
  for (const Member& member : cluster_.members()) {
    if (member.lost) continue;
    if (member.facts.pid() == ::getpid() && member.facts.host() == manifest_.created_by()) continue;
    for (const uint32_t target : layout_.TargetsOf(member.number)) {
      ++users_[{target, FilesystemOf(*SeenOf(facts_[member.number], target))}];
    }
  }
}

v1::DataClaim DataKeeper::ClaimFor(const Member& member, uint32_t target) const {
  v1::DataClaim claim;
  const v1::TargetFacts* const seen = SeenOf(facts_[member.number], target);
  if (seen == nullptr) return claim;
  const FilesystemOfTarget place(target, FilesystemOf(*seen));
  const auto held = held_.find(place);
  if (held != held_.end()) claim = held->second;
  claim.clear_users();
  const std::vector<uint32_t>& own = layout_.TargetsOf(member.number);
  const bool is_user = std::find(own.begin(), own.end(), target) != own.end();
  const bool stays = plan_.keep_data() || decision_.uses_kept_data;
  if (!is_user || (stays && FillPercent(plan_) == 0)) return claim;
  const auto users = users_.find(place);
  if (users == users_.end()) return claim;
  claim.set_users(users->second);
  claim.set_only_fill(stays);
  return claim;
}

void DataKeeper::AddTargets(const Member& member, v1::Prepare& prepare) const {
  prepare.set_replaces_traces(part_.MayHaveBegun(prepare.phase_index()));
  const std::vector<uint32_t>& own = layout_.TargetsOf(member.number);
  // Its own are there even if no lane uses them in this phase: the worker leaves its mark there if it is abandoned.
  std::set<uint32_t> used(own.begin(), own.end());
  for (const v1::LanePlan& lane : prepare.lanes()) used.insert(lane.target());
  std::map<uint32_t, uint32_t> index_of;
  for (const uint32_t number : used) {
    if (number >= static_cast<uint32_t>(plan_.targets_size())) continue;  // a plan without files
    index_of[number] = static_cast<uint32_t>(prepare.targets_size());
    *prepare.add_targets() = plan_.targets(static_cast<int>(number));
    prepare.add_target_numbers(number);
    *prepare.add_claims() = ClaimFor(member, number);
  }
  for (v1::LanePlan& lane : *prepare.mutable_lanes()) {
    if (const auto index = index_of.find(lane.target()); index != index_of.end())
      lane.set_target(index->second);
  }
}

absl::Status DataKeeper::RemoveSharedFiles(const std::set<uint32_t>& targets) {
  for (;;) {
    const uint32_t live = cluster_.live_count();
    const absl::Status done = Do(v1::DataStep::REMOVE_SHARED_FILE, OnInterrupt::kReturn, &targets);
    // If the worker that should remove it was lost, another one does.
    const bool was_lost = absl::IsUnavailable(done) && cluster_.live_count() < live;
    if (!was_lost || cluster_.live_count() == 0) return done;
  }
}

absl::Status DataKeeper::Finish(AtEnd at_end, const DataLedger& ledger) {
  if (!claimed_) return absl::OkStatus();
  ledger.Describe(manifest_);
  const bool keep = at_end == AtEnd::kKeep;
  const v1::DataStep::Action action = keep ? v1::DataStep::MARK_KEPT : v1::DataStep::REMOVE;
  const auto actors = Claimers(layout_, cluster_.members(), facts_, avoided_);
  absl::Status done = Do(action, OnInterrupt::kGoOn);
  // The fault may be one client's alone, so others try too.
  if (!done.ok() && !cluster_.interrupted() &&
      Claimers(layout_, cluster_.members(), facts_, avoided_) != actors) {
    done = Do(action, OnInterrupt::kGoOn);
  }
  const std::string left = WhereLeft();
  if (keep || left.empty()) return done;
  const absl::Status why =
      done.ok() ? absl::UnavailableError("every client that could remove the data was lost") : done;
  absl::Status told(why.code(), absl::StrCat(why.message(), "; data may still be at ", left));
  why.ForEachPayload(
      [&told](absl::string_view type, const absl::Cord& payload) { told.SetPayload(type, payload); });
  return told;
}

// Lists the claimed places where the last step has not been performed.
std::string DataKeeper::WhereLeft() const {
  std::vector<std::string> places;
  for (const auto& [key, worker] : claimers_) {
    if (done_.contains(key)) continue;
    const v1::Target& target = plan_.targets(static_cast<int>(key.first));
    places.push_back(absl::StrCat(DataAt(cluster_.members()[worker], target),
                                  ": remove them with `cluster-iobench clean ", ShellWord(target.path()),
                                  "`"));
  }
  return absl::StrJoin(places, "; ");
}

std::string DataKeeper::WhereKept() const {
  std::vector<std::string> places;
  for (const auto& [key, worker] : Claimers(layout_, cluster_.members(), facts_)) {
    const v1::Target& target = plan_.targets(static_cast<int>(key.first));
    places.push_back(absl::StrCat(DataAt(cluster_.members()[worker], target),
                                  ", which `cluster-iobench clean ", ShellWord(target.path()), "` removes"));
  }
  return absl::StrJoin(places, "; ");
}

absl::Status DataKeeper::Do(v1::DataStep::Action action, OnInterrupt on_interrupt,
                            const std::set<uint32_t>* targets) {
  std::map<uint32_t, std::vector<FilesystemOfTarget>> places_of_worker;
  for (const auto& [key, worker] : Claimers(layout_, cluster_.members(), facts_, avoided_)) {
    if (targets == nullptr || targets->contains(key.first)) places_of_worker[worker].push_back(key);
  }
  // Before the claim, the data there is what Inspect found.
  const bool of_found = held_.empty() || action == v1::DataStep::CLAIM;
  done_.clear();
  absl::Status first_problem;
  std::set<uint32_t> answered;
  const absl::Status status = cluster_.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        const auto mine = places_of_worker.find(member.number);
        if (mine == places_of_worker.end()) return std::nullopt;
        v1::WorkerRequest request;
        v1::DataStep& step = *request.mutable_data_step();
        step.set_action(action);
        *step.mutable_manifest() = manifest_;
        if (plan_.has_stripe()) *step.mutable_stripe() = plan_.stripe();
        for (const FilesystemOfTarget& place : mine->second) {
          *step.add_targets() = plan_.targets(static_cast<int>(place.first));
          *step.add_claims() = of_found ? found_[place] : held_[place];
        }
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        answered.insert(member.number);
        const absl::Status answer = ToStatus(received.event.problem());
        first_problem.Update(Annotate(answer, member.facts.host()));
        if (!answer.ok()) avoided_.insert(member.number);
        RecordDone(places_of_worker[member.number], answer, received.event.data_step_done(), action);
        for (const std::string& file : received.event.data_step_done().foreign_files()) {
          LogWarning(absl::StrCat(member.facts.host(), ": ", file, " is not ours and was left alone"));
        }
      },
      {.interruptible = on_interrupt == OnInterrupt::kReturn,
       .quick_work = action == v1::DataStep::CLAIM ? "claim its data directories" : nullptr,
       .stall_after_ns = on_interrupt == OnInterrupt::kGoOn ? StallAtEndNs() : 0,
       .work = action == v1::DataStep::CLAIM       ? "claim its data directories"
               : action == v1::DataStep::MARK_KEPT ? "mark its data as kept"
                                                   : "remove data"});
  IOBENCH_RETURN_IF_ERROR(status);
  for (const auto& [worker, places] : places_of_worker) {
    const Member& member = cluster_.members()[worker];
    if (!member.lost || answered.contains(worker)) continue;
    first_problem.Update(absl::UnavailableError(
        absl::StrCat(member.Name(), " was lost before it had finished with the data directory at ",
                     plan_.targets(static_cast<int>(places.front().first)).path())));
  }
  return first_problem;
}

// A user who has interrupted the run must not wait for a file system that hangs.
int64_t DataKeeper::StallAtEndNs() const {
  if (!cluster_.interrupted()) return 0;
  const bool something_hangs =
      cluster_.left_unanswered() || cluster_.live_count() < cluster_.members().size();
  return something_hangs ? kHangsAtEndNs : kSlowAtEndNs;
}

// Records a worker's answer for its file systems.
void DataKeeper::RecordDone(std::span<const FilesystemOfTarget> places, const absl::Status& answer,
                          const v1::DataStepDone& done, v1::DataStep::Action action) {
  for (int i = 0; i < static_cast<int>(places.size()); ++i) {
    const FilesystemOfTarget& place = places[static_cast<size_t>(i)];
    // Data held by another run need not be removed by this one.
    const bool is_anothers = i < done.held_by_another_size() && done.held_by_another(i);
    if (answer.ok() || is_anothers) done_.insert(place);
    if (action != v1::DataStep::CLAIM || i >= done.claims_size()) continue;
    if (done.claims(i).run_id() != 0) held_[place] = done.claims(i);
  }
}

}  // namespace iobench
