#include "coordinator/preflight/time_estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/phase_check.h"
#include "common/model/phase_files.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr double kShortestPhaseS = 0.1;

// What the parts of a phase without a time limit do, once.
struct Amounts {
  bool by_size = false, by_items = false;
  uint64_t bytes = 0, items = 0;
  std::set<std::string_view> item_words;
};

Amounts AmountsOf(const v1::Plan& plan, const v1::Phase& phase, uint32_t worker_count) {
  Amounts amounts;
  const uint64_t lanes_per_worker = ShapeOf(plan, phase).lanes_per_worker;
  const std::vector<uint32_t> workers = WorkersOfAssignments(phase, worker_count);
  for (int i = 0; i < phase.assignments_size(); ++i) {
    const v1::Operation& operation = phase.assignments(i).operation();
    const uint64_t lanes = workers[static_cast<size_t>(i)] * lanes_per_worker;
    if (MovesNothing(operation) || lanes == 0) continue;
    if (IsMetadata(operation)) {
      amounts.by_items = true;
      amounts.items += lanes * operation.tree().items_per_lane();
      amounts.item_words.insert(ItemsWordOf(operation.name()));
    } else {
      amounts.by_size = true;
      amounts.bytes += lanes * BytesOfLane(plan, phase, operation);
    }
  }
  return amounts;
}

bool MovesAnything(const v1::Phase& phase) {
  return std::any_of(phase.assignments().begin(), phase.assignments().end(),
                     [](const v1::Assignment& each) { return !MovesNothing(each.operation()); });
}

// "2,000 items", "2,000 items and turns".
std::string CountedItems(uint64_t count, const std::set<std::string_view>& words) {
  std::string text = FormatCount(static_cast<double>(count));
  for (const std::string_view word : words)
    absl::StrAppend(&text, word == *words.begin() ? " " : " and ", std::string(word));
  return text;
}

std::string Phases(uint64_t count) {
  return Counted(static_cast<int64_t>(count), "phase");
}

}  // namespace

uint64_t BytesOfLane(const v1::Plan& plan, const v1::Phase& phase, const v1::Operation& operation) {
  const uint64_t bytes = ShapeOf(plan, phase).files.bytes_per_lane(), max_ops = phase.stop().max_ops();
  const double of_ops = static_cast<double>(max_ops) * MeanRecordBytes(operation);
  return max_ops > 0 && of_ops < static_cast<double>(bytes) ? static_cast<uint64_t>(of_ops) : bytes;
}

std::string PartsText(const v1::Plan& plan, const v1::Phase& phase, uint32_t worker_count) {
  const std::string parts = absl::StrCat(phase.assignments_size(), " parts");
  if (phase.stop().time_s() > 0) return absl::StrCat(parts, ", for ", FormatSeconds(phase.stop().time_s()));
  const Amounts amounts = AmountsOf(plan, phase, worker_count);
  if (!amounts.by_size && !amounts.by_items) return absl::StrCat(parts, ", none of which moves anything");
  std::string moved;
  if (amounts.by_size) moved = FormatBytes(static_cast<double>(amounts.bytes));
  if (amounts.by_items) {
    absl::StrAppend(&moved, amounts.by_size ? " and " : "", CountedItems(amounts.items, amounts.item_words));
  }
  return absl::StrCat(parts, ", ", moved, " in all");
}

TimeEstimate EstimateTime(const v1::Plan& plan, uint32_t worker_count, bool has_data) {
  TimeEstimate estimate;
  estimate.untimed = UntimedWorkOf(plan, worker_count, has_data);
  const uint64_t times = MostRepetitions(plan);
  bool all_bounded = true;
  // The estimate of a soak is one round, and only the first of all rounds lacks that rest.
  bool is_first_of_run = plan.soak_s() == 0;
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Step& step : phase.before()) {
      const uint64_t rests = times - (is_first_of_run && step.rest().not_first() ? 1 : 0);
      estimate.timed_s += static_cast<double>(rests) * step.rest().seconds();
    }
    is_first_of_run = false;
    if (phase.stop().time_s() > 0) {
      estimate.timed_s += static_cast<double>(times) * phase.stop().time_s();
      estimate.timed_phases += times;
      continue;
    }
    const Amounts amounts = AmountsOf(plan, phase, worker_count);
    if (!amounts.by_size && !amounts.by_items) continue;
    if (amounts.by_items) estimate.item_phases += times;
    if (amounts.by_size) estimate.sized_phases += times;
    estimate.items += times * amounts.items;
    estimate.item_words.insert(amounts.item_words.begin(), amounts.item_words.end());
    estimate.bytes += times * amounts.bytes;
    all_bounded = all_bounded && phase.stop().deadline_s() > 0 && !phase.stop().wear_out();
    estimate.at_most_s += static_cast<double>(times) * phase.stop().deadline_s();
  }
  if (!all_bounded) estimate.at_most_s = 0;
  return estimate;
}

