#include "coordinator/conduct/data/data_decision.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/host_identity.h"
#include "common/model/data_content.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/net/nfs_url.h"
#include "common/roster/filesystem.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "common/text/units.h"
#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/conduct/data/access_check.h"
#include "coordinator/conduct/data/data_ledger.h"
#include "coordinator/conduct/data/sharing_check.h"

namespace iobench {
namespace {

// Data that the user kept, perhaps as evidence, is not replaced silently. The manifest does not say whether it is
// evidence.
std::string ReplacesNote(const std::string& data, const v1::Manifest& kept) {
  const uint64_t bytes = DataBytesOf(kept);
  return absl::StrCat(
      "the data that ", kept.created_by(), " wrote at ", kept.created_at(), " and kept in ", data, " (",
      bytes > 0 ? FormatBytes(static_cast<double>(bytes)) : "trees of metadata operations",
      "), with -w or because a verification failed, are removed for this run, which does not use "
      "them");
}

// Returns "4 workers, now 2; 64 MiB per lane, now 1 GiB": why kept data cannot be used. Empty: it can.
std::string Differences(const v1::Manifest& kept, const v1::Manifest& ours) {
  std::vector<std::string> differences;
  const auto compare = [&](const char* what, const auto& was, const auto& is) {
    if (was != is) differences.push_back(absl::StrCat(what, " ", was, ", now ", is));
  };
  compare("workers", kept.workers(), ours.workers());
  compare("lanes per worker", kept.lanes_per_worker(), ours.lanes_per_worker());
  compare("targets", kept.targets(), ours.targets());
  // Of files that grew, a part is enough.
  if (kept.grown_bytes_per_lane() == 0 || ours.files().bytes_per_lane() > kept.grown_bytes_per_lane())
    compare("bytes per lane", KeptBytesPerLane(kept), ours.files().bytes_per_lane());
  compare("files per lane", kept.files().files_per_lane(), ours.files().files_per_lane());
  compare("shared file", std::string(kept.files().shared_file() ? "yes" : "no"),
          std::string(ours.files().shared_file() ? "yes" : "no"));
  compare("interleaved", std::string(kept.files().interleaved() ? "yes" : "no"),
          std::string(ours.files().interleaved() ? "yes" : "no"));
  compare("blocks of bytes", kept.files().block_bytes(), ours.files().block_bytes());
  if (HasSectors(ours.data())) {
    compare("written with --verify", std::string(HasSectors(kept.data()) ? "yes" : "no"), std::string("yes"));
    if (HasSectors(kept.data())) {
      compare("sectors at multiples of bytes", kept.unit_bytes(), ours.unit_bytes());
    }
  }
  if (ChecksPattern(ours.data())) {
    const auto pattern = [](const v1::DataContent& data) {
      return data.kind() == v1::DataContent::PATTERN ? absl::StrCat(data.pattern_byte())
                                                     : std::string("none");
    };
    compare("pattern", pattern(kept.data()), pattern(ours.data()));
  }
  return absl::StrJoin(differences, "; ");
}

// Returns the state of the coordinator of a run that left data, if it ran on this host, where no worker need be.
ProcessState StateOfCoordinator(const v1::Manifest& found) {
  return StateOf({.place = found.coordinator_boot_id(),
                  .pid = found.coordinator_pid(),
                  .start_ticks = found.coordinator_start_ticks()});
}

// A lock passes from lane to lane: a single one waits for others before each turn, in vain unless there are some outside
// this run.
void NoteLoneTurns(const v1::Plan& plan, const Layout& layout, std::vector<std::string>& notes) {
  if (layout.lane_count() > 1) return;
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      const OperationSpec* const spec = SpecOf(assignment.operation());
      if (spec == nullptr || !spec->is_metadata() || MetadataSpecOf(*spec).names != OpNames::kLockFile) continue;
      notes.push_back(absl::StrCat(
          phase.name(), " has one lane, which waits 10 ms for others before each turn: unless others take this lock too, only its "
          "latencies tell anything; use -t 2 or more, or more workers"));
      return;
    }
  }
}

// One decision. The arguments are those of DecideAboutData.
class DataDecider {
 public:
  DataDecider(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
              std::span<const v1::WorkerTargets> facts, const v1::Manifest& ours, bool force,
              std::span<const uint64_t> earlier_runs)
      : plan_(plan),
        layout_(layout),
        members_(members),
        facts_(facts),
        ours_(ours),
        force_(force),
        earlier_runs_(earlier_runs),
        creates_(CreatesData(plan)) {}

  absl::StatusOr<DataDecision> Decide();

 private:
  absl::Status InspectFilesystem(const FilesystemOfTarget& place, const Member& member);
  const std::vector<uint32_t>& WhoSaw(uint32_t target);
  absl::Status CheckTakeOver(const FilesystemOfTarget& place, const Member& claimer, const v1::Target& target,
                             const v1::Manifest& found);
  absl::Status RecordMatching(const std::string& where, const v1::Manifest& found);

