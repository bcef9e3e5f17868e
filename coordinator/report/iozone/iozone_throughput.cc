#include "coordinator/report/iozone/iozone_throughput.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/display_text.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/report/iozone/iozone_figures.h"
#include "coordinator/report/iozone/iozone_tests.h"

namespace iobench {
namespace {

// IOzone would run phases of one group one after the other without a new heading.
using Group = std::tuple<uint32_t, std::string, uint64_t, uint64_t>;
Group GroupOf(const v1::PhaseReport& phase) {
  return {phase.repetition(), phase.target(), phase.bytes_per_lane(), phase.record_bytes()};
}

// Figures of throughput mode have no time per op.
IozoneUnit RateUnitOf(const v1::IozoneOutput& output, const v1::PhaseReport& phase) {
  const bool ops = output.ops_per_s() || phase.headline_in_ops();
  return ops ? IozoneUnit::kOps : IozoneUnit::kKilobytes;
}

// "%2d initial writers \t"
std::string SubjectOf(const v1::PhaseReport& phase, size_t lanes, bool of_parent) {
  const size_t number = IozoneTestNumber(phase.operation());
  if (number == IozoneTests().size())
    return absl::StrFormat("%2d %s lanes \t", lanes, Printable(phase.title()));
  const IozoneTest& test = IozoneTests()[number];
  std::string subject = test.subject;
  if (const std::string& how = phase.first_pass().headline(); !how.empty()) {
    subject = absl::StrCat(Printable(phase.title()), " lanes \t");
  }
  return absl::StrCat(test.wide_count ? absl::StrFormat("%2d", lanes) : absl::StrCat(lanes), " ", subject, of_parent ? test.parent_tabs : "");
}

std::string ChildLine(const IozoneChild& child, const char* unit, const char* rate_unit, bool cpu) {
  std::string line = absl::StrFormat("\tChild[%d] xfer count = %s %s, Throughput = %s %s", child.lane,
                                     FigureText(child.xfer), unit, FigureText(child.rate), rate_unit);
  if (cpu) {
    absl::StrAppendFormat(&line, ", wall=%6.3f, cpu=%6.3f, %%=%6.2f", child.cpu.wall_s, child.cpu.cpu_s, child.cpu.percent);
  }
  return line + '\n';
}

std::string NotCounted(const v1::PhaseReport& phase) {
  if (phase.not_whole().empty()) return "";
  return absl::StrCat("\tNot counted: workers lost ", phase.workers_lost(), ", lanes failed ",
                      phase.lanes_failed(), ", lanes that sat out ", phase.lanes_sat_out(),
                      phase.interrupted() ? "; interrupted" : "", "\n");
}

std::string HeadingOf(const v1::RunReport& report, const v1::PhaseReport& phase, size_t lanes) {
  std::string heading;
  if (!phase.target().empty()) absl::StrAppend(&heading, "\n\tPath: ", Printable(phase.target()));
  if (report.run().plan().repetitions() > 1) {
    absl::StrAppend(&heading, "\n\tRepetition ", phase.repetition() + 1, " of ",
                    report.run().plan().repetitions());
  }
  const v1::IozoneOutput& output = report.run().iozone();
  absl::StrAppend(&heading, "\n\tThroughput test with ", lanes, " ", ChildWord(output, lanes > 1), "\n");
  if (phase.metadata()) return heading;
  return absl::StrCat(heading, "\tEach ", ChildWord(output), " writes a ", KilobytesText(FileBytesPerLane(phase)),
                      " kByte file in ", KilobytesText(phase.record_bytes()), " kByte records\n");
}

// The rows of one block of -R.
struct LanesRow {
  std::string operation, label;
  std::vector<const v1::PhaseReport*> phases;  // by column; null: not run with that number of lanes
};

class LanesBlock {
 public:
  void Add(const v1::PhaseReport& phase) {
    const size_t lanes = ChildrenOf(phase, IozoneUnit::kOps).size();
    const auto known = std::find(lanes_.begin(), lanes_.end(), lanes);
    const auto column = static_cast<size_t>(known - lanes_.begin());
    if (known == lanes_.end()) lanes_.push_back(lanes);
    for (LanesRow& row : rows_) {
      if (row.operation != phase.operation()) continue;
      if (row.phases.size() <= column) row.phases.resize(column + 1);
      if (row.phases[column] != nullptr) continue;
      row.phases[column] = &phase;
      return;
    }
    rows_.push_back({phase.operation(), IozoneLabel(phase), {}});
    rows_.back().phases.resize(column + 1);
    rows_.back().phases[column] = &phase;
  }
  bool empty() const { return rows_.empty(); }

  std::string Text(absl::FunctionRef<double(const v1::PhaseReport&)> figure_of) const {
    std::string text;
    for (const LanesRow& row : rows_) {
      absl::StrAppendFormat(&text, "\"%15s \"", Printable(row.label));
      for (size_t column = 0; column < lanes_.size(); ++column) {
        const v1::PhaseReport* const phase = column < row.phases.size() ? row.phases[column] : nullptr;
        absl::StrAppend(&text, " ", FigureText(phase == nullptr ? 0 : figure_of(*phase)), " ");
      }
      text += "\n\n";
    }
    return text;
  }

