#include "worker/data_directory/remove_files.h"

#include <cerrno>

#include "common/status_util.h"
#include "common/text/utf8.h"
#include "worker/data_directory/claimed_data.h"
#include "worker/data_directory/data_names.h"
#include "worker/metadata/tree_keeper.h"

namespace iobench {

static constexpr size_t kMaxForeignNames = 10;

void AddForeign(CleanReport& report, const Directory& data, std::string_view name) {
  if (report.foreign_files.size() < kMaxForeignNames) {
    report.foreign_files.push_back(data.PathOf(AsUtf8(name)));
  }
}

// Trees are created by metadata operations, which need a mounted file system; without a mount they are left to a client
// that has one.
static absl::Status RemoveTreeFrom(const Directory& data, const std::string& name, CleanReport& report) {
  if (data.fd() < 0) {
    AddForeign(report, data, name);
    return absl::OkStatus();
  }
  std::vector<std::string> foreign;
  auto removed = RemoveTree(data.fd(), data.path(), name, kMaxForeignNames, foreign);
  for (const std::string& each : foreign) AddForeign(report, data, each);
  if (removed.ok()) report.removed_files += *removed;
  if (!absl::IsFailedPrecondition(removed.status())) return removed.status();
  AddForeign(report, data, name);  // something else has that name
  return absl::OkStatus();
}

absl::Status RemoveFiles(const Directory& data, const v1::Manifest& manifest, Temporaries temporaries,
                         CleanReport& report) {
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesUnlessRemoved(data));
  absl::Status first_error;
  for (const std::string& name : names) {
    if (name == kManifestName || IsSillyName(name)) continue;
    if (IsTemporaryName(name) && temporaries == Temporaries::kLeave) continue;
    if (HasTree(manifest, name)) {
      first_error.Update(RemoveTreeFrom(data, name, report));
      continue;
    }
    const auto facts = data.Look(name);
    if (absl::IsNotFound(facts.status())) continue;  // removed since it was listed
    if (ErrnoOf(facts.status()) == ESTALE) return facts.status();
    if (!facts.ok()) {  // whether it is ours is unknown
      first_error.Update(facts.status());
      continue;
    }
    const bool is_data = HasDataFile(manifest, name);
    const bool ours = (is_data || IsTemporaryName(name)) && facts->kind == NodeKind::kFile;
    if (!ours) {
      AddForeign(report, data, name);
      continue;
    }
    const absl::Status removed = data.Remove(name);
    if (removed.ok() && is_data) ++report.removed_files;
    first_error.Update(UnlessNotFound(removed));
  }
  return first_error;
}

absl::Status RemoveFillFiles(const Directory& data, const v1::Manifest& manifest) {
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, data.Names());
  for (const std::string& name : names) {
    if (!(IsFillFile(name) || IsLeftMark(name)) || !HasDataFile(manifest, name)) continue;
    IOBENCH_RETURN_IF_ERROR(UnlessNotFound(data.Remove(name)));
  }
  return absl::OkStatus();
}

}  // namespace iobench
