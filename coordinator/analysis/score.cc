#include "coordinator/analysis/score.h"

#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"

namespace iobench {

std::optional<Score> ScoreOf(const v1::RunReport& report) {
  const v1::Plan& plan = report.run().plan();
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  Score score;
  double bandwidth_log = 0, metadata_log = 0;
  for (int i = 0; i < plan.phases_size(); ++i) {
    const v1::Score kind = plan.phases(i).score();
    if (kind == v1::SCORE_NONE) continue;
    if (i >= report.phases_size() || report.phases(i).interrupted()) return std::nullopt;
    const v1::Headline& headline = report.phases(i).headline();
    const bool is_metadata = kind == v1::SCORE_METADATA;
    const double figure = is_metadata ? headline.ops_per_s() / 1e3 : headline.bytes_per_s() / kGiB;
    if (!(figure > 0) || !std::isfinite(figure)) return std::nullopt;
    if (report.phases(i).has_found_items() && report.phases(i).found_items() == 0) return std::nullopt;
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
