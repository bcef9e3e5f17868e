#include "coordinator/analysis/summarize.h"

#include <cmath>
#include <limits>
#include <utility>

#include "common/model/phase_files.h"
#include "common/model/phase_shape.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/brief.h"
#include "coordinator/analysis/charts/phase_charts.h"
#include "coordinator/analysis/client_tables.h"
#include "coordinator/analysis/explain/explain.h"
#include "coordinator/analysis/explain/over_time.h"
#include "coordinator/analysis/explain/rate_changes.h"
#include "coordinator/analysis/lane_summaries.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/marks/verify_summary.h"
#include "coordinator/analysis/marks/whole.h"
#include "coordinator/analysis/phase/figures.h"
#include "coordinator/analysis/phase/fullness.h"
#include "coordinator/analysis/phase/open_loop_figures.h"
#include "coordinator/analysis/phase/phase_reads.h"
#include "coordinator/analysis/phase/phase_view.h"
#include "coordinator/analysis/phase/phase_writes.h"
#include "coordinator/analysis/phase/server_figures.h"
#include "coordinator/analysis/storage_targets.h"

namespace iobench {
namespace {

// Returns how large the files of each lane were in a plan whose files grow, in the mean over the lanes. A phase that lets
// them grow has what its lanes wrote; others use what was there, up to a size of their own.
uint64_t GrownBytes(const PhaseView& view) {
  const v1::Plan& plan = view.run.plan();
  const uint64_t most = ShapeOf(plan, view.phase.phase()).files.bytes_per_lane();
  if (!GrowsFiles(plan, view.phase.phase())) return most;
  if (view.aligned.lanes.empty()) return 0;
  uint64_t bytes = 0;
  for (const AlignedLane& lane : view.aligned.lanes) bytes += std::min(most, lane.result->bytes());
  return bytes / view.aligned.lanes.size();
}

void FillWhat(const PhaseView& view, v1::PhaseReport& report) {
  const v1::PhaseRecord& phase = view.phase;
  report.set_index(phase.index());
  report.set_repetition(phase.repetition());
  report.set_name(view.traits.name);
  report.set_operation(view.traits.operation);
  report.set_title(view.traits.title);
  report.set_engine(view.traits.engine);
  report.set_record_bytes(view.traits.record_bytes);
  report.set_stride_records(StrideOf(phase.phase()));
  // Of files that grow, each phase has another size; what is asked for is the same.
  const bool grows = GrowsFiles(view.run.plan());
  report.set_bytes_per_lane(grows ? view.run.plan().files().bytes_per_lane()
                                  : ShapeOf(view.run.plan(), phase.phase()).files.bytes_per_lane());
  if (grows && !view.traits.metadata) report.set_grown_bytes_per_lane(GrownBytes(view));
  report.set_target(OnlyTargetPath(view.run.plan(), phase.phase()));
  report.set_lane_count(static_cast<uint32_t>(view.aligned.lanes.size()));
  report.set_metadata(view.traits.metadata);
  report.set_headline_in_ops(view.traits.headline_in_ops);
  if (view.traits.tree.items_per_lane() > 0) *report.mutable_tree() = view.traits.tree;
  report.set_started_at(phase.started_at());
  report.set_start_coord_ns(phase.start_coord_ns());
  report.set_prepare_s(phase.prepare_s());
  report.set_fixed_cost_s(phase.fixed_cost_s());
  report.set_interrupted(phase.interrupted());
}

v1::Throughput ThroughputOf(const PhaseFigures& figures, double BothRates::*unit) {
  v1::Throughput throughput;
  throughput.set_full(figures.full.*unit);
  throughput.set_stonewalled(figures.stonewalled.*unit);
  throughput.set_all_active(figures.all_active.*unit);
  throughput.set_children(figures.children.*unit);
  throughput.set_parent(figures.parent.*unit);
  throughput.set_deadline(figures.deadline.*unit);
  return throughput;
}

void FillFigures(const PhaseView& view, v1::PhaseReport& report) {
  const PhaseFigures& figures = view.figures;
  uint64_t bytes = 0, ops = 0, found_items = 0;
  for (const AlignedLane& lane : view.aligned.lanes) {
    bytes += lane.result->bytes();
    ops += lane.result->ops();
    found_items += lane.result->found_items();
  }
  if (view.traits.finds) report.set_found_items(found_items);
  report.set_bytes(bytes);
  report.set_ops(ops);
  report.set_measured_bytes(static_cast<uint64_t>(std::llround(std::max(0.0, figures.measured.bytes.value))));
  report.set_measured_ops(static_cast<uint64_t>(std::llround(std::max(0.0, figures.measured.ops.value))));
  report.set_duration_s(figures.duration_s);
  const bool in_ops = report.headline_in_ops();
  const bool has_rate = (in_ops ? figures.headline.ops_per_s : figures.headline.bytes_per_s) > 0;
  const bool counts = (in_ops ? report.measured_ops() : report.measured_bytes()) > 0;
  report.set_headline_s(has_rate && counts ? figures.headline_seconds : figures.duration_s);

  v1::Headline& headline = *report.mutable_headline();
  headline.set_name(view.traits.headline_name);
  headline.set_region(view.traits.headline_region);
  headline.set_bytes_per_s(figures.headline.bytes_per_s);
  headline.set_ops_per_s(figures.headline.ops_per_s);
  *report.mutable_throughput_bytes_per_s() = ThroughputOf(figures, &BothRates::bytes_per_s);
  *report.mutable_throughput_ops_per_s() = ThroughputOf(figures, &BothRates::ops_per_s);
  report.set_straggler_cost(figures.straggler_cost);

  v1::StonewallReport& stonewall = *report.mutable_stonewall();
  // A close that does not flush still stops the lanes.
  const bool only_closed =
      view.traits.stonewall == v1::STONEWALL_FLUSHED && view.traits.buffered_writes && !view.writes->flushed;
  stonewall.set_kind(only_closed ? "closed" : view.traits.stonewall_name);
  if (figures.first_to_end == nullptr) {
    stonewall.set_at_s(std::numeric_limits<double>::quiet_NaN());
  } else {
    stonewall.set_at_s(figures.stonewall_at_s);
    stonewall.set_first_lane(
        view.roster.LaneName(figures.first_to_end->worker, figures.first_to_end->result->lane()));
  }
  stonewall.set_bytes_low(figures.at_stonewall.bytes.low);
  stonewall.set_bytes_high(figures.at_stonewall.bytes.high);
  stonewall.set_ops_low(figures.at_stonewall.ops.low);
  stonewall.set_ops_high(figures.at_stonewall.ops.high);
  const Bounded& counted = in_ops ? figures.at_stonewall.ops : figures.at_stonewall.bytes;
  stonewall.set_uncertain_percent(100 * (counted.high - counted.low) / counted.high);
}

}  // namespace

v1::FinishedPhase FinishPhase(const v1::RunRecord& run, const v1::PhaseRecord& phase, Charts charts) {
  const PhaseTraits traits = TraitsOf(phase.phase());
  const ClientRoster roster(run);
  const AlignedPhase aligned = Align(phase, static_cast<uint32_t>(roster.worker_count()));
  const PhaseFigures figures = FiguresOf(phase, traits, aligned);
  const WorkerAssignments assignments(phase.phase(), roster.worker_count());
  PhaseView view{run, phase, traits, roster, assignments, aligned, figures};
  const PhaseWrites writes = PhaseWritesOf(view);
  view.writes = &writes;

  v1::FinishedPhase finished;
  v1::PhaseReport& report = *finished.mutable_report();
  FillWhat(view, report);
  FillFigures(view, report);
  if (auto first_pass = FirstPassOf(phase, traits, aligned, figures)) {
    report.set_title(TitleWhenOverwriting(traits.title, first_pass->headline()));
    *report.mutable_first_pass() = *std::move(first_pass);
  }
  *report.mutable_start() = StartOf(phase, aligned, figures.duration_s);
  FillSteps(view, report);
  FillLosses(view, report);
  FillWhole(view, report);
  FillVerify(view, report);
  FillBetween(view, report);
  FillOpenLoop(view, report);
  FillParts(view, report);
  FillPaths(view, report);
  FillClientTables(view, report);
  FillWrites(view, report);
  FillReads(view, report);
  FillFullness(view, report);
  FillServers(view, report);
  FillServerReads(view, report);
  FillLaneSummaries(view, report);
  const OverTime over_time = OverTimeOf(view, report);
  FillRateChanges(view, over_time, report);
  FillMarks(view, report);
  FillStorageTargets(view, report);
  FillLimits(view, over_time, report);
  const int errors = report.errors_size();
  if (charts == Charts::kFilledIn) FillCharts(view, report);
  finished.set_chart_errors(static_cast<uint32_t>(report.errors_size() - errors));
  *finished.mutable_clocks() = ClocksOf(run, &phase);
  finished.set_selects_workers(SelectsWorkers(phase.phase()));
  return finished;
}

v1::PhaseReport SummarizePhase(const v1::RunRecord& run, const v1::PhaseRecord& phase, Charts charts) {
  return std::move(*FinishPhase(run, phase, charts).mutable_report());
}

}  // namespace iobench