  const v1::Plan& plan_;
  const Layout& layout_;
  const std::span<const Member> members_;
  const std::span<const v1::WorkerTargets> facts_;
  const v1::Manifest& ours_;
  const bool force_;
  const std::span<const uint64_t> earlier_runs_;
  const bool creates_;
  DataDecision decision_;
  size_t matching_ = 0;                                // file systems with kept data that fits this run
  std::vector<std::string> if_replaced_;               // notes on the kept data, unless the run uses it
  std::map<uint32_t, std::vector<uint32_t>> who_saw_;  // workers by target; empty until WhoSaw() is called
};

absl::StatusOr<DataDecision> DataDecider::Decide() {
  decision_.uses_files = UsesFiles(plan_);
  NoteLoneTurns(plan_, layout_, decision_.notes);
  if (decision_.uses_files) IOBENCH_RETURN_IF_ERROR(CheckAccess(plan_, layout_, members_, facts_));
  if (decision_.uses_files || plan_.files().existing_files_size() > 0) {
    IOBENCH_RETURN_IF_ERROR(CheckSharing(plan_, layout_, members_, facts_, force_, decision_.notes));
  }
  if (!decision_.uses_files) return decision_;

  const auto claimers = Claimers(layout_, members_, facts_);
  for (const auto& [place, worker] : claimers) IOBENCH_RETURN_IF_ERROR(InspectFilesystem(place, members_[worker]));
  decision_.uses_kept_data = !creates_ && !claimers.empty() && matching_ == claimers.size();
  if (decision_.uses_kept_data) {
    const uint64_t kept_bytes = KeptBytesPerLane(decision_.kept);
    if (const uint64_t used = plan_.files().bytes_per_lane(); used > 0 && used < kept_bytes) {
      const uint64_t whole_mib = kept_bytes >> 20;
      decision_.notes.push_back(absl::StrCat(
          "the kept files grew to ", FormatBytes(static_cast<double>(kept_bytes)), " per lane, of which this run uses ",
          FormatBytes(static_cast<double>(used)), ": use -s ", whole_mib, "m for all"));
    }
    if (!plan_.has_stripe()) return decision_;
    return absl::FailedPreconditionError(
        "--stripe (stripe) only applies to new files, and this run uses the kept ones (-w): leave it out, or write "
        "new data with -i 0");
  }
  if (!creates_ && matching_ > 0 && !force_) {
    return absl::FailedPreconditionError(
        absl::StrCat("kept data (-w) exist on only ", matching_, " of ", claimers.size(),
                     " file systems that this run uses: write new data with -i 0, or use --force"));
  }
  if (creates_ && matching_ > 0) decision_.removes_old_data = true;
  decision_.notes.insert(decision_.notes.end(), if_replaced_.begin(), if_replaced_.end());
  IOBENCH_ASSIGN_OR_RETURN(
      decision_.bytes_needed,
      CheckSpace(plan_, layout_, members_, facts_, force_ ? IfTooSmall::kTryAnyway : IfTooSmall::kRefuse));
  return decision_;
}

// Decides about the data directory on one file system, as the member that claims it sees it.
absl::Status DataDecider::InspectFilesystem(const FilesystemOfTarget& place, const Member& member) {
  const v1::Target& target = plan_.targets(static_cast<int>(place.first));
  const v1::TargetFacts& seen = *SeenOf(facts_[member.number], place.first);
  if (seen.foreign_data()) {
    return absl::FailedPreconditionError(
        absl::StrCat(DataAt(member, target),
                     " is not ours (no readable manifest): move it away or choose another --path"));
  }
  if (!seen.has_manifest()) return absl::OkStatus();
  const v1::Manifest& found = seen.manifest();
  if (found.state() != v1::Manifest::KEPT) {
    decision_.removes_old_data = true;
    return CheckTakeOver(place, member, target, found);
  }
  if_replaced_.push_back(ReplacesNote(DataAt(member, target), found));
  const std::string differences = Differences(found, ours_);
  if (differences.empty()) return RecordMatching(TargetAt(member, target), found);
  if (!creates_ && !force_) {
    return absl::FailedPreconditionError(absl::StrCat(
        TargetAt(member, target), ": the data kept there (-w) do not match this run: ", differences,
        "; use the same options as the run that wrote them, write new data with -i 0, or use --force"));
  }
  decision_.removes_old_data = true;
  return absl::OkStatus();
}

absl::Status DataDecider::RecordMatching(const std::string& where, const v1::Manifest& found) {
  if (++matching_ == 1) decision_.kept = found;
  const v1::Manifest& first = decision_.kept;
  const bool same = found.run_id() == first.run_id() && found.generation_low() == first.generation_low() &&
                    found.generation_high() == first.generation_high();
  if (same || creates_ || !HasSectors(plan_.data())) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(where, ": the data kept there (-w) belong to another run than those on ",
                   "other file systems, and cannot be verified together: write new data with -i 0"));
}

