// shared_transport: paths that are compared send over the same connections.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"
#include "common/text/mark_codes.h"
#include "coordinator/analysis/marks/marks.h"

namespace iobench {
namespace {

size_t CommonConnections(const v1::TargetFacts& a, const v1::TargetFacts& b) {
  const std::set<std::string> of_a(a.connections().begin(), a.connections().end());
  return static_cast<size_t>(std::count_if(b.connections().begin(), b.connections().end(),
                                           [&](const std::string& name) { return of_a.contains(name); }));
}

}  // namespace

std::optional<v1::Mark> TransportMark(const PhaseView& view) {
  const uint32_t only_target = view.phase.phase().only_target();
  if (only_target == 0) return std::nullopt;
  const v1::Plan& plan = view.run.plan();
  for (size_t client = 0; client < view.roster.client_count(); ++client) {
    const std::vector<uint32_t>& workers = view.roster.WorkersOf(client);
    const v1::TargetFacts* const own = SeenOf(view.run, workers, only_target - 1);
    if (own == nullptr) continue;
    for (const uint32_t other : OnlyTargets(plan)) {
      const v1::TargetFacts* const seen = SeenOf(view.run, workers, other);
      // Directories of one mount share its connections on purpose.
      if (other == only_target - 1 || seen == nullptr || seen->mount_point() == own->mount_point()) continue;
      const size_t common = CommonConnections(*own, *seen);
      if (common == 0) continue;
      return MakeMark(
          mark_code::kSharedTransport, view.roster.NameOf(client), static_cast<double>(common), 0,
          absl::StrCat("the mounts of the paths that are compared send over the same ",
                       common == 1 ? "connection" : absl::StrCat(common, " connections"),
                       " to their server, so options of the connection (nconnect, proto) are those of the mount that was "
                       "there first"));
    }
  }
  return std::nullopt;
}

}  // namespace iobench
