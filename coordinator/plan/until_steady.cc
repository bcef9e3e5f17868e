// The plan of a run in rounds until its figures are steady (--until steady).
#include <cmath>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "coordinator/plan/rounds.h"

namespace iobench {
namespace {

constexpr uint32_t kMinWindow = 3;      // of two rounds, range and slope are the same
constexpr uint32_t kMostRounds = 10'000;  // each of which is saved

absl::Status CheckPercent(const char* option, double percent) {
  if (percent > 0 && std::isfinite(percent)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(option, " ", percent, ": use a percentage above 0"));
}

absl::Status CannotGoWith(std::string_view what, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("--until steady (until_steady) cannot be combined with ",
                                                 std::string(what), ": ", std::string(why)));
}

}  // namespace

void CompleteSteady(v1::Steady& steady) {
  if (!steady.has_window_rounds()) steady.set_window_rounds(5);
  if (!steady.has_range_percent()) steady.set_range_percent(20);
  if (!steady.has_slope_percent()) steady.set_slope_percent(10);
  if (!steady.has_max_rounds()) steady.set_max_rounds(25);
}

absl::Status CheckUntilSteady(const v1::Plan& plan) {
  if (!plan.has_until_steady()) return absl::OkStatus();
  const v1::Steady& steady = plan.until_steady();
  if (steady.window_rounds() < kMinWindow) {
    return absl::InvalidArgumentError(absl::StrCat("--steady-window (until_steady.window_rounds) ", steady.window_rounds(),
                                                   ": use ", kMinWindow, " rounds or more"));
  }
  if (steady.max_rounds() < steady.window_rounds()) {
    return absl::InvalidArgumentError(absl::StrCat("--max-rounds (until_steady.max_rounds) ", steady.max_rounds(),
                                                   " is less than the window of ", steady.window_rounds(),
                                                   " rounds (--steady-window)"));
  }
  if (steady.max_rounds() > kMostRounds) {
    return absl::InvalidArgumentError(absl::StrCat("--max-rounds (until_steady.max_rounds) ", steady.max_rounds(),
                                                   " is over ", kMostRounds));
  }
  for (const absl::Status& status : {CheckPercent("--steady-range (until_steady.range_percent)", steady.range_percent()),
                                     CheckPercent("--steady-slope (until_steady.slope_percent)", steady.slope_percent())}) {
    if (!status.ok()) return status;
  }
  if (plan.soak_s() > 0) return CannotGoWith("--soak (soak_s)", "a soak says how long the rounds go on");
  if (plan.repetitions() > 1)
    return CannotGoWith("--repeat (repetitions)", "--max-rounds says how often everything is repeated at most");
  for (const v1::Phase& phase : plan.phases()) {
    if (phase.background() || phase.has_interference() || phase.has_alone() || plan.per_client())
      return CannotGoWith("--background or --per-client", "compare clients in a run of its own");
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (!assignment.operation().trace().write_file().empty() || assignment.operation().trace().offset_latency())
        return CannotGoWith("-X or -Q", "each round would write the same files");
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
