// What clients may have read or looked up in their own memory, where no counter tells.
#ifndef COORDINATOR_ANALYSIS_MARKS_MAYBE_CACHED_H_
#define COORDINATOR_ANALYSIS_MARKS_MAYBE_CACHED_H_

#include <optional>
#include <span>

#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns maybe_cached for a client's reads that no counter covers, if over 5 % of what it read may be from its memory:
// the files fit into it and the client has just written or read them; or more was read than the files hold. Reads that
// bypass the only memory there is (O_DIRECT where a client keeps nothing but pages) are from elsewhere, and so are those
// that the client's disks and network delivered. `client`: as for CacheMarks.
std::optional<v1::Mark> MaybeCachedReads(const PhaseView& view, const v1::ClientPhaseReport& client,
                                         const ClientPart& part);

// The same for metadata ops that a client could answer from memory, and whose requests no counter shows. `judged`: lanes
// whose requests are counted, which are left out.
std::optional<v1::Mark> MaybeCachedNames(const PhaseView& view, const v1::ClientPhaseReport& client,
                                         const ClientPart& part,
                                         std::span<const AlignedLane* const> judged);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_MAYBE_CACHED_H_
