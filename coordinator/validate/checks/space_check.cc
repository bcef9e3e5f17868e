// The check of free space: what the clients' statfs says before the other checks write. If a call then fails for want of
// space, this check answers for it (coordinator/preflight/cause.h).
#include <algorithm>
#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/preflight/cause.h"
#include "coordinator/validate/checks/checks.h"

namespace iobench {
namespace {

// What the quick set may need: 2,000 names, and files of some MiB.
constexpr uint64_t kFewBytes = 32_MiB, kFewItems = 5'000;

}  // namespace

absl::Status CheckSpace(CheckContext& context, Outcome& outcome) {
  const v1::TargetFacts* fullest = nullptr;
  for (const uint32_t worker : context.one_of_each) {
    const v1::TargetFacts& seen = context.SeenBy(worker);
    if (seen.space().total_bytes() == 0 && seen.space().total_items() == 0) continue;
    if (fullest == nullptr || seen.space().available_bytes() < fullest->space().available_bytes())
      fullest = &seen;
  }
  if (fullest == nullptr && context.peers.empty()) {
    outcome.Skip("needs a client that can use the directory");
    return absl::OkStatus();
  }
  if (fullest == nullptr) {
    outcome.Pass("the file system does not tell what is free, and nothing was refused");
    return absl::OkStatus();
  }
  const v1::Space& space = fullest->space();
  const Cause& cause = *CauseOf(ENOSPC);
  const bool tells_items = space.total_items() > 0, tells_bytes = space.total_bytes() > 0;
  if (tells_bytes) outcome.Figure("available_bytes", static_cast<double>(space.available_bytes()));
  if (tells_items) outcome.Figure("available_inodes", static_cast<double>(space.available_items()));
  const bool few_bytes = tells_bytes && space.available_bytes() < kFewBytes;
  const bool few_items = tells_items && space.available_items() < kFewItems;
  if (few_bytes || few_items) {
    outcome.Warn(absl::StrCat("only ", FreeText(space)), AdviceOn(cause, *fullest));
  } else {
    outcome.Pass(FreeText(space));
  }
  return absl::OkStatus();
}

}  // namespace iobench
