#include "coordinator/plan/check/client_side_check.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/model/phase_check.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"

namespace iobench {
namespace {

absl::Status CheckClientSteps(const v1::Plan& plan, const v1::Phase& phase) {
  for (const v1::Step& step : phase.before()) {
    if (step.has_eat_memory() && (step.eat_memory().percent() < 1 || step.eat_memory().percent() > 95)) {
      return absl::InvalidArgumentError(absl::StrCat("phase ", phase.name(), ": eat_memory ",
                                                     step.eat_memory().percent(), " is not 1 to 95 percent"));
    }
    if (step.has_fill() && (step.fill().percent() < 1 || step.fill().percent() > 99)) {
      return absl::InvalidArgumentError(
          absl::StrCat("phase ", phase.name(), ": fill ", step.fill().percent(), " is not 1 to 99 percent"));
    }
    if (step.has_fill() && !UsesFiles(plan)) {
      return absl::InvalidArgumentError(
          "--fill (fill) writes into the run's data directory, and this run has none, because it creates no files: leave "
          "it out");
    }
    if (!step.has_remount() || step.remount().mount_point().starts_with('/')) continue;
    return absl::InvalidArgumentError(absl::StrCat("phase ", phase.name(), ": -U \"",
                                                   step.remount().mount_point(),
                                                   "\" is not the absolute path of a mount point"));
  }
  return absl::OkStatus();
}

absl::Status CheckStripe(const v1::Plan& plan) {
  constexpr int32_t kMaxTargets = 2000;  // LOV_MAX_STRIPE_COUNT
  constexpr uint64_t kUnitBytes = 64 << 10;
  if (!plan.has_stripe()) return absl::OkStatus();
  const v1::Stripe& stripe = plan.stripe();
  if (stripe.count() < -1 || stripe.count() > kMaxTargets) {
    return absl::InvalidArgumentError(absl::StrCat("--stripe (stripe.count) over ", stripe.count(),
                                                   " OSTs: give 1 to ", kMaxTargets,
                                                   ", 0 for the file system's default or -1 for all"));
  }
  if (stripe.bytes() % kUnitBytes != 0 || stripe.bytes() >= uint64_t{1} << 32) {
    return absl::InvalidArgumentError(absl::StrCat("--stripe (stripe.bytes) of ", stripe.bytes(),
                                                   " bytes is not a multiple of 64k below 4g"));
  }
  const bool mounted =
      std::all_of(plan.targets().begin(), plan.targets().end(),
                  [](const v1::Target& target) { return target.path().find("://") == std::string::npos; });
  if (!UsesFiles(plan) || !mounted) {
    return absl::InvalidArgumentError(
        "--stripe (stripe) only applies to files created on Lustre, and this run creates none: leave it out");
  }
  return absl::OkStatus();
}

absl::Status CheckTraceOf(const v1::Plan& plan, const v1::Phase& phase, const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  if (spec == nullptr) return absl::OkStatus();  // refused before
  return Annotate(CheckTrace(*spec, ShapeOf(plan, phase).files, plan.data(), operation.trace()),
                  absl::StrCat("phase ", phase.name()));
}

}  // namespace

absl::Status CheckClientSide(const v1::Plan& plan) {
  IOBENCH_RETURN_IF_ERROR(CheckStripe(plan));
  std::map<std::string, const v1::Phase*> writers;  // by trace file
  for (const v1::Phase& phase : plan.phases()) {
    IOBENCH_RETURN_IF_ERROR(CheckClientSteps(plan, phase));
    for (const v1::Assignment& assignment : phase.assignments()) {
      IOBENCH_RETURN_IF_ERROR(CheckTraceOf(plan, phase, assignment.operation()));
      const std::string& file = assignment.operation().trace().write_file();
      if (file.empty()) continue;
      if (plan.soak_s() > 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "-X ", file, " cannot be combined with --soak: each round would write the same trace"));
      }
      if (plan.repetitions() > 1) {
        return absl::InvalidArgumentError(absl::StrCat(
            "-X ", file, " cannot be combined with --repeat: each repetition would write the same trace"));
      }
      const v1::Phase* const writer = writers.emplace(file, &phase).first->second;
      if (writer == &phase) continue;  // its assignments are lanes of different workers
      return absl::InvalidArgumentError(absl::StrCat("phases ", writer->name(), " and ", phase.name(),
                                                     " would both write the trace ", file,
                                                     ": choose one operation, such as --op write -X ", file));
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
