#include "coordinator/report/console/console_sweep.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/operation.h"
#include "common/model/plan_targets.h"
#include "common/model/phase_files.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/across/surfaces.h"
#include "coordinator/report/result_files.h"
#include "coordinator/report/text/column_unit.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

constexpr int kMaxPagesOfSweep = 20;
constexpr size_t kMaxLetters = 26;

// A place in the tables.
struct Cell {
  const v1::SurfaceCell* figures = nullptr;  // null: its phases have not run
  bool in_ops = false;
  bool failed = false;     // no repetition has a rate, and one did nothing
  std::set<size_t> marks;  // of the repetitions that the rate counts: indices in Sweep::marks

  std::string Text(const ColumnUnit& unit) const {
    if (!HasRate()) return failed ? "failed" : "-";
    return in_ops ? FormatCount(figures->rate()) : unit.Text(figures->rate());
  }
  // The letters of its marks: "ac".
  std::string Letters(const std::vector<char>& letter_of_mark) const {
    std::string text;
    for (const size_t mark : marks) {
      if (HasRate() && letter_of_mark[mark] != 0) text += letter_of_mark[mark];
    }
    return text;
  }
  bool HasRate() const { return figures != nullptr && figures->count() > 0; }
};

// The measurements by operation and place.
struct Sweep {
  std::vector<std::string> operations;  // in the order of the plan
  std::vector<bool> in_ops;             // for each operation: its figures are ops/s, not KiB/s
  std::set<uint32_t> workers, lanes;
  std::set<uint64_t> sizes, records;
  std::set<std::pair<uint64_t, uint64_t>> shapes;          // size and record
  std::map<std::pair<size_t, SweepPlace>, Cell> cells;          // by index of the operation
  std::vector<std::pair<std::string, std::string>> marks;  // code and text of the first occurrence, in order
  // No operation has two sizes or records at one number of lanes.
  bool by_lanes = true;

  bool by_workers() const { return workers.size() > 1; }
};

