#include "worker/data_directory/data_steps.h"

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/data_ownership.h"
#include "worker/data_directory/data_removal.h"
#include "worker/storage/lustre.h"

namespace iobench {
namespace {

constexpr int kMaxForeignFiles = 10;

}  // namespace

absl::Status DataSteps::Do(uint64_t run_id, const v1::DataStep& step, v1::DataStepDone& done) {
  absl::Status first_problem;
  for (int i = 0; i < step.targets_size(); ++i) {
    v1::DataClaim claim = i < step.claims_size() ? step.claims(i) : v1::DataClaim();
    const absl::StatusOr<CleanReport> report = DoAt(step.targets(i).path(), run_id, step, claim);
    *done.add_claims() = report.ok() ? claim : v1::DataClaim();
    done.add_held_by_another(IsHeldByAnother(report.status()));
    if (!report.ok()) {
      first_problem.Update(report.status());
      continue;
    }
    for (const std::string& file : report->foreign_files) {
      if (done.foreign_files_size() < kMaxForeignFiles) done.add_foreign_files(file);
    }
  }
  return first_problem;
}

// `claim`: the data to act on; after a CLAIM, the data that was claimed.
absl::StatusOr<CleanReport> DataSteps::DoAt(const std::string& path, uint64_t run_id,
                                            const v1::DataStep& step, v1::DataClaim& claim) {
  const Run run(run_id, path);
  switch (step.action()) {
    case v1::DataStep::CLAIM: {
      auto claimed = ClaimData(path, step.manifest(), claim);
      if (absl::IsFailedPrecondition(claimed.status())) refused_claims_.insert(run);
      if (!claimed.ok()) return claimed.status();
      refused_claims_.erase(run);
      claims_[run] = claimed->second;
      if (step.has_stripe()) {
        IOBENCH_RETURN_IF_ERROR(SetStripe(absl::StrCat(path, "/", kDataDirectoryName), step.stripe()));
      }
      claim = claimed->second;
      return claimed->first;
    }
    case v1::DataStep::MARK_KEPT:
      if (refused_claims_.contains(run)) return CleanReport();
      IOBENCH_RETURN_IF_ERROR(MarkDataKept(path, step.manifest(), claim));
      claims_.erase(run);
      return CleanReport();
    case v1::DataStep::REMOVE:
      // After a refused claim, the data there belongs to another run. Before a claim, there was nothing when the run
      // looked; CLAIM will decide about anything there now.
      if (refused_claims_.contains(run) || claim.run_id() == 0) return CleanReport();
      // Kept data, or data of a run that has crashed, or appeared to have crashed when its data was inspected.
      if (const uint64_t own_run = step.manifest().run_id(); claim.run_id() != own_run) {
        IOBENCH_RETURN_IF_ERROR(CheckAbandoned(path, own_run, IfOutOfSight::kAccept));
        IOBENCH_RETURN_IF_ERROR(CheckTreesCanGo(path, claim));
      }
      return RemoveAt(run, claim);
    case v1::DataStep::REMOVE_SHARED_FILE:
      return RemoveSharedFile(path, claim);
    default:
      return absl::UnimplementedError("this worker does not know this data step");
  }
}

absl::StatusOr<CleanReport> DataSteps::RemoveAt(const Run& run, const v1::DataClaim& claim) {
  IOBENCH_ASSIGN_OR_RETURN(CleanReport report, RemoveData(run.second, claim));
  const auto own = claims_.find(run);
  if (own == claims_.end() || own->second.run_id() != claim.run_id()) return report;
  // The manifest stays with what is foreign.
  if (!report.foreign_files.empty()) DisownData(run.second, claim).IgnoreError();
  claims_.erase(own);
  return report;
}

absl::Status DataSteps::Disown() {
  absl::Status first_problem;
  for (const auto& [run, claim] : claims_) first_problem.Update(DisownData(run.second, claim));
  claims_.clear();
  return first_problem;
}

}  // namespace iobench
