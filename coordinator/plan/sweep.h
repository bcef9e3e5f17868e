// Determines the sizes, record sizes and numbers of lanes of a run. Pure arithmetic.
#ifndef COORDINATOR_PLAN_SWEEP_H_
#define COORDINATOR_PLAN_SWEEP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/text/record_share_text.h"
#include "coordinator/options/option.h"

namespace iobench {

struct SweepCell {
  uint32_t lanes = 0;  // per worker
  uint64_t bytes = 0;  // per lane; with -+k, total of all lanes
  uint64_t record_bytes = 0;

  friend bool operator==(const SweepCell&, const SweepCell&) = default;
};

// The record sizes that are given with shares (-r 4k:60,64k:40); empty: those of -r have none, so each is a phase.
// InvalidArgument: only some have a share.
absl::StatusOr<std::vector<RecordShare>> RecordSharesOf(const GivenOptions& given);

struct Sweep {
  std::vector<SweepCell> cells;  // lanes vary slowest, records fastest; at least one cell
  // The sizes of each op and their shares, if there are several (-r 4k:60,64k:40); the cells have the largest.
  std::vector<RecordShare> shares;
  bool several_lanes = false, several_sizes = false, several_records = false;

  uint32_t max_lanes() const;
};

// Evaluates -s, -r, -t, -l, -u, and -a with -n -g -y -q -z -+x. Sizes and records are sorted in ascending order without
// duplicates; lanes stay in the given order. As in IOzone's automatic mode, sizes and records double from their min. to
// their max., and a record is never larger than its file. If the user selected neither sizes nor records, sizes above
// 16 MiB omit records below 64 KiB, unless -z is given. InvalidArgument: the limits leave nothing, or a record fits no
// size.
absl::StatusOr<Sweep> SweepOf(const GivenOptions& given, uint32_t default_lanes);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_SWEEP_H_