size_t NumberIn(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

void AddMarksOf(const v1::PhaseReport& phase, bool counts, Cell& cell, Sweep& sweep) {
  for (const GroupedMark& mark : MarksOf(phase)) {
    auto known = std::find_if(sweep.marks.begin(), sweep.marks.end(),
                              [&mark](const auto& other) { return other.first == mark.code; });
    if (known == sweep.marks.end()) known = sweep.marks.insert(sweep.marks.end(), {mark.code, mark.text});
    if (counts) cell.marks.insert(static_cast<size_t>(known - sweep.marks.begin()));
  }
}

// Returns the figures of the place of each phase, by its index.
std::unordered_map<uint32_t, const v1::SurfaceCell*> CellsOfPhases(const v1::RunReport& report) {
  std::unordered_map<uint32_t, const v1::SurfaceCell*> cells;
  for (const v1::SurfaceReport& surface : report.surfaces()) {
    for (const v1::SurfaceCell& cell : surface.cells()) {
      for (const uint32_t phase : cell.phases()) cells.emplace(phase, &cell);
    }
  }
  return cells;
}

// `only_target`: of the phases; 0: they use all targets.
Sweep SweepOf(const v1::RunReport& report, uint32_t only_target) {
  const v1::Plan& plan = report.run().plan();
  Sweep sweep;
  std::set<std::pair<size_t, uint32_t>> lanes_of_operations;
  for (const v1::Phase& phase : plan.phases()) {
    if (phase.only_target() != only_target) continue;
    const SweepPlace place = PlaceOf(plan, phase);
    sweep.workers.insert(place.workers);
    sweep.lanes.insert(place.lanes);
    sweep.sizes.insert(place.bytes);
    sweep.records.insert(place.record_bytes);
    sweep.shapes.insert({place.bytes, place.record_bytes});
    const size_t operation = NumberIn(sweep.operations, Printable(FirstOperationOf(phase).name()));
    sweep.by_lanes &= lanes_of_operations.insert({operation, place.lanes}).second;
  }
  sweep.in_ops.resize(sweep.operations.size());
  const auto figures_of_phase = CellsOfPhases(report);
  for (const v1::PhaseReport& phase : report.phases()) {
    const v1::Phase& planned = *PlannedPhase(plan, phase);
    if (planned.only_target() != only_target) continue;
    const size_t operation = NumberIn(sweep.operations, Printable(FirstOperationOf(planned).name()));
    sweep.in_ops[operation] = phase.headline_in_ops();
    Cell& cell = sweep.cells[{operation, PlaceOf(plan, planned)}];
    cell.in_ops = phase.headline_in_ops();
    cell.failed |= phase.ops() == 0;
    const auto figures = figures_of_phase.find(phase.index());
    if (figures == figures_of_phase.end()) continue;
    cell.figures = figures->second;
    if (phase.ops() == 0 || !std::isfinite(HeadlineRate(phase))) continue;
    AddMarksOf(phase, phase.not_whole().empty() != cell.figures->not_whole(), cell, sweep);
  }
  for (auto& [place, cell] : sweep.cells) cell.failed &= !cell.HasRate();
  return sweep;
}

using Row = std::vector<std::string>;
using Letters = std::vector<std::vector<char>>;  // by operation and mark; 0: none

// Leaves out rows in which nothing was measured.
void PrintRows(const Row& titles, const std::vector<Row>& rows, ConsolePage& page) {
  std::vector<TextTable::Column> columns;
  for (const std::string& title : titles) columns.push_back({title});
  TextTable table(std::move(columns));
  for (const Row& row : rows) {
    if (std::any_of(row.begin() + 1, row.end(), [](const std::string& cell) { return !cell.empty(); })) table.AddRow(row);
  }
  page.Table(table);
}

const Cell* CellAt(const Sweep& sweep, size_t operation, const SweepPlace& place) {
  const auto found = sweep.cells.find({operation, place});
  return found == sweep.cells.end() ? nullptr : &found->second;
}

// Figures with the letters of their marks behind them, in one unit and so that digits are below digits.
class Figures {
 public:
  explicit Figures(const Letters& letters) : letters_(letters) {}

  // What the table shows, before anything is drawn.
  void Add(const Cell* cell, size_t operation) {
    if (cell == nullptr) return;
    if (cell->HasRate() && !cell->in_ops) rates_.push_back(cell->figures->rate());
    most_letters_ = std::max(most_letters_, cell->Letters(letters_[operation]).size());
  }
  std::string unit() const { return std::string(ColumnUnit::OfBytesPerSecond(rates_).name()); }
  std::string Text(const Cell* cell, size_t operation) const {
    if (cell == nullptr) return "";
    std::string letters = cell->Letters(letters_[operation]);
    letters.resize(most_letters_, ' ');
    return absl::StrCat(cell->Text(ColumnUnit::OfBytesPerSecond(rates_)), most_letters_ > 0 ? " " : "", letters);
  }

 private:
  const Letters& letters_;
  std::vector<double> rates_;
  size_t most_letters_ = 0;
};

// Rows are sizes, columns are records.
void PrintSizes(const Sweep& sweep, size_t operation, uint32_t lanes, const Letters& letters,
              ConsolePage& page) {
  const auto cell_at = [&](uint64_t size, uint64_t record) {
    return CellAt(sweep, operation, {*sweep.workers.begin(), lanes, size, record});
  };
  Figures figures(letters);
  for (const uint64_t size : sweep.sizes) {
    for (const uint64_t record : sweep.records) figures.Add(cell_at(size, record), operation);
  }
  std::string title =
      absl::StrCat(sweep.operations[operation], ", ", sweep.in_ops[operation] ? "ops/s" : figures.unit());
  if (sweep.lanes.size() > 1) absl::StrAppend(&title, ", ", Counted(lanes, "lane"), " per worker");
  page.Line({{title, Tone::kStrong}});
  Row titles{"size \\ record"};
  for (const uint64_t record : sweep.records) titles.push_back(ShortSize(record));
  std::vector<Row> rows;
  for (const uint64_t size : sweep.sizes) {
    Row row{ShortSize(size)};
    for (const uint64_t record : sweep.records) {
      row.push_back(figures.Text(cell_at(size, record), operation));
    }
    rows.push_back(std::move(row));
  }
  PrintRows(titles, rows, page);
  page.Blank();
}

// Rows are lanes, columns are operations.
void PrintLanesByOperation(const Sweep& sweep, const Letters& letters, ConsolePage& page) {
  const bool only_ops = std::all_of(sweep.in_ops.begin(), sweep.in_ops.end(), [](bool is) { return is; });
  Figures figures(letters);
  for (const auto& [key, cell] : sweep.cells) figures.Add(&cell, key.first);
  page.Line({{absl::StrCat("lanes per worker by operation, ", only_ops ? "ops/s" : figures.unit()), Tone::kStrong}});
  Row titles{"lanes"};
  for (size_t i = 0; i < sweep.operations.size(); ++i) {
    titles.push_back(absl::StrCat(sweep.operations[i], sweep.in_ops[i] ? " (ops/s)" : ""));
  }
  std::vector<Row> rows;
  for (const uint32_t lanes : sweep.lanes) {
    Row row{absl::StrCat(lanes)};
    for (size_t i = 0; i < sweep.operations.size(); ++i) {
      std::string text;
      for (const auto& [key, cell] : sweep.cells) {
        if (key.first == i && key.second.lanes == lanes) text = figures.Text(&cell, i);
      }
      row.push_back(std::move(text));
    }
    rows.push_back(std::move(row));
  }
  PrintRows(titles, rows, page);
  page.Blank();
}

// Returns the letters of the cells at `workers`, at the place that `scaling` describes.
std::string LettersAt(const Sweep& sweep, const v1::WorkerScalingReport& scaling, uint32_t workers,
                      uint32_t all_workers, const Letters& letters) {
  std::string text;
  for (const auto& [key, cell] : sweep.cells) {
    const auto& [operation, place] = key;
    const bool here = sweep.operations[operation] == Printable(scaling.operation()) &&
                      (place.workers == 0 ? all_workers : place.workers) == workers &&
                      place.record_bytes == scaling.record_bytes() &&
                      (scaling.metadata() || place.bytes == scaling.bytes_per_lane());
    if (!here) continue;
    for (const size_t mark : cell.marks) {
      if (letters[operation][mark] != 0) text += letters[operation][mark];
    }
  }
  return text;
}

// Rows are numbers of workers, with their clients, the rate, the rate per client, and the scaling.
void PrintScaling(const v1::RunReport& report, const v1::WorkerScalingReport& scaling, const Sweep& sweep,
                const Letters& letters, ConsolePage& page) {
  std::vector<double> rates;
  for (const v1::WorkerScalingPoint& point : scaling.points()) {
    rates.insert(rates.end(), {point.rate(), point.rate_per_client()});
  }
  const ColumnUnit unit = ColumnUnit::OfBytesPerSecond(rates);
  const auto text_of = [&](double rate) { return scaling.in_ops() ? FormatCount(rate) : unit.Text(rate); };
  std::string title = Printable(scaling.operation());
  if (sweep.shapes.size() > 1 && !scaling.metadata()) {
    absl::StrAppend(&title, " ", ShortSize(scaling.bytes_per_lane()), "/", ShortSize(scaling.record_bytes()));
  }
  page.Line({{absl::StrCat(title, " by workers"), Tone::kStrong}});
  const std::string unit_name = scaling.in_ops() ? "ops/s" : std::string(unit.name());
  size_t most_letters = 0;
  const auto found_letters = [&](const v1::WorkerScalingPoint& point) {
    return LettersAt(sweep, scaling, point.worker_count(), report.run().worker_count(), letters);
  };
  for (const v1::WorkerScalingPoint& point : scaling.points())
    most_letters = std::max(most_letters, found_letters(point).size());
  const auto letters_of = [&](const v1::WorkerScalingPoint& point) {
    std::string text = found_letters(point);
    text.resize(most_letters, ' ');
    return most_letters > 0 ? absl::StrCat(" ", text) : "";
  };
  TextTable table({{"workers"}, {"clients"}, {"lanes"}, {unit_name}, {"per client"}, {"scaling"}});
  for (const v1::WorkerScalingPoint& point : scaling.points()) {
    table.AddRow({FormatCount(point.worker_count()), FormatCount(point.client_count()),
                  FormatCount(point.lane_count()),
                  absl::StrCat(text_of(point.rate()), letters_of(point)),
                  text_of(point.rate_per_client()), Percent(100 * point.scaling())});
  }
  page.Table(table);
  page.Blank();
}

void PrintAllScaling(const v1::RunReport& report, uint32_t only_target, const Sweep& sweep,
                   const Letters& letters, ConsolePage& page) {
  uint32_t fewest = UINT32_MAX;
  const v1::Plan& plan = report.run().plan();
  const std::string target = only_target == 0 ? "" : plan.targets(static_cast<int>(only_target - 1)).path();
  for (const v1::WorkerScalingReport& scaling : report.worker_scaling()) {
    if (scaling.target() != target) continue;
    fewest = std::min(fewest, scaling.points(0).worker_count());
    PrintScaling(report, scaling, sweep, letters, page);
  }
  page.Labelled("scaling",
                fewest == 1 ? std::string("rate of N workers / (N x rate of 1)")
                            : absl::StrCat("rate per worker, of that of ", fewest, " workers"),
                Tone::kQuiet);
}

enum class Share { kNone, kSome, kAll };

// Returns how many cells of an operation have the mark.
Share ShareOf(const Sweep& sweep, size_t operation, size_t mark) {
  size_t cells = 0, marked = 0;
  for (const auto& [key, cell] : sweep.cells) {
    if (key.first != operation || cell.failed) continue;
    ++cells;
    marked += cell.marks.contains(mark) ? 1 : 0;
  }
  return marked == 0 ? Share::kNone : marked < cells ? Share::kSome : Share::kAll;
}

// Letters distinguish the cells of a table: a mark of all cells needs none.
Letters LettersOf(const Sweep& sweep) {
  Letters letters(sweep.operations.size(), std::vector<char>(sweep.marks.size()));
  size_t used = 0;
  for (size_t mark = 0; mark < sweep.marks.size(); ++mark) {
    bool is_used = false;
    for (size_t operation = 0; operation < sweep.operations.size(); ++operation) {
      if (ShareOf(sweep, operation, mark) != Share::kSome || used >= kMaxLetters) continue;
      letters[operation][mark] = static_cast<char>('a' + used);
      is_used = true;
    }
    if (is_used) ++used;
  }
  return letters;
}

void PrintMarks(const Sweep& sweep, const Letters& letters, ConsolePage& page) {
  for (size_t mark = 0; mark < sweep.marks.size(); ++mark) {
    std::vector<std::string> wholly;
    std::string label = "! mark";
    for (size_t operation = 0; operation < sweep.operations.size(); ++operation) {
      if (ShareOf(sweep, operation, mark) == Share::kAll) wholly.push_back(sweep.operations[operation]);
      if (letters[operation][mark] != 0) label = absl::StrCat("! ", std::string(1, letters[operation][mark]));
    }
    std::string where;
    if (wholly.size() == sweep.operations.size()) {
      where = " in all cells";
    } else if (!wholly.empty()) {
      where = absl::StrCat(label == "! mark" ? " in" : ", and in", " all of ", absl::StrJoin(wholly, ", "));
    }
    const auto& [code, text] = sweep.marks[mark];
    page.Labelled(label, absl::StrCat(code, where, "; for example: ", text), Tone::kWarning);
  }
}

// The tables of the phases on one target, or of all, with their marks.
void PrintTables(const v1::RunReport& report, uint32_t only_target, ConsolePage& page) {
  const Sweep sweep = SweepOf(report, only_target);
  const Letters letters = LettersOf(sweep);
  if (sweep.by_workers()) {
    PrintAllScaling(report, only_target, sweep, letters, page);
  } else if (sweep.by_lanes) {
    PrintLanesByOperation(sweep, letters, page);
  } else {
    for (size_t operation = 0; operation < sweep.operations.size(); ++operation) {
      for (const uint32_t lanes : sweep.lanes) {
        const bool any = std::any_of(sweep.cells.begin(), sweep.cells.end(), [&](const auto& keyed) {
          return keyed.first.first == operation && keyed.first.second.lanes == lanes;
        });
        if (any) PrintSizes(sweep, operation, lanes, letters, page);
      }
    }
  }
  PrintMarks(sweep, letters, page);
}

}  // namespace

bool IsLongSweep(const v1::Plan& plan) {
  if (RunsInRounds(plan)) return false;
  const auto pages = static_cast<int64_t>(plan.phases_size()) * std::max(1u, plan.repetitions());
  return pages > kMaxPagesOfSweep && IsSweep(plan);
}

void PrintSweep(const v1::RunReport& report, ConsolePage& page) {
  const v1::Plan& plan = report.run().plan();
  const std::vector<uint32_t> targets = OnlyTargets(plan);
  if (targets.empty()) PrintTables(report, /*only_target=*/0, page);
  for (const uint32_t target : targets) {
    page.Line(
        {{absl::StrCat("on ", Printable(plan.targets(static_cast<int>(target)).path())), Tone::kStrong}});
    PrintTables(report, target + 1, page);
    page.Blank();
  }
  if (plan.repetitions() > 1) {
    page.Labelled("median", absl::StrCat("of ", plan.repetitions(), " repetitions"), Tone::kQuiet);
  }
  page.Labelled("details",
                absl::StrCat("latencies, windows and clients of each phase: ", kResultJson, ", ", kPhasesCsv,
                             " and ", kResultCsv),
                Tone::kQuiet);
}

}  // namespace iobench
