#include "worker/data_directory/orphaned_data.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "common/status_util.h"
#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/data_names.h"
#include "worker/data_directory/data_removal.h"

namespace iobench {

absl::Status LeaveOrphanedData(const std::string& path, const v1::DataClaim& claim, uint32_t lane) {
  if (claim.users() == 0 || claim.run_id() == 0) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const DataDirectoryLook look, InspectData(path));
  if (!look.manifest || look.manifest->run_id() != claim.run_id()) return absl::OkStatus();
  // The run has just kept them, unless it uses what an earlier one kept.
  if (look.manifest->state() == v1::Manifest::KEPT && !claim.only_fill()) return absl::OkStatus();
  const bool replaced =
      claim.directory_number() != 0 && look.number != 0 && look.number != claim.directory_number();
  if (replaced) return absl::OkStatus();
  auto data = OpenDataDirectory(path);
  if (absl::IsNotFound(data.status())) return absl::OkStatus();  // the run continues, and has removed them
  IOBENCH_RETURN_IF_ERROR(data.status());
  const absl::Status marked = (*data)->OpenFile(LeftMarkName(lane), OpenFor::kWritingNew).status();
  if (absl::IsNotFound(marked)) return absl::OkStatus();  // the same, just now
  if (!marked.ok() && !absl::IsAlreadyExists(marked)) return marked;
  // Our own mark has changed the directory, so an NFS client asks the server for its names again.
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, (*data)->Names());
  // Another process is removing the data, and may have missed our mark, which is then removed with the empty directory.
  if (std::find(names.begin(), names.end(), kManifestName) == names.end()) {
    data->reset();
    const absl::Status removed = RemoveSeenData(path, {}).status();
    return IsHeldByAnother(removed) ? absl::OkStatus() : removed;
  }
  const auto left =
      std::count_if(names.begin(), names.end(), [](const std::string& name) { return IsLeftMark(name); });
  if (left < static_cast<int64_t>(claim.users())) return absl::OkStatus();
  data->reset();
  return claim.only_fill() ? RemoveFill(path, claim) : RemoveData(path, claim).status();
}

absl::Status LeaveOrphanedData(const v1::Prepare& prepare) {
  absl::Status first_problem;
  if (prepare.lanes().empty()) return first_problem;
  for (int i = 0; i < std::min(prepare.targets_size(), prepare.claims_size()); ++i) {
    first_problem.Update(
        LeaveOrphanedData(prepare.targets(i).path(), prepare.claims(i), prepare.lanes(0).lane()));
  }
  return first_problem;
}

}  // namespace iobench
