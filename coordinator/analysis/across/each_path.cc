#include "coordinator/analysis/across/each_path.h"

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/text/mark_codes.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/statistics/median.h"
#include "coordinator/analysis/statistics/rate_ratio.h"

namespace iobench {
namespace {

// The measurements of a row, by path.
struct PathSamples {
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

void FillCells(const PathSamples& samples, v1::EachPathRow& row) {
  const std::vector<double>& first = samples.rates.front();
  const double first_rate = MedianOf(first);
  for (const std::vector<double>& rates : samples.rates) {
    v1::EachPathCell& cell = *row.add_cells();
    cell.set_rate(MedianOf(rates));
    cell.set_of_first(cell.rate() / first_rate);
    if (&rates == &first) continue;
    const std::optional<RateRatio> ratio = RatioOfRates(rates, first);
    if (!ratio.has_value()) continue;
    cell.set_ratio(ratio->ratio);
    cell.set_low(ratio->low);
    cell.set_high(ratio->high);
    cell.set_verdict(ratio->low > 1 ? "better" : ratio->high < 1 ? "worse" : "not shown");
  }
}

}  // namespace

void UpdateEachPath(v1::RunReport& report) {
  report.clear_each_path();
  const v1::Plan& plan = report.run().plan();
  const std::vector<uint32_t> targets = OnlyTargets(plan);
  if (targets.size() < 2 || static_cast<int>(targets.back()) >= plan.targets_size()) return;
  v1::EachPathReport table;
  std::map<uint32_t, int> column_of_target;
  for (const uint32_t target : targets) {
    column_of_target.emplace(target, table.paths_size());
    table.add_paths(plan.targets(static_cast<int>(target)).path());
  }
  std::vector<PathSamples> samples;
  // Equal phases, such as those of `-i 1 -i 1`, are distinguished by their order.
  std::map<std::pair<std::string, size_t>, size_t> row_of;
  std::map<std::pair<std::string, uint32_t>, size_t> times;
  std::vector<std::pair<size_t, size_t>> cell_of_phase;  // row and column
  for (const v1::Phase& phase : plan.phases()) {
    if (phase.only_target() == 0) return;
    const int column = column_of_target[phase.only_target() - 1];
    const std::string rest = WithoutTarget(phase);
    const auto [row, is_new] =
        row_of.try_emplace({rest, times[{rest, phase.only_target()}]++}, samples.size());
    if (is_new) {
      samples.push_back({.name = NameWithoutTarget(phase, table.paths(column)), .rates = {}});
      samples.back().rates.resize(targets.size());
    }
    cell_of_phase.emplace_back(row->second, column);
  }
  for (const v1::PhaseReport& phase : report.phases()) {
    const auto [row, column] = cell_of_phase[phase.index() % cell_of_phase.size()];
    samples[row].in_ops = phase.headline_in_ops();
    for (const v1::Mark& mark : phase.marks()) {
      if (mark.code() == mark_code::kSharedTransport) table.set_doubt(mark.text());
    }
    const double rate = HeadlineRate(phase);
    if (phase.not_whole().empty() && std::isfinite(rate)) samples[row].rates[column].push_back(rate);
  }
  for (const PathSamples& of_row : samples) {
    v1::EachPathRow& row = *table.add_rows();
    row.set_phase(of_row.name);
    row.set_in_ops(of_row.in_ops);
    FillCells(of_row, row);
  }
  *report.mutable_each_path() = std::move(table);
}

}  // namespace iobench
