// The goals of a run, stated before it starts: "write>=900MiB/s", "random-read:p99<=10ms" (--require). The plan check
// and the analysis both read criteria here.
#ifndef COMMON_MODEL_CRITERION_H_
#define COMMON_MODEL_CRITERION_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/model/op.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

struct Criterion {
  enum class Figure {
    kBytesPerSecond,  // the headline
    kOpsPerSecond,    // the headline
    kMean,            // of latency, as are those up to kMax, in us
    kP50,
    kP90,
    kP95,
    kP99,
    kP99_9,
    kP99_99,
    kMax,
    kJain,   // fairness of the lanes, 0 to 1
    kCov,    // coefficient of variation of the lanes' rates
    kMarks,  // how many kinds of marks the phase has
  };
  enum class Bound { kMin, kMax };

  std::string phases;  // name of a phase, or of the operation of phases (OperationNames); "*": all
  std::optional<OpKind> call = std::nullopt;  // the figure is one of this flush call; unset: of the ops
  Figure figure = Figure::kBytesPerSecond;
  Bound bound = Bound::kMin;
  double limit = 0;  // in UnitOf(figure); inclusive: a figure that equals it meets the criterion
};

// Reads PHASE[:FIGURE]>=VALUE, PHASE[:FIGURE]<=VALUE or PHASE:marks=none. Without FIGURE, the figure is the headline;
// FIGURE without PHASE is one of all phases ("*"). A latency after the name of a flush call is one of that call:
// PHASE:fsync:p99<=10ms, or fsync:p99<=10ms in all phases with that call.
// The value has a unit: B/s, KiB/s … TiB/s (powers of 1024), kB/s … TB/s (powers of 1000), ops/s, kops/s, Mops/s; us,
// ms, s for latency; none for jain and cov. InvalidArgument: the text has another form; the message shows the syntax.
absl::StatusOr<Criterion> ParseCriterion(const std::string& text);

// Returns "B/s", "ops/s", "us", "marks", or "" for a plain number.
const char* UnitOf(Criterion::Figure figure);

// Returns true if the criterion applies to the phase, by its name or its operation. All figures are of the whole phase,
// so a phase with different operations does not match one of them alone. A criterion in bytes/s for all
// phases ("*") leaves out metadata operations, which have no such figure. Phases of a single client (--per-client), of
// servers (--server-path) or beside a load (--background) match only by name; the load itself never matches. A
// criterion on a flush call for all phases leaves out those that do not make it.
bool AppliesTo(const Criterion& criterion, const v1::Phase& phase);
// Returns true if the criterion does not apply because it names an operation that is only a part of the phase.
bool NamesPart(const Criterion& criterion, const v1::Phase& phase);

}  // namespace iobench

#endif  // COMMON_MODEL_CRITERION_H_