std::string EstimateText(const TimeEstimate& estimate, double max_duration_s) {
  std::string text;
  const auto line = [&text](const std::string& words) {
    absl::StrAppend(&text, text.empty() ? "time  " : "      ", words, "\n");
  };
  if (estimate.timed_s > 0) {
    line(absl::StrCat(FormatSeconds(estimate.timed_s), " in ", Phases(estimate.timed_phases),
                      " with a time limit, rests included"));
  }
  if (estimate.sized_phases > 0) {
    line(absl::StrCat(
        "unknown for ", Phases(estimate.sized_phases), " by size, which ",
        estimate.sized_phases == 1 ? "moves " : "move ", FormatBytes(static_cast<double>(estimate.bytes)),
        " in all: ", FormatSeconds(static_cast<double>(estimate.bytes) / kAssumedBytesPerSecond),
        " if all clients together reach ", FormatBytesPerSecond(kAssumedBytesPerSecond)));
  }
  if (estimate.item_phases > 0) {
    line(absl::StrCat("unknown for ", Phases(estimate.item_phases), " on ",
                      CountedItems(estimate.items, estimate.item_words), " in all"));
  }
  if (estimate.at_most_s > 0) {
    line(absl::StrCat("at most ", FormatSeconds(estimate.at_most_s), " of that by --deadline"));
  }
  if (max_duration_s > 0) {
    line(absl::StrCat("at most ", FormatSeconds(max_duration_s), " for all phases (--max-duration)"));
  }
  if (text.empty()) line("none: no phase moves anything");
  for (const std::string& untimed : UntimedLines(estimate.untimed)) line(untimed);
  line("creating and removing files comes on top");
  return text;
}

std::string SoakEstimateText(const v1::Plan& plan, uint32_t worker_count) {
  const TimeEstimate round = EstimateTime(plan, worker_count);
  const double apart_s = plan.soak_s() / kMaxSoakRounds;
  double most = kMaxSoakRounds;
  if (round.timed_s > 0) most = std::min(most, std::ceil(plan.soak_s() / round.timed_s));
  std::string text = absl::StrCat("time  ", FormatSeconds(plan.soak_s()),
                                  " in rounds (--soak), of which the last one is completed\n      a round  ");
  if (round.timed_s > 0) {
    absl::StrAppend(&text, FormatSeconds(round.timed_s), " in ", Phases(round.timed_phases),
                    " with a time limit");
  }
  if (round.sized_phases > 0) {
    absl::StrAppend(&text, round.timed_s > 0 ? ", and " : "", FormatBytes(static_cast<double>(round.bytes)),
                    " in ", Phases(round.sized_phases), " by size");
  }
  if (round.item_phases > 0) {
    absl::StrAppend(&text, round.timed_s > 0 || round.sized_phases > 0 ? ", and " : "",
                    CountedItems(round.items, round.item_words), " in ", Phases(round.item_phases));
  }
  for (const std::string& untimed : UntimedLines(round.untimed)) {
    absl::StrAppend(&text, "\n               and in the first round, ", untimed);
  }
  absl::StrAppend(&text, "; creating files comes on top\n      at most ", FormatCount(most),
                  " rounds, each of which is saved; one begins at least ", FormatSeconds(apart_s),
                  " after the other\n");
  return text;
}

std::optional<FittedPhase> FitInto(const v1::Phase& phase, double left_s) {
  if (left_s < kShortestPhaseS || left_s <= phase.stop().warmup_s()) return std::nullopt;
  FittedPhase fitted{.phase = phase, .shortened = false};
  v1::StopRule& stop = *fitted.phase.mutable_stop();
  if (stop.time_s() > 0) {
    fitted.shortened = left_s < stop.time_s();
    if (fitted.shortened && left_s < LeastSecondsOf(phase)) return std::nullopt;
    if (fitted.shortened) stop.set_time_s(left_s);
  } else if (MovesAnything(phase) && (stop.deadline_s() == 0 || left_s < stop.deadline_s())) {
    fitted.shortened = true;
    stop.set_deadline_s(left_s);
  }
  return fitted;
}

}  // namespace iobench
