// Which sizes, record sizes and numbers of lanes a run goes through. Pure arithmetic.
#ifndef COORDINATOR_SWEEP_H_
#define COORDINATOR_SWEEP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/option.h"

namespace iobench {

struct SweepCell {
  uint32_t lanes = 0;  // per worker
  uint64_t bytes = 0;  // per lane; with -+k of all lanes together
  uint64_t record_bytes = 0;

  friend bool operator==(const SweepCell&, const SweepCell&) = default;
};

struct Sweep {
  std::vector<SweepCell> cells;  // lanes outermost, records innermost; at least one
  bool several_lanes = false, several_sizes = false, several_records = false;

  uint32_t most_lanes() const;
};

// From -s, -r, -t, -l, -u, and -a with -n -g -y -q -z -+x. Sizes and records ascend and come once, in whatever order
// they were given; lanes come as they were given. IOzone's automatic mode: sizes and records double from their smallest
// as long as they are not over their largest, a record is never larger than its file, and where nobody chose sizes or
// records, sizes over 16 MiB leave records under 64 KiB out (-z: they do not).
// InvalidArgument: limits that leave nothing, a record that fits no size.
absl::StatusOr<Sweep> SweepOf(const GivenOptions& given, uint32_t default_lanes);

}  // namespace iobench

#endif  // COORDINATOR_SWEEP_H_