// The workers that were asked about a target: those that use it and those on hosts whose processes matter.
const std::vector<uint32_t>& DataDecider::WhoSaw(uint32_t target) {
  if (who_saw_.empty()) {
    for (const Member& member : members_) {
      const v1::WorkerTargets& seen = facts_[member.number];
      for (int i = 0; i < seen.targets_size(); ++i) who_saw_[NumberOfSeen(seen, i)].push_back(member.number);
    }
  }
  return who_saw_[target];
}

// Checks whether the data of a run that did not end properly may be removed: never if any client, or this host, sees
// its process running.
absl::Status DataDecider::CheckTakeOver(const FilesystemOfTarget& place, const Member& claimer,
                                        const v1::Target& target, const v1::Manifest& found) {
  const std::string data = DataAt(claimer, target);
  const std::string begun = absl::StrCat(found.created_by(), " began at ", found.created_at());
  const auto in_use = [&](const std::string& host, int64_t pid) {
    return absl::FailedPreconditionError(
        absl::StrCat(data, " is in use: the run of ", host, " pid ", pid, ", which ", begun,
                     ", is alive: wait until it ends, or choose another --path"));
  };
  const ProcessState coordinator = StateOfCoordinator(found);
  bool is_gone = coordinator == ProcessState::kGone;
  for (const uint32_t worker : WhoSaw(place.first)) {
    const Member& member = members_[worker];
    const v1::TargetFacts* const seen = SeenOf(facts_[worker], place.first);
    if (FilesystemOf(*seen) != place.second) continue;
    if (seen->manifest().run_id() != found.run_id()) continue;
    is_gone |= seen->owner() == v1::TargetFacts::GONE;
    if (seen->owner() == v1::TargetFacts::ALIVE) return in_use(member.facts.host(), seen->owner_pid());
  }
  if (coordinator == ProcessState::kAlive) return in_use(HostName(), found.coordinator_pid());
  if (std::find(earlier_runs_.begin(), earlier_runs_.end(), found.run_id()) != earlier_runs_.end()) {
    return absl::OkStatus();
  }
  if (force_) {
    if (!is_gone) {
      decision_.notes.push_back(
          absl::StrCat(data, ": removing the data of a run that ", begun,
                       " (--force); whether it is still alive could not be seen from here"));
    }
    return absl::OkStatus();
  }
  if (is_gone) {
    return absl::FailedPreconditionError(
        absl::StrCat(data, " belongs to a run that ", begun,
                     " and that has crashed: remove its data with `cluster-iobench clean ",
                     ShellWord(target.path()), "`, or use --force"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      data, " belongs to a run that ", begun,
      " and that is running or has crashed, which cannot be seen from here: if it crashed, remove its data with "
      "`cluster-iobench clean --force ",
      ShellWord(target.path()), "`, or use --force"));
}

}  // namespace

// Trees are never reused: a run creates its own.
bool CreatesData(const v1::Plan& plan) {
  bool creates = WorksOnTrees(plan);
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments())
      creates |= CreatesFiles(assignment.operation());
  }
  return creates;
}

std::string TargetAt(const Member& member, const v1::Target& target) {
  return absl::StrCat(member.facts.host(), ": ", target.path());
}

std::string DataAt(const Member& member, const v1::Target& target) {
  return absl::StrCat(member.facts.host(), ": ", PathBelow(target.path(), kDataDirectoryName));
}

std::string BootOf(const std::string& place) {
  return place.substr(0, place.find(' '));
}

std::map<FilesystemOfTarget, uint32_t> Claimers(const Layout& layout, std::span<const Member> members,
                                                std::span<const v1::WorkerTargets> facts,
                                                const std::set<uint32_t>& avoided) {
  std::map<FilesystemOfTarget, uint32_t> claimers;
  for (const bool is_last_resort : {false, true}) {
    for (const Member& member : members) {
      if (member.lost || avoided.contains(member.number) != is_last_resort) continue;
      for (const uint32_t target : layout.TargetsOf(member.number)) {
        const FilesystemId filesystem = FilesystemOf(*SeenOf(facts[member.number], target));
        claimers.emplace(FilesystemOfTarget(target, filesystem), member.number);
      }
    }
  }
  return claimers;
}

uint64_t KeptBytesPerLane(const v1::Manifest& manifest) {
  return std::max(manifest.files().bytes_per_lane(), manifest.grown_bytes_per_lane());
}

uint64_t DataBytesOf(const v1::Manifest& manifest) {
  return uint64_t{manifest.workers()} * manifest.lanes_per_worker() * KeptBytesPerLane(manifest) /
         std::max(1u, manifest.targets());
}

absl::StatusOr<DataDecision> DecideAboutData(const v1::Plan& plan, const Layout& layout,
                                             std::span<const Member> members,
                                             std::span<const v1::WorkerTargets> facts,
                                             const v1::Manifest& ours, bool force,
                                             std::span<const uint64_t> earlier_runs) {
  return DataDecider(plan, layout, members, facts, ours, force, earlier_runs).Decide();
}

}  // namespace iobench
