#include "coordinator/options/patience.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/text/units.h"

namespace iobench {

absl::StatusOr<Patience> PatienceFrom(std::optional<double> lost_after_s, std::optional<double> lease_s) {
  Patience patience;
  patience.lost_after_s = lost_after_s.value_or(std::min(kUsualPatienceS, lease_s.value_or(kUsualPatienceS)));
  patience.lease_s = lease_s.value_or(std::max(kUsualPatienceS, patience.lost_after_s));
  if (patience.lease_s >= patience.lost_after_s) return patience;
  return absl::InvalidArgumentError(absl::StrCat(
      "--lease ", FormatSeconds(patience.lease_s), " is shorter than --lost-after ",
      FormatSeconds(patience.lost_after_s),
      ": a worker without network would leave while the coordinator still waits for it; raise --lease, or lower "
      "--lost-after"));
}

}  // namespace iobench
