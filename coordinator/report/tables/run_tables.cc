// Tables of what a run found over all its phases.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/units.h"
#include "coordinator/report/tables/fill_tables.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/criterion_text.h"

namespace iobench {
namespace {

using Tone = TableNote::Tone;
using Unit = TableUnit;

std::string ShareText(double share) {
  return std::isfinite(share) ? absl::StrCat(std::llround(100 * share), " %") : "-";
}

std::string RegionOf(const std::string& phase_name, const v1::RunReport& report) {
  const auto& phases = report.phases();
  const auto found = std::find_if(phases.begin(), phases.end(), [&](const v1::PhaseReport& phase) {
    return phase.name() == phase_name && !phase.headline().region().empty();
  });
  return found == phases.end() ? "" : found->headline().region();
}

std::string VictimsText(const v1::InterferenceReport& report) {
  uint32_t others = 0;
  for (const v1::InterferenceRow& row : report.rows()) others = std::max(others, row.others());
  return absl::StrCat(Counted(report.victims(), report.by_worker() ? "worker" : "client"), "; each load by ",
                      others, others == 1 ? " other" : " others",
                      report.by_worker()
                          ? ". All are on one client, so they also share its processors, mount and network"
                          : "");
}

}  // namespace

Table PerClientTable(const v1::RunReport& report) {
  Table table = {
      .columns = {{.id = "client", .title = "client", .left = true, .cut_middle = true},
                  {.id = "unit", .title = "unit", .unit = Unit::kRateUnit, .readers = Readers::kMachines},
                  {.id = "alone", .title = "alone", .unit = Unit::kRate, .choice = UnitChoice::kShared},
                  {.id = "of_others", .title = "of others", .unit = Unit::kShare, .whole = true},
                  {.id = "together", .title = "together", .unit = Unit::kRate, .choice = UnitChoice::kFollows},
                  {.id = "outlier", .title = "outlier", .readers = Readers::kMachines}},
      .parts = {},
      .parts_are = "phase",
      .slowest_by = 2};
  for (const v1::PerClientReport& phase : report.per_client()) {
    const bool in_ops = phase.in_ops();
    TablePart& part = table.parts.emplace_back(TablePart{phase.phase(), {}});
    std::vector<std::string> outliers;
    for (const v1::PerClientRow& row : phase.clients()) {
      part.rows.push_back({row.client(), RateUnit(in_ops), Rate(row.alone(), in_ops),
                           TableCell(row.of_others()).Strong(row.outlier()), Rate(row.together(), in_ops),
                           row.outlier() ? "yes" : "no"});
      if (row.outlier()) outliers.push_back(absl::StrCat(row.client(), " (", ShareText(row.of_others()), ")"));
    }
    part.totals = {{"all", RateUnit(in_ops), Rate(phase.sum_alone(), in_ops), {}, Rate(phase.together(), in_ops), {}}};
    part.notes.push_back({"scaling",
                          absl::StrCat(ShareText(phase.scaling()), " of the sum of each alone; slowest client ",
                                       ShareText(phase.fairness()), " of the mean while all work"),
                          Tone::kPlain});
    if (outliers.empty()) continue;
    part.notes.push_back(
        {"outliers",
         absl::StrCat(absl::StrJoin(outliers, ", "), ": alone, under 70 % of the median of the others"),
         Tone::kError});
  }
  return table;
}

Table InterferenceTable(const v1::RunReport& report) {
  Table table = {
      .columns = {{.id = "load", .title = "load", .left = true},
                  {.id = "unit", .title = "unit", .unit = Unit::kRateUnit, .readers = Readers::kMachines},
                  {.id = "rate", .title = "rate", .unit = Unit::kRate},
                  {.id = "of_undisturbed", .title = "of undisturbed", .unit = Unit::kShare},
                  {.id = "p50_us", .title = "p50", .unit = Unit::kMicroseconds},
                  {.id = "p99_us", .title = "p99", .unit = Unit::kMicroseconds},
                  {.id = "p99_factor", .title = "p99 factor", .unit = Unit::kFactor},
                  {.id = "load_unit", .title = "unit of the load", .unit = Unit::kRateUnit, .readers = Readers::kMachines},
                  {.id = "load_rate", .title = "load itself", .unit = Unit::kRate},
                  {.id = "others", .title = "others", .unit = Unit::kCount, .readers = Readers::kMachines},
                  {.id = "repetitions", .title = "repetitions", .unit = Unit::kCount, .readers = Readers::kMachines}},
      .parts = {},
      .parts_are = "phase"};
  for (const v1::InterferenceReport& phase : report.interference()) {
    TablePart& part = table.parts.emplace_back(TablePart{phase.phase(), {}});
    for (const v1::InterferenceRow& row : phase.rows()) {
      const bool loaded = !row.background().empty(), load_in_ops = row.background_in_ops();
      part.rows.push_back({loaded ? absl::StrCat("beside ", row.background()) : "undisturbed",
                           RateUnit(phase.in_ops()), Rate(row.rate(), phase.in_ops()),
                           CellIf(loaded, row.of_undisturbed()), row.p50_us(), row.p99_us(),
                           CellIf(loaded, row.p99_factor()), CellIf(loaded, RateUnit(load_in_ops)),
                           CellIf(loaded, Rate(row.background_rate(), load_in_ops)), row.others(), row.count()});
    }
    part.notes.push_back({"victims", VictimsText(phase)});
  }
  return table;
}

Table LayersTable(const v1::RunReport& report) {
  Table table = {
      .columns = {{.id = "layer", .title = "layer", .left = true},
                  {.id = "unit", .title = "unit", .unit = Unit::kRateUnit, .readers = Readers::kMachines},
                  {.id = "rate", .title = "rate", .unit = Unit::kRate},
                  {.id = "of_below", .title = "of the layer below", .unit = Unit::kShare},
                  {.id = "reached", .title = "clients reach", .unit = Unit::kShare},
                  {.id = "disk_bytes_per_s", .title = "servers' disks", .unit = Unit::kBytesPerSecond},
                  {.id = "remark", .title = "remark", .readers = Readers::kMachines},
                  {.id = "problem", .title = "why it is not comparable", .readers = Readers::kMachines},
                  {.id = "repetitions", .title = "repetitions", .unit = Unit::kCount, .readers = Readers::kMachines}},
      .parts = {},
      .parts_are = "phase"};
  for (const v1::LayersReport& phase : report.layers()) {
    TablePart& part = table.parts.emplace_back(TablePart{phase.phase(), {}});
    for (const v1::LayerRow& row : phase.rows()) {
      part.rows.push_back({row.layer(), RateUnit(phase.in_ops()), Rate(row.rate(), phase.in_ops()), row.of_below(),
                           row.reached(), CellIf(std::isfinite(row.disk_bytes_per_s()), row.disk_bytes_per_s()),
                           row.remark(), row.problem(), row.count()});
      // What the row cannot say: where the rate comes from, and whether it cannot be compared.
      std::string text = row.remark();
      if (!row.problem().empty())
        absl::StrAppend(&text, text.empty() ? "" : "; ", "not comparable: ", row.problem());
      if (!text.empty()) part.notes.push_back({row.layer(), text});
    }
    part.notes.push_back({"narrowest", phase.narrowest_text(), Tone::kPlain});
    if (part.rows.empty()) continue;
    part.rows.front()[3] = {};  // there is none below
    part.rows.back()[4] = {};   // they are the clients
  }
  return table;
}

Table RepetitionsTable(const v1::RunReport& report) {
  if (report.repetitions().empty()) return {};
  const auto rate = [](const char* id, const char* title, bool if_room = false) {
    return TableColumn{.id = id, .title = title, .unit = Unit::kRate, .if_room = if_room, .choice = UnitChoice::kFollows};
  };
  Table table = {
      .columns = {{.id = "phase", .title = "phase", .console_title = "repeated", .left = true},
                  {.id = "times", .title = "times", .unit = Unit::kCount},
                  {.id = "unit", .title = "unit", .unit = Unit::kRateUnit, .left = true},
                  rate("median", "median"),
                  {.id = "interval", .title = "interval", .unit = Unit::kRate, .left = true, .range = true,
                   .choice = UnitChoice::kShared},
                  {.id = "level_percent", .title = "level", .unit = Unit::kPercent, .if_room = true},
                  rate("mean", "mean", true), rate("min", "min", true), rate("max", "max", true),
                  {.id = "stddev", .title = "standard deviation", .console_title = "stddev", .unit = Unit::kRate,
                   .choice = UnitChoice::kFollows},
                  {.id = "left_out", .title = "left out", .unit = Unit::kCount, .readers = Readers::kNotConsole},
                  {.id = "region", .title = "region", .left = true, .if_room = true, .readers = Readers::kPeople}},
      .parts = {{}}};
  std::vector<std::string> left_out;
  for (const v1::RepetitionReport& each : report.repetitions()) {
    const bool in_ops = each.metadata();
    table.parts[0].rows.push_back({each.name(), each.count(), RateUnit(in_ops), Rate(each.median(), in_ops).Strong(),
                                   RateRange(each.low(), each.high(), in_ops), each.level_percent(),
                                   Rate(each.mean(), in_ops), Rate(each.min(), in_ops), Rate(each.max(), in_ops),
                                   Rate(each.stddev(), in_ops), CellIf(each.partial_count() > 0, each.partial_count()),
                                   RegionOf(each.name(), report)});
    if (each.partial_count() > 0)
      left_out.push_back(absl::StrCat(each.partial_count(), " of ", each.name(), " (not whole)"));
  }
  if (!left_out.empty()) {
    table.parts[0].notes.push_back(
        {"left out", absl::StrJoin(left_out, ", "), Tone::kPlain, /*console_only=*/true});
  }
  return table;
}

Table CriteriaTable(const v1::RunReport& report) {
  if (report.criteria().empty()) return {};
  const bool all_met = std::all_of(report.criteria().begin(), report.criteria().end(),
                                   [](const v1::CriterionReport& each) { return each.met(); });
  Table table = {
      .columns = {{.id = "criterion", .title = "criterion", .left = true},
                  {.id = "measured_text", .title = "measured", .readers = Readers::kPeople},
                  {.id = "measured", .title = "measured", .unit = Unit::kNumber, .readers = Readers::kMachines},
                  {.id = "limit", .title = "limit", .unit = Unit::kNumber, .readers = Readers::kMachines},
                  {.id = "unit", .title = "unit", .readers = Readers::kMachines},
                  {.id = "verdict", .title = "verdict", .left = true},
                  {.id = "phase", .title = "decided by", .left = true, .if_room = true},
                  {.id = "problem", .title = "why it could not be decided", .left = true, .readers = Readers::kNotConsole}},
      .parts = {{}},
      .headline = {"", RunVerdictText(report), all_met ? Tone::kPlain : Tone::kError}};
  for (const v1::CriterionReport& each : report.criteria()) {
    table.parts[0].rows.push_back({each.criterion(), MeasuredText(each), each.measured(), each.limit(), each.unit(),
                                   TableCell(VerdictText(each)).Strong(), each.phase(), each.problem()});
    if (each.problem().empty()) continue;
    table.parts[0].notes.push_back({"undecided",
                                    absl::StrCat(each.criterion(), ": ", each.phase(), each.phase().empty() ? "" : ": ",
                                                 each.problem()),
                                    Tone::kError, /*console_only=*/true});
  }
  return table;
}

Table ScoreTable(const v1::RunReport& report) {
  if (!report.has_score()) return {};
  const v1::ScoreReport& score = report.score();
  Table table = {.columns = {{.id = "score", .title = "score", .unit = Unit::kNumber},
                             {.id = "valid", .title = "valid"},
                             {.id = "bandwidth_gib_per_s", .title = "bandwidth (GiB/s)", .unit = Unit::kNumber},
                             {.id = "metadata_kops_per_s", .title = "metadata (kIOPS)", .unit = Unit::kNumber},
                             {.id = "bandwidth_phases", .title = "bandwidth phases", .unit = Unit::kCount},
                             {.id = "metadata_phases", .title = "metadata phases", .unit = Unit::kCount}},
                 .parts = {{.name = {},
                            .rows = {{TableCell(score.value()).Strong(), score.valid() ? "yes" : "INVALID",
                                      score.bandwidth_gib_per_s(), score.metadata_kops_per_s(),
                                      score.bandwidth_phases(), score.metadata_phases()}}}}};
  for (const std::string& problem : score.problems())
    table.parts[0].notes.push_back({"invalid", problem, Tone::kError});
  return table;
}

}  // namespace iobench
