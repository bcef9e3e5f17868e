#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "coordinator/analysis/across/repeat.h"
#include "coordinator/analysis/score.h"
#include "coordinator/analysis/summarize.h"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/result_files.h"
#include "tests/support/damage.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

// Whether the text has "nan" or "inf" as a separate word: figures that do not exist must not be printed like this.
bool HasNoNumber(const std::string& text) {
  for (const std::string word : {"nan", "inf"}) {
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const bool begins = at == 0 || std::isalpha(static_cast<unsigned char>(text[at - 1])) == 0;
      const size_t end = at + word.size();
      const bool ends = end == text.size() || std::isalpha(static_cast<unsigned char>(text[end])) == 0;
      if (begins && ends) return true;
    }
  }
  return false;
}

// Of two slices, as a worker may have recorded them.
v1::LatencySlices SlicesFrom(int64_t begin_worker_ns) {
  v1::LatencySlices slices;
  slices.set_begin_worker_ns(begin_worker_ns);
  slices.set_slice_ns(2'000'000'000);
  for (const uint32_t gap : {40u, 1u, 71u}) {
    slices.add_cell_gaps(gap);
    slices.add_counts(100);
  }
  return slices;
}

struct SavedPhases {
  v1::RunRecord run;
  std::vector<v1::PhaseRecord> phases;
};

// A run of two phases on two clients, twice.
SavedPhases Whole() {
  SavedPhases saved;
  uint32_t index = 0;
  for (const uint32_t repetition : {0u, 1u}) {
    for (const char* const operation : {"write", "read"}) {
      PhaseScript script(operation);
      script.operation().mutable_between()->set_ops_per_s(100);
      script.plan().mutable_stop()->set_warmup_s(1);
      script.plan().set_score(v1::SCORE_BANDWIDTH);
      script.Lane(0).Moves(5_GiB).EndsAt(5_s).InOps(500).Writes(0.5).Pauses(1).Verifies(10);
      script.Lane(1).Moves(10_GiB).EndsAt(10_s).InOps(1000).Writes(0.5).HasDeadlineAt(6_s);
      script.Worker(1).HasClock(3600, 1e-3, {0, 10}).RunsOn("node2", "boot2").SaysDoneAt(11);
      script.phase.set_index(index++);
      script.phase.set_repetition(repetition);
      saved.phases.push_back(script.Record());
      for (v1::WorkerPhaseResult& worker : *saved.phases.back().mutable_workers()) {
        v1::LaneResult& lane = *worker.mutable_lanes(0);
        *lane.mutable_latency_slices() = SlicesFrom(lane.first_op_worker_ns());
      }
      saved.run = script.Run();
    }
  }
  saved.run.mutable_plan()->set_repetitions(2);
  for (const int i : {0, 1}) *saved.run.mutable_plan()->add_phases() = saved.phases[i].phase();
  saved.run.set_finished(true);
  return saved;
}

// Months in nanoseconds: times farther apart, as the clocks of a run never are, overflow their differences. Raw files
// are sealed, so only a fault of the program itself can cause such records.
constexpr uint64_t kLargestNs = uint64_t{1} << 52;

// As `report` does it.
v1::RunReport ReportOf(const SavedPhases& saved) {
  v1::RunReport report = SummarizeRun(saved.run, saved.phases.empty() ? nullptr : &saved.phases.back());
  std::vector<v1::PhaseReport> phases;
  for (const v1::PhaseRecord& phase : saved.phases)
    phases.push_back(SummarizePhase(saved.run, phase, Charts::kFilledIn));
  for (const v1::PhaseReport& phase : phases) *report.add_phases() = phase;
  UpdateScore(report);
  for (const v1::RepetitionReport& repetition : SummarizeRepetitions(phases)) {
    *report.add_repetitions() = repetition;
  }
  return report;
}

// What charts hold is bounded, whatever the record says.
void CheckCharts(const v1::PhaseReport& phase) {
  const v1::PhaseCharts& charts = phase.charts();
  CHECK(charts.bytes_per_s_size() <= 240);
  CHECK(charts.ops_per_s_size() == charts.bytes_per_s_size());
  for (const v1::ClientSeries& client : charts.clients())
    CHECK(client.per_s_size() == charts.bytes_per_s_size());
  for (const double bytes_per_s : charts.bytes_per_s()) CHECK(std::isfinite(bytes_per_s));
  CHECK(charts.latency().slice_count() <= 64);
  CHECK(charts.latency().ops_size() ==
        static_cast<int>(charts.latency().slice_count()) * charts.latency().bin_upper_us_size());
  CHECK(charts.percentiles_size() <= 14);
}

std::string Printed(const SavedPhases& saved) {
  const v1::RunReport report = ReportOf(saved);
  for (const v1::PhaseReport& phase : report.phases()) CheckCharts(phase);
  std::ostringstream console, files;
  REQUIRE(WriteConsole(report, {}, console).ok());
  for (const ResultFile& file : ResultFiles()) {
    if (file.format != nullptr) REQUIRE(WriteReport(*file.format, report, files).ok());
  }
  CHECK_FALSE(HasNoNumber(files.str()));
  return console.str();
}

TEST_CASE("a phase without assignments is printed like any other") {
  for (const bool is_sweep : {false, true}) {
    SavedPhases saved = Whole();
    saved.run.mutable_plan()->mutable_phases(1)->clear_assignments();
    saved.phases[1].mutable_phase()->clear_assignments();
    if (is_sweep) {
      for (const int phase : {0, 1}) {
        saved.run.mutable_plan()->mutable_phases(phase)->set_lanes_per_worker(static_cast<uint32_t>(phase) +
                                                                              1);
      }
    }
    CHECK_FALSE(HasNoNumber(Printed(saved)));
  }
}

TEST_CASE("records of which anything is damaged give a report with gaps, no crash and no nan") {
  const char* const many = std::getenv("IOBENCH_FUZZ_COUNT");
  const uint64_t count = many == nullptr ? 300 : std::strtoull(many, nullptr, 10);
  const SavedPhases whole = Whole();
  for (uint64_t seed = 0; seed < count; ++seed) {
    SavedPhases saved = whole;
    Damage damage(seed, kLargestNs);
    for (uint64_t i = damage.Below(30) + 1; i > 0; --i) {
      const uint64_t what = damage.Below(10);
      if (what == 0 && !saved.phases.empty()) {
        saved.phases.erase(saved.phases.begin() + static_cast<int64_t>(damage.Below(saved.phases.size())));
      } else if (what < 4 || saved.phases.empty()) {
        damage.One(saved.run);
      } else {
        damage.One(saved.phases[damage.Below(saved.phases.size())]);
      }
    }
    CAPTURE(seed);
    const std::string text = Printed(saved);
    CAPTURE(text);
    REQUIRE_FALSE(HasNoNumber(text));
  }
}

}  // namespace
}  // namespace iobench
