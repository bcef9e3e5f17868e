#include "coordinator/analysis/score.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/model/operation.h"
#include "common/not_a_number.h"
#include "common/text/number_words.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr char kNoteBegin[] = "score ";

// Returns the phase of the first repetition. Null: it is missing; the phases after it keep their numbers.
const v1::PhaseReport* ReportOfPhase(const v1::RunReport& report, int index) {
  const auto found =
      std::find_if(report.phases().begin(), report.phases().end(), [index](const v1::PhaseReport& phase) {
        return phase.repetition() == 0 && phase.index() == static_cast<uint32_t>(index);
      });
  return found == report.phases().end() ? nullptr : &*found;
}

bool WritesOrCreates(const v1::Phase& planned) {
  return std::any_of(
      planned.assignments().begin(), planned.assignments().end(), [](const v1::Assignment& assignment) {
        const auto spec = FindOperation(assignment.operation().name());
        return spec.ok() && ((*spec)->writes() || (*spec)->kinds.Has(OpKind::kCreate));
      });
}

// The figures of one kind of phases.
struct Figures {
  uint32_t count = 0;
  double log_sum = 0;

  void Add(double figure) {
    ++count;
    log_sum += figure > 0 && std::isfinite(figure) ? std::log(figure) : kNaN;
  }
  double GeometricMean() const { return std::exp(log_sum / count); }
};

// Why the score is not valid.
struct Problems {
  std::vector<std::string> all, too_short;

  void InspectFilesystem(const v1::Phase& planned, const v1::PhaseReport& phase, double figure) {
    if (!phase.not_whole().empty()) all.push_back(absl::StrCat(planned.name(), ": ", phase.not_whole()));
    if (!(figure > 0)) all.push_back(absl::StrCat(planned.name(), " has no figure"));
    if (phase.has_found_items() && phase.found_items() == 0)
      all.push_back(absl::StrCat(planned.name(), " found nothing"));
    if (WritesOrCreates(planned) && phase.duration_s() < kMinScoredWriteSeconds)
      too_short.push_back(absl::StrCat(planned.name(), " (", FormatSeconds(phase.duration_s()), ")"));
  }
  std::vector<std::string> Take() {
    if (!too_short.empty()) {
      all.push_back(absl::StrCat("shorter than the ", kMinScoredWriteSeconds,
                                 " s that the IO500 needs of phases that write or create: ",
                                 absl::StrJoin(too_short, ", ")));
    }
    return std::move(all);
  }
};

}  // namespace

std::optional<v1::ScoreReport> ScoreOf(const v1::RunReport& report) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  const v1::Plan& plan = report.run().plan();
  Figures bandwidth, metadata;
  Problems problems;
  for (int i = 0; i < plan.phases_size(); ++i) {
    const v1::Phase& planned = plan.phases(i);
    if (planned.score() == v1::SCORE_NONE) continue;
    const bool is_metadata = planned.score() == v1::SCORE_METADATA;
    const v1::PhaseReport* const phase = ReportOfPhase(report, i);
    double figure = kNaN;
    if (phase != nullptr) {
      const v1::Headline& headline = phase->headline();
      figure = is_metadata ? headline.ops_per_s() / 1e3 : headline.bytes_per_s() / kGiB;
      problems.InspectFilesystem(planned, *phase, figure);
    } else if (report.run().finished()) {
      problems.all.push_back(absl::StrCat(planned.name(), " is missing"));
    } else {
      return std::nullopt;
    }
    (is_metadata ? metadata : bandwidth).Add(figure);
  }
  if (bandwidth.count == 0 || metadata.count == 0) return std::nullopt;
  v1::ScoreReport score;
  score.set_bandwidth_phases(bandwidth.count);
  score.set_metadata_phases(metadata.count);
  score.set_bandwidth_gib_per_s(bandwidth.GeometricMean());
  score.set_metadata_kops_per_s(metadata.GeometricMean());
  score.set_value(std::sqrt(score.bandwidth_gib_per_s() * score.metadata_kops_per_s()));
  for (std::string& problem : problems.Take()) score.add_problems(std::move(problem));
  score.set_valid(score.problems().empty());
  return score;
}

void UpdateScore(v1::RunReport& report) {
  const std::optional<v1::ScoreReport> score = ScoreOf(report);
  if (!score.has_value()) return;
  *report.mutable_score() = *score;
  std::string note = "score none";
  if (std::isfinite(score->value())) {
    note = absl::StrFormat("%s%s%s = sqrt(%s GiB/s x %s kIOPS): the geometric means of %d bandwidth phases "
                           "and of %d metadata phases",
                           kNoteBegin, FormatSignificant(score->value(), 4), score->valid() ? "" : " [INVALID]",
                           FormatSignificant(score->bandwidth_gib_per_s(), 4),
                           FormatSignificant(score->metadata_kops_per_s(), 4), score->bandwidth_phases(), score->metadata_phases());
  }
  if (!score->valid()) absl::StrAppend(&note, "; INVALID: ", absl::StrJoin(score->problems(), "; "));
  for (std::string& known : *report.mutable_notes()) {
    if (!absl::StartsWith(known, kNoteBegin)) continue;
    known = note;
    return;
  }
  report.add_notes(note);
}

}  // namespace iobench
