#include "worker/data_steps.h"

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "worker/lustre.h"

namespace iobench {
namespace {

constexpr int kMostForeignFiles = 10;

}  // namespace

absl::Status DataSteps::Do(uint64_t run_id, const v1::DataStep& step, v1::DataStepDone& done) {
  absl::Status first_problem;
  for (const v1::Target& target : step.targets()) {
    const absl::StatusOr<CleanReport> report = DoAt(target.path(), run_id, step);
    if (!report.ok()) {
      first_problem.Update(report.status());
      continue;
    }
    done.set_removed_files(done.removed_files() + report->removed_files);
    for (const std::string& file : report->foreign_files) {
      if (done.foreign_files_size() < kMostForeignFiles) done.add_foreign_files(file);
    }
  }
  return first_problem;
}

// At the run's end its own, before its claim what another one has left.
absl::StatusOr<CleanReport> DataSteps::Remove(const std::string& path, uint64_t own_run, const Claim& claim) {
  // A run that has begun since the targets were looked at.
  IOBENCH_RETURN_IF_ERROR(CheckAbandoned(path, own_run, /*if_out_of_sight=*/true));
  auto report = RemoveData(path);
  if (report.ok() && report->manifest_stays_of_run != 0) {
    left_manifests_[claim] = report->manifest_stays_of_run;
  }
  return report;
}

absl::StatusOr<CleanReport> DataSteps::DoAt(const std::string& path, uint64_t run_id,
                                            const v1::DataStep& step) {
  const Claim claim(run_id, path);
  switch (step.action()) {
    case v1::DataStep::CLAIM: {
      const auto left = left_manifests_.find(claim);
      auto report = ClaimData(path, step.manifest(), left == left_manifests_.end() ? 0 : left->second);
      if (report.ok() && step.has_stripe()) {
        IOBENCH_RETURN_IF_ERROR(SetStripe(absl::StrCat(path, "/", kDataDirectoryName), step.stripe()));
      }
      if (report.ok()) refused_claims_.erase(claim);
      if (absl::IsFailedPrecondition(report.status())) refused_claims_.insert(claim);
      return report;
    }
    case v1::DataStep::MARK_KEPT:
      if (refused_claims_.contains(claim)) return CleanReport();
      IOBENCH_RETURN_IF_ERROR(MarkDataKept(path, step.manifest()));
      return CleanReport();
    case v1::DataStep::REMOVE:
      // The end of a run whose claim was refused: the data there are another's.
      if (refused_claims_.contains(claim)) return CleanReport();
      return Remove(path, step.manifest().run_id(), claim);
    case v1::DataStep::REMOVE_SHARED_FILE:
      return RemoveSharedFile(path);
    default:
      return absl::UnimplementedError("a data step that this worker does not know");
  }
}

}  // namespace iobench