 private:
  std::vector<size_t> lanes_;
  std::vector<LanesRow> rows_;
};

std::string ExcelTitle(const char* what, const v1::RunReport& report, const v1::PhaseReport& first,
                       bool several_sizes, const std::string& unit) {
  std::string title =
      absl::StrCat("\n\"", what, " report Y-axis is type of test X-axis is number of ",
                   ChildWord(report.run().iozone(), true), "\"\n",
                   "\"Record size = ", KilobytesText(first.record_bytes()), " kBytes \"\n");
  if (several_sizes)
    absl::StrAppend(&title, "\"File size = ", KilobytesText(first.bytes_per_lane()), " kBytes \"\n");
  if (report.run().plan().repetitions() > 1) {
    absl::StrAppend(&title, "\"Repetition ", first.repetition() + 1, " of ",
                    report.run().plan().repetitions(), "\"\n");
  }
  if (!first.target().empty()) absl::StrAppend(&title, "\"Path: ", Printable(first.target()), "\"\n");
  return absl::StrCat(title, "\"Output is in ", unit, "\"\n\n");
}

}  // namespace

std::string ThroughputText(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const v1::IozoneOutput& output = report.run().iozone();
  const IozoneUnit unit = RateUnitOf(output, phase);
  const char* const amount = unit == IozoneUnit::kOps ? "ops" : "kB";
  const char* const rate = unit == IozoneUnit::kOps ? "ops/sec" : "kB/sec";
  const char* const of_child = ChildWord(output);
  const std::vector<IozoneChild> children = ChildrenOf(phase, unit);
  const ThroughputFigures figures = ThroughputOf(phase, unit);
  std::string text =
      absl::StrCat("\n\tChildren see throughput for ", SubjectOf(phase, children.size(), false), "= ",
                   FigureText(figures.children), " ", rate, "\n\tParent sees throughput for ",
                   SubjectOf(phase, children.size(), true), "= ", FigureText(figures.parent), " ", rate,
                   "\n\tMin throughput per ", of_child, " \t\t\t= ", FigureText(figures.min), " ", rate,
                   " \n\tMax throughput per ", of_child, " \t\t\t= ", FigureText(figures.max), " ", rate,
                   "\n\tAvg throughput per ", of_child, " \t\t\t= ", FigureText(figures.avg), " ", rate,
                   "\n\tMin xfer \t\t\t\t\t= ", FigureText(figures.min_xfer), " ", amount, "\n");
  if (output.us_per_op()) {
    absl::StrAppend(&text, "\tAvg microseconds per op \t\t\t= ", FigureText(phase.latency_us().mean()),
                    " microseconds\n");
  }
  if (output.cpu()) {
    const IozoneCpu cpu = IozoneCpuOf(phase);
    absl::StrAppendFormat(
        &text, "\tCPU %s: Wall time %8.3f    CPU time %8.3f    CPU utilization %6.2f %%\n\n",
        phase.operation() == "write" ? "Utilization" : "utilization", cpu.wall_s, cpu.cpu_s, cpu.percent);
  }
  if (output.children()) {
    for (const IozoneChild& child : children) text += ChildLine(child, amount, rate, output.cpu());
  }
  return text + NotCounted(phase);
}

std::string ThroughputsText(const v1::RunReport& report) {
  std::string text;
  Group group;
  size_t last_lanes = SIZE_MAX;
  for (const v1::PhaseReport& phase : report.phases()) {
    const size_t lanes = ChildrenOf(phase, IozoneUnit::kOps).size();
    // The first heading follows the banner without an empty line.
    if (last_lanes == SIZE_MAX || group != GroupOf(phase) || last_lanes != lanes)
      text += HeadingOf(report, phase, lanes).substr(text.empty() ? 1 : 0);
    group = GroupOf(phase);
    last_lanes = lanes;
    if (report.run().transport() != "local") text += "\n\tTest running:";
    text += ThroughputText(report, phase);
  }
  return text;
}

std::string ThroughputExcelText(const v1::RunReport& report) {
  const v1::IozoneOutput& output = report.run().iozone();
  std::vector<std::pair<const v1::PhaseReport*, LanesBlock>> blocks;  // with their first phases
  bool several_sizes = false;
  for (const v1::PhaseReport& phase : report.phases()) {
    if (phase.headline_in_ops() && !output.ops_per_s()) continue;
    const auto same = [&](const auto& block) { return GroupOf(*block.first) == GroupOf(phase); };
    auto block = std::find_if(blocks.begin(), blocks.end(), same);
    if (block == blocks.end()) {
      several_sizes |= !blocks.empty() && blocks.front().first->bytes_per_lane() != phase.bytes_per_lane();
      blocks.emplace_back(&phase, LanesBlock());
      block = blocks.end() - 1;
    }
    block->second.Add(phase);
  }
  std::string text;
  for (const auto& [first, block] : blocks) {
    text += ExcelTitle("Throughput", report, *first, several_sizes,
                       output.ops_per_s() ? "ops/sec" : "kBytes/sec");
    text += block.Text([&](const v1::PhaseReport& phase) {
      return ThroughputOf(phase, RateUnitOf(output, phase)).children;
    });
  }
  if (!output.cpu()) return text;
  for (const auto& [first, block] : blocks) {
    text += ExcelTitle("CPU utilization", report, *first, several_sizes, "CPU%");
    text += block.Text([](const v1::PhaseReport& phase) { return IozoneCpuOf(phase).percent; });
  }
  return text;
}

}  // namespace iobench
