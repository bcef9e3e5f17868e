#include "coordinator/report/text/target_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/text/mark_codes.h"
#include "coordinator/analysis/statistics/median.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

// The measurements of a row, by target.
struct TargetSamples {
  std::string name;
  bool in_ops = false;
  std::vector<std::vector<double>> rates;
};

// Returns what phases on different targets have in common. Steps differ: there is no rest before the first phase.
std::string WithoutTarget(const v1::Phase& phase) {
  v1::Phase rest = phase;
  rest.clear_name();
  rest.clear_only_target();
  rest.clear_before();
  return MeaningOf(rest);
}

std::string NameWithoutTarget(const v1::Phase& phase, const std::string& path) {
  const std::string ending = absl::StrCat(" on ", path);
  const std::string& name = phase.name();
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name;
}

}  // namespace

std::string TargetRow::RatioText(size_t target) const {
  const double ratio = rates[target] / rates[0];
  return std::isfinite(ratio) ? Percent(100 * ratio) : "-";
}

bool TargetRow::has_verdicts() const {
  return std::any_of(ratios.begin(), ratios.end(), [](const auto& ratio) { return ratio.has_value(); });
}

bool TargetTable::has_verdicts() const {
  return std::any_of(rows.begin(), rows.end(), [](const TargetRow& row) { return row.has_verdicts(); });
}

std::string TargetRow::VerdictText(size_t target) const {
  const std::optional<RateRatio>& ratio = ratios[target];
  if (!ratio.has_value()) return "";
  const char* const verdict = ratio->low > 1 ? "better" : ratio->high < 1 ? "worse" : "not shown";
  return absl::StrFormat("%s (%+.1f %% to %+.1f %%)", verdict, 100 * (ratio->low - 1), 100 * (ratio->high - 1));
}

TargetTable TargetTableOf(const v1::RunReport& report) {
  const v1::Plan& plan = report.run().plan();
  const std::vector<uint32_t> targets = OnlyTargets(plan);
  if (targets.size() < 2 || static_cast<int>(targets.back()) >= plan.targets_size()) return {};
  TargetTable table;
  std::map<uint32_t, size_t> column_of_target;
  for (const uint32_t target : targets) {
    column_of_target.emplace(target, table.paths.size());
    table.paths.push_back(plan.targets(static_cast<int>(target)).path());
  }
  std::vector<TargetSamples> samples;
  // Equal phases, such as those of `-i 1 -i 1`, are distinguished by their order.
  std::map<std::pair<std::string, size_t>, size_t> row_of;
  std::map<std::pair<std::string, uint32_t>, size_t> times;
  std::vector<std::pair<size_t, size_t>> cell_of_phase;  // row and column
  for (const v1::Phase& phase : plan.phases()) {
    if (phase.only_target() == 0) return {};
    const size_t column = column_of_target[phase.only_target() - 1];
    const std::string rest = WithoutTarget(phase);
    const auto [row, is_new] =
        row_of.try_emplace({rest, times[{rest, phase.only_target()}]++}, samples.size());
    if (is_new) {
      samples.push_back({.name = NameWithoutTarget(phase, table.paths[column]), .rates = {}});
      samples.back().rates.resize(targets.size());
    }
    cell_of_phase.emplace_back(row->second, column);
  }
  for (const v1::PhaseReport& phase : report.phases()) {
    const auto [row, column] = cell_of_phase[phase.index() % cell_of_phase.size()];
    samples[row].in_ops = phase.headline_in_ops();
    for (const v1::Mark& mark : phase.marks()) {
      if (mark.code() == mark_code::kSharedTransport) table.doubt = mark.text();
    }
    if (!phase.not_whole().empty()) continue;
    const v1::Headline& headline = phase.headline();
    const double rate = phase.headline_in_ops() ? headline.ops_per_s() : headline.bytes_per_s();
    if (std::isfinite(rate)) samples[row].rates[column].push_back(rate);
  }
  for (TargetSamples& of_row : samples) {
    TargetRow& row = table.rows.emplace_back(TargetRow{std::move(of_row.name), of_row.in_ops, {}, {}});
    for (const std::vector<double>& rates : of_row.rates)
      row.ratios.push_back(&rates == &of_row.rates.front() ? std::nullopt : RatioOfRates(rates, of_row.rates.front()));
    for (std::vector<double>& rates : of_row.rates) row.rates.push_back(MedianOf(std::move(rates)));
  }
  return table;
}

}  // namespace iobench
