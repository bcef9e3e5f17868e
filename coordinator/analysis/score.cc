#include "coordinator/analysis/score.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "coordinator/analysis/marks/marks.h"

namespace iobench {
namespace {

// Returns the phase of the first repetition. Null: it is missing; the phases after it keep their numbers.
const v1::PhaseReport* ReportOfPhase(const v1::RunReport& report, int index) {
  const auto found =
      std::find_if(report.phases().begin(), report.phases().end(), [index](const v1::PhaseReport& phase) {
        return phase.repetition() == 0 && phase.index() == static_cast<uint32_t>(index);
      });
  return found == report.phases().end() ? nullptr : &*found;
}

}  // namespace

std::optional<Score> ScoreOf(const v1::RunReport& report) {
  const v1::Plan& plan = report.run().plan();
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  Score score;
  double bandwidth_log = 0, metadata_log = 0;
  for (int i = 0; i < plan.phases_size(); ++i) {
    const v1::Score kind = plan.phases(i).score();
    if (kind == v1::SCORE_NONE) continue;
    const v1::PhaseReport* const phase = ReportOfPhase(report, i);
    if (phase == nullptr || phase->interrupted() || HasMark(*phase, "partial")) return std::nullopt;
    const v1::Headline& headline = phase->headline();
    const bool is_metadata = kind == v1::SCORE_METADATA;
    const double figure = is_metadata ? headline.ops_per_s() / 1e3 : headline.bytes_per_s() / kGiB;
    if (!(figure > 0) || !std::isfinite(figure)) return std::nullopt;
    if (phase->has_found_items() && phase->found_items() == 0) return std::nullopt;
    (is_metadata ? metadata_log : bandwidth_log) += std::log(figure);
    ++(is_metadata ? score.metadata_phases : score.bandwidth_phases);
  }
  if (score.bandwidth_phases == 0 || score.metadata_phases == 0) return std::nullopt;
  score.bandwidth_gib_per_s = std::exp(bandwidth_log / static_cast<double>(score.bandwidth_phases));
  score.metadata_kops_per_s = std::exp(metadata_log / static_cast<double>(score.metadata_phases));
  score.total = std::sqrt(score.bandwidth_gib_per_s * score.metadata_kops_per_s);
  return score;
}

void NoteScore(v1::RunReport& report) {
  constexpr char kBegin[] = "score ";
  const std::optional<Score> score = ScoreOf(report);
  if (!score) return;
  for (const std::string& note : report.notes()) {
    if (absl::StartsWith(note, kBegin)) return;
  }
  report.add_notes(
      absl::StrFormat("%s%.4g = sqrt(%.4g GiB/s x %.4g kIOPS): the geometric means of %d bandwidth phases "
                      "and of %d metadata phases",
                      kBegin, score->total, score->bandwidth_gib_per_s, score->metadata_kops_per_s,
                      score->bandwidth_phases, score->metadata_phases));
}

}  // namespace iobench
