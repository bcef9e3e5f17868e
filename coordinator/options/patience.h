// How long coordinator and workers wait for each other: --lost-after and --lease, which belong together.
#ifndef COORDINATOR_OPTIONS_PATIENCE_H_
#define COORDINATOR_OPTIONS_PATIENCE_H_

#include <optional>

#include "absl/status/statusor.h"

namespace iobench {

// When a network is back, TCP sends again what it has kept after up to the time that the break lasted: it doubles the
// time between two attempts. So 45 s survive every break of 20 s.
inline constexpr double kUsualPatienceS = 45;

struct Patience {
  double lost_after_s = kUsualPatienceS;  // silence after which the coordinator drops a worker
  double lease_s = kUsualPatienceS;       // silence after which a worker leaves; at least lost_after_s
};

// Fills in what was not given so that the lease is no shorter than the time after which a worker is dropped: a worker
// that leaves earlier is lost although the coordinator would still wait for it. InvalidArgument: both were given, and
// the lease is the shorter one.
absl::StatusOr<Patience> PatienceFrom(std::optional<double> lost_after_s, std::optional<double> lease_s);

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_PATIENCE_H_
